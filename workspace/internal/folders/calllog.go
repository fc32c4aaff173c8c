package folders

import (
	"slices"
	"strings"

	"github.com/bough-dev/bough/internal/fileedit"
	"github.com/bough-dev/bough/internal/filetree"
	"github.com/bough-dev/bough/workspace/files"
	"github.com/bough-dev/bough/workspace/internal/edits"
	"github.com/bough-dev/bough/workspace/origin"
)

// A fileText is what calls say that a file has.
type fileText struct {
	text  string
	known bool // else text is unknown
}

// turnsOfCalls returns the turns that changed files by calls, oldest first, one change for
// adjacent calls of a turn.
func (l *logging) turnsOfCalls(list []edits.Edit) (made []origin.Change, err error) {
	contents := map[string]fileText{}
	for _, e := range list {
		turn, err := l.turnOfCall(e)
		if err != nil {
			return nil, err
		}
		n := len(made) - 1
		if n < 0 || made[n].Turn.Session != turn.Session || made[n].Turn.Prompt != turn.Prompt {
			made = append(made, origin.Change{By: origin.ByTurn, Turn: turn, Sure: true, Files: []origin.FileChange{}})
			n++
		}
		made[n].Turn, made[n].Time = turn, turn.Time
		f, ok := l.called(contents, e)
		if !ok {
			continue
		}
		c := &made[n]
		c.Added, c.Removed = c.Added+f.Added, c.Removed+f.Removed
		i := slices.IndexFunc(c.Files, func(other origin.FileChange) bool { return other.Path == f.Path && f.Kind == "changed" })
		if i < 0 {
			c.Files = append(c.Files, f)
			continue
		}
		c.Files[i].Added, c.Files[i].Removed = c.Files[i].Added+f.Added, c.Files[i].Removed+f.Removed
		c.Files[i].Patch += f.Patch
	}
	return slices.DeleteFunc(made, func(c origin.Change) bool { return len(c.Files) == 0 }), nil
}

// called returns what a call changed, and updates the contents. ok is false if it changed
// nothing.
func (l *logging) called(contents map[string]fileText, e edits.Edit) (f origin.FileChange, ok bool) {
	before := contents[e.Path]
	f = origin.FileChange{Path: e.Path, RawPath: files.Raw(e.Path), Kind: "changed"}
	d := difference{Change: filetree.Change{Path: e.Path, Kind: filetree.Changed}}
	old, text := e.Old, e.Edit.New
	switch e.Kind {
	case fileedit.Move:
		contents[e.New] = before
		delete(contents, e.Path)
		f.Path, f.Kind, f.OldPath = e.New, "renamed", e.Path
		return f, true
	case fileedit.Delete:
		contents[e.Path] = fileText{known: true}
		f.Kind = "deleted"
		old, text, d.Kind = before.text, "", filetree.Deleted
	case fileedit.Write:
		contents[e.Path] = fileText{e.New, true}
		if old = before.text; old == "" {
			f.Kind, d.Kind = "added", filetree.Added
		}
		if before.known && old == e.New {
			return f, false
		}
	default:
		if before.known {
			n := 1
			if e.All {
				n = -1
			}
			old, text = before.text, strings.Replace(before.text, e.Old, e.New, n)
			contents[e.Path] = fileText{text, true}
		}
	}
	f.Added, f.Removed = countEdits(old, text)
	if l.o.Patch && f.Added+f.Removed > 0 {
		f.Patch = patchOf(d, old, text)
	}
	return f, true
}
