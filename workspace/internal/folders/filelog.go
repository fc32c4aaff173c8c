package folders

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/aymanbagabas/go-udiff"
	"github.com/bough-dev/bough/internal/filetree"
	"github.com/bough-dev/bough/internal/pack"
	"github.com/bough-dev/bough/internal/states"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace/fault"
	"github.com/bough-dev/bough/workspace/files"
	"github.com/bough-dev/bough/workspace/internal/edits"
	"github.com/bough-dev/bough/workspace/internal/store"
	"github.com/bough-dev/bough/workspace/origin"
)

// Log returns what changed a path, which is as pathIn has it.
func Log(ctx context.Context, w *store.Store, dir, name string, o origin.LogOptions) (*origin.Log, error) {
	f, rel, err := pathIn(ctx, w, dir, name)
	if err != nil {
		return nil, err
	}
	return store.Read(ctx, w, func(v *store.View) (*origin.Log, error) {
		return read(v, func(r *reading) (*origin.Log, error) {
			l := &logging{trail: r.trail(), folder: f, path: rel, o: o}
			return l.run()
		})
	})
}

// A logging finds what changed a path.
type logging struct {
	*trail
	folder *Folder
	path   string
	o      origin.LogOptions
	only   []string // sessions; nil means all
	spans  []span   // newest first
}

// A span is what one author changed at a path, between two points.
type span struct {
	author
	from, to point
	oldest   bool // nothing is known about what was before to
}

func (l *logging) run() (*origin.Log, error) {
	out := &origin.Log{Dir: l.folder.Path, Path: l.path, From: origin.FromStates, Changes: []origin.Change{}}
	if l.o.Session != "" {
		id, err := l.view.Resolve(l.o.Session)
		if err != nil {
			return nil, err
		}
		if l.only, err = l.view.LineIDs(id); err != nil {
			return nil, err
		}
	}
	until, err := l.back()
	if err != nil {
		return nil, err
	}
	known := len(l.spans) > 0
	if !known {
		out.From = origin.FromCalls
		if l.view.Store.Confined {
			return nil, &fault.Error{Code: fault.NotFound, Message: fmt.Sprintf("no state of %s has %q", l.folder.Path, l.path), Next: fault.Do(fault.ListStates)}
		}
	}
	for _, s := range l.spans {
		if err := l.addSpan(out, s); err != nil {
			return nil, err
		}
	}
	if err := l.addCalls(out, until); err != nil {
		return nil, err
	}
	if len(out.Changes) == 0 && !known {
		return nil, &fault.Error{Code: fault.NotFound, Message: fmt.Sprintf("no state and no call of a tool has %q in %s", l.path, l.folder.Path), Next: fault.Do(fault.SnapFolder)}
	}
	out.Total = len(out.Changes)
	if l.o.Limit > 0 {
		out.Changes = out.Changes[:min(l.o.Limit, out.Total)]
	}
	return out, nil
}

// back finds the spans in states, and returns the time of the first state, "" if there is none.
func (l *logging) back() (until string, err error) {
	list := l.folders[l.folder.ID]
	if l.folder.ID == "" || len(list) == 0 {
		return "", nil
	}
	p := l.at(l.folder.ID, len(list)-1, l.path)
	for p.index > 0 {
		if err := l.view.Ctx.Err(); err != nil {
			return "", err
		}
		prev := l.at(l.folder.ID, p.index-1, p.path)
		if prev.entry.Type == 0 {
			if name, ok := l.renamed(prev.state, p); ok {
				prev = l.at(l.folder.ID, prev.index, name)
			}
		}
		if !same(prev.entry, p.entry) || prev.path != p.path || prev.entry.Perm != p.entry.Perm {
			l.add(span{author: l.authorOf(p.state), from: prev, to: p})
		}
		p = prev
	}
	if p.entry.Type != 0 {
		l.add(span{author: author{by: origin.ByOlder}, to: p, oldest: true})
	}
	return list[0].Time, nil
}

// add adds a span, or extends the last one if it is of the same turn.
func (l *logging) add(s span) {
	if n := len(l.spans) - 1; n >= 0 && s.run != nil && l.spans[n].run == s.run && same(l.spans[n].from.entry, s.to.entry) && l.spans[n].from.path == s.to.path {
		l.spans[n].from, l.spans[n].shared = s.from, l.spans[n].shared || s.shared
		return
	}
	l.spans = append(l.spans, s)
}

// addSpan adds a span to the log.
func (l *logging) addSpan(out *origin.Log, s span) error {
	c := origin.Change{By: s.by, Sure: s.sure(), Time: timeOf(s.to.state.Time), NewState: session.ID(s.to.state.ID), Files: []origin.FileChange{}}
	if !s.oldest {
		c.OldState = session.ID(s.from.state.ID)
	}
	if s.by == origin.ByTurn {
		turn, err := l.turnOfRun(s.author)
		if err != nil {
			return err
		}
		c.Turn, c.Time = &turn.Turn, turn.Time
	}
	if !l.wants(c.Turn) {
		return nil
	}
	list, err := l.differences(s)
	if err != nil {
		return err
	}
	for _, d := range list {
		if err := l.addFile(&c, d); err != nil {
			return err
		}
	}
	if len(c.Files) > 0 { // else the turn took it back
		out.Changes = append(out.Changes, c)
	}
	return nil
}

// wants reports whether a turn is one of the conversation that is meant.
func (l *logging) wants(turn *origin.Turn) bool {
	return l.only == nil || turn != nil && slices.Contains(l.only, string(turn.Session))
}

// A difference is a change of a file, perhaps of its path.
type difference struct {
	filetree.Change
	oldPath string
}

// differences returns what differs between the points of a span.
func (l *logging) differences(s span) (list []difference, err error) {
	from, to := s.from.entry, s.to.entry
	if from.Type != filetree.Dir && to.Type != filetree.Dir {
		d := difference{Change: filetree.Change{Path: s.to.path, From: from, To: to}}
		switch {
		case s.from.path != s.to.path && !s.oldest:
			d.Kind, d.oldPath = "renamed", s.from.path
		case from.Type == 0 && to.Type == 0, same(from, to) && from.Perm == to.Perm:
			return nil, nil
		case from.Type == 0:
			d.Kind = filetree.Added
		case to.Type == 0:
			d.Kind = filetree.Deleted
		case from.ID == to.ID:
			d.Kind = filetree.Mode
		case from.Type != to.Type:
			d.Kind = filetree.Retyped
		default:
			d.Kind = filetree.Changed
		}
		return []difference{d}, nil
	}
	var trees [2]pack.ID
	for i, e := range []filetree.Entry{from, to} {
		if e.Type == filetree.Dir {
			trees[i] = e.ID
		}
	}
	for c, err := range filetree.Diff(l.Get, trees[0], trees[1]) {
		if err != nil {
			return nil, err
		}
		if c.From.Type == filetree.Dir || c.To.Type == filetree.Dir {
			continue
		}
		c.Path = strings.TrimPrefix(s.to.path+"/"+c.Path, "./")
		list = append(list, difference{Change: c})
	}
	return list, nil
}

// addFile adds a file to a change.
func (l *logging) addFile(c *origin.Change, d difference) error {
	f := origin.FileChange{Path: d.Path, RawPath: files.Raw(d.Path), Kind: string(d.Kind), OldPath: d.oldPath}
	var texts [2]string
	for i, e := range []filetree.Entry{d.From, d.To} {
		if e.Type != filetree.File {
			continue
		}
		data, unshown, err := l.textOf(e)
		if err != nil {
			return fmt.Errorf("%s: %w", d.Path, err)
		}
		texts[i], f.Unshown = data, unshown
		if unshown != "" {
			break
		}
	}
	if f.Unshown == "" && d.From.ID != d.To.ID {
		f.Added, f.Removed = countEdits(texts[0], texts[1])
		if l.o.Patch && f.Added+f.Removed > 0 {
			f.Patch = patchOf(d, texts[0], texts[1])
		}
	}
	c.Added, c.Removed = c.Added+f.Added, c.Removed+f.Removed
	c.Files = append(c.Files, f)
	return nil
}

// textOf returns the content of a file, or why it has no lines.
func (r *reading) textOf(e filetree.Entry) (text, unshown string, err error) {
	if e.Size > maxPatch {
		return "", "large", nil
	}
	data, err := r.Get(e.ID)
	switch {
	case err == states.ErrForgotten:
		return "", "forgotten", nil
	case err != nil:
		return "", "", err
	case bytes.IndexByte(data, 0) >= 0:
		return "", "binary", nil
	}
	return string(data), "", nil
}

// countEdits returns how many lines differ between two texts.
func countEdits(old, text string) (added, removed int) {
	for _, e := range udiff.Lines(old, text) {
		added += lineCount(e.New)
		removed += lineCount(old[e.Start:e.End])
	}
	return added, removed
}

func lineCount(s string) int {
	n := strings.Count(s, "\n")
	if s != "" && !strings.HasSuffix(s, "\n") {
		n++
	}
	return n
}

// patchOf returns the difference of two texts in the unified format.
func patchOf(d difference, old, text string) string {
	from, to := "a/"+d.Path, "b/"+d.Path
	if d.oldPath != "" {
		from = "a/" + d.oldPath
	}
	if d.Kind == filetree.Added {
		from = "/dev/null"
	}
	if d.Kind == filetree.Deleted {
		to = "/dev/null"
	}
	return udiff.Unified(from, to, old, text)
}

// addCalls adds the turns whose calls changed the path, if they are older than a time or that is
// "". What a change was before is known only from earlier calls.
func (l *logging) addCalls(out *origin.Log, until string) error {
	list, err := edits.Find(l.view, l.folder.Path, l.path, l.only)
	if err != nil {
		return err
	}
	if until != "" {
		limit := store.TimeOf(until)
		list = slices.DeleteFunc(list, func(e edits.Edit) bool { return e.Time.After(limit) })
	}
	if n := len(out.Changes) - 1; len(list) > 0 && n >= 0 && out.Changes[n].By == origin.ByOlder {
		out.Changes = out.Changes[:n] // the calls say what was before
	}
	made, err := l.turnsOfCalls(list)
	slices.Reverse(made)
	out.Changes = append(out.Changes, made...)
	return err
}
