package page

import (
	"cmp"
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/files"
)

// A change is a file that differs.
type change struct {
	Path    string
	Anchor  string
	Kind    string
	Href    string // of the file afterwards, or before if it was deleted
	History string // the address of all that changed the path
	Before  string // an image, its address
	After   string
	About   string // why no lines are shown, or how many were added and deleted
	Lines   []diffLine
	Rest    string // how much is not shown, "" if nothing
	More    string // the address of that
}

// A diffLine is lines of a patch of one kind.
type diffLine struct {
	Kind string // added, deleted, place or same
	Text string
}

// Shown is the lines, with a visible mark of a line end that is not only a line feed.
func (l diffLine) Shown() string {
	if l.Kind == "added" || l.Kind == "deleted" {
		return strings.ReplaceAll(l.Text, "\r\n", "␍\n")
	}
	return l.Text
}

// withoutParents returns changes without the folders that were added or deleted with all in
// them.
func withoutParents(list []files.Change) (rest []files.Change) {
	for i, ch := range list {
		isParent := i+1 < len(list) && strings.HasPrefix(list[i+1].Path, ch.Path+"/")
		if isParent && (ch.Kind == "added" || ch.Kind == "deleted") {
			continue
		}
		rest = append(rest, ch)
	}
	return rest
}

// summary says how many files changed, and how.
func summary(list []files.Change) string {
	if len(list) == 0 {
		return "Nothing changed"
	}
	kinds := map[string]int{}
	for _, ch := range list {
		kinds[ch.Kind]++
	}
	text := count(len(list), "file") + ": "
	for i, kind := range slices.DeleteFunc([]string{"added", "changed", "deleted", "mode", "type"}, func(k string) bool { return kinds[k] == 0 }) {
		if i > 0 {
			text += ", "
		}
		text += fmt.Sprint(kinds[kind]) + " " + cmp.Or(map[string]string{"mode": "with other permissions", "type": "of another type"}[kind], kind)
	}
	return text
}

// kindText returns the tag of a change.
func kindText(kind string) string {
	if kind == "mode" {
		return "permissions"
	}
	return kind
}

// patchesOf returns the changes with their lines, by path. Of very large files the lines are
// not compared.
func patchesOf(ctx context.Context, folder workspace.Folder, from, to string, list []files.Change) (map[string]files.Change, error) {
	o := files.DiffOptions{Patch: true}
	size := int64(0)
	for _, ch := range list {
		own := int64(0)
		for _, v := range []*files.Version{ch.From, ch.To} {
			if v != nil {
				own += v.Size
			}
		}
		if size+own > maxCompare && len(o.Paths) > 0 {
			continue
		}
		size += own
		o.Paths = append(o.Paths, ch.Path)
	}
	patches := map[string]files.Change{}
	if len(o.Paths) == 0 {
		return patches, nil
	}
	d, err := folder.Diff(ctx, from, to, o)
	if err != nil {
		return nil, err
	}
	for _, ch := range d.Changes {
		patches[ch.Path] = ch
	}
	return patches, nil
}

// change returns a change as the page shows it, with at most a number of lines. patched is
// the same with its patch, and has no path if that was not made.
func (p *difference) change(ch, patched files.Change, most int) change {
	own := change{Path: ch.Path, Kind: kindText(ch.Kind), History: historyAddress(p.Dir, ch.Path)}
	after, before := p.To.State, p.From.State
	isFile := func(v *files.Version) bool { return v != nil && v.Type == "file" }
	if v := cmp.Or(ch.To, ch.From); v.Type == "folder" {
		own.Path += "/"
	}
	switch {
	case ch.To != nil && after != nil:
		own.Href = stateAddress(after.ID, ch.Path)
	case ch.From != nil && before != nil:
		own.Href = stateAddress(before.ID, ch.Path)
	}
	if isPicture(ch.Path) {
		if isFile(ch.From) && before != nil {
			own.Before = rawAddress(before.ID, ch.Path)
		}
		if isFile(ch.To) && after != nil {
			own.After = rawAddress(after.ID, ch.Path)
		}
	}
	switch {
	case patched.Patch != "":
		own.patch(patched.Patch, most)
	case patched.Unshown == "binary":
		own.About = "binary, " + sizes(ch)
	case patched.Unshown == "large":
		own.About = "over 1 MiB, " + sizes(ch)
	case patched.Unshown == "forgotten":
		own.About = "its content was deleted permanently"
	case ch.Kind == "mode":
		own.About = "from " + ch.From.Mode + " to " + ch.To.Mode
	case ch.Kind == "type":
		own.About = "from a " + ch.From.Type + " to a " + ch.To.Type
	case patched.Path == "":
		own.About, own.Rest = sizes(ch), "The lines"
	case isFile(ch.From) || isFile(ch.To):
		own.About = sizes(ch)
	}
	return own
}

// isPicture reports whether a file may be an image that the page shows.
func isPicture(name string) bool {
	return slices.Contains([]string{".png", ".jpg", ".jpeg", ".gif", ".webp"}, strings.ToLower(path.Ext(name)))
}

// sizes says how the size of a file changed.
func sizes(ch files.Change) string {
	switch {
	case ch.From == nil && ch.To == nil:
		return ""
	case ch.From == nil:
		return bytesText(ch.To.Size)
	case ch.To == nil:
		return bytesText(ch.From.Size)
	}
	return bytesText(ch.From.Size) + " → " + bytesText(ch.To.Size)
}

// patch sets the lines of a patch, of which at most a number are shown.
func (c *change) patch(text string, most int) {
	added, deleted, shown, total := 0, 0, 0, 0
	header := true // the lines before the first place
	for line := range strings.Lines(text) {
		kind := "same"
		switch {
		case strings.HasPrefix(line, "@@"):
			kind, header = "place", false
		case header:
			continue
		case line[0] == '+':
			kind = "added"
			added++
		case line[0] == '-':
			kind = "deleted"
			deleted++
		}
		if total++; total > most {
			continue
		}
		shown++
		if n := len(c.Lines); n > 0 && c.Lines[n-1].Kind == kind {
			c.Lines[n-1].Text += line
			continue
		}
		c.Lines = append(c.Lines, diffLine{kind, line})
	}
	c.About = fmt.Sprintf("+%d −%d", added, deleted)
	if total > shown {
		c.Rest = count(total-shown, "more line")
	}
}
