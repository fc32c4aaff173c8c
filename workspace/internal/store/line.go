package store

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"slices"
	"sync"

	"github.com/bough-dev/bough/index"
	"github.com/bough-dev/bough/internal/durable"
	"github.com/bough-dev/bough/internal/plural"
	"github.com/bough-dev/bough/internal/sessions"
	"github.com/bough-dev/bough/session"
)

// A Line is the message tree of a line, and the file of it that was requested.
type Line struct {
	*session.Tree
	view   *View
	Named  int   // index of the requested file
	Broken error // the error of a continuation that cannot be read, nil if there is none
}

// A lastTree keeps the tree that was built last, because building it takes longer than
// opening the outlines of an unchanged line, which [sessions.Memory] keeps.
type lastTree struct {
	mu   sync.Mutex
	tree *session.Tree
}

// of returns the tree of the line with these files; see [session.NewTree].
func (last *lastTree) of(parts []*session.Outline, open func(*session.Outline) (*session.Session, error)) (*session.Tree, error) {
	last.mu.Lock()
	t := last.tree
	last.mu.Unlock()
	if t != nil && slices.Equal(t.Parts, parts) {
		return t, nil
	}
	t, err := session.NewTree(parts, open)
	if err != nil {
		return nil, err
	}
	last.mu.Lock()
	last.tree = t
	last.mu.Unlock()
	return t, nil
}

// SessionID returns the id of the requested session.
func (l *Line) SessionID() string { return l.Parts[l.Named].ID }

// newestID returns the id of the newest message of the line, "" if it has none.
func (l *Line) newestID() string {
	if n := l.Newest(0); n >= 0 {
		return l.ID(n)
	}
	return ""
}

// Line opens the line of a session. With partial it accepts a line whose first
// files are missing, and a packed checkpoint with messages that cannot be read.
func (v *View) Line(id string, partial bool) (*Line, error) {
	ids, err := v.LineIDs(id)
	if err != nil {
		if !partial || len(ids) == 0 {
			return nil, err
		}
		v.Store.Opts.Note(err.Error() + "; the remaining messages are used")
	}
	parts, err := v.OutlineAll(ids)
	if partial && lostInPack(err) {
		parts, err = v.salvage(ids)
	}
	if err != nil {
		return nil, err
	}
	t, err := v.Store.tree.of(parts, v.Reopen)
	if err != nil {
		return nil, err
	}
	l := &Line{Tree: t, view: v, Named: slices.Index(ids, id)}
	for _, part := range l.Continuing(l.Named) {
		l.Broken = cmp.Or(l.Broken, v.Index.Broken(ids[part]))
	}
	return l, nil
}

// lostInPack reports whether err is that of messages of a packed checkpoint that cannot be
// read.
func lostInPack(err error) bool {
	var damage *session.DamageError
	return errors.As(err, &damage) && PackOf(damage.Path) != ""
}

// salvage returns the outlines of sessions, of packed checkpoints without the messages that
// cannot be read.
func (v *View) salvage(ids []string) ([]*session.Outline, error) {
	for _, id := range ids {
		if !v.IsPacked(id) || v.Outlines[id] != nil {
			continue
		}
		data, err := durable.ReadFile(v.Root, sessions.RecipeFile(id))
		if err != nil {
			return nil, err
		}
		plain, lost, err := v.Folder.Salvage(id, data)
		if err != nil {
			return nil, err
		}
		s, err := session.Decode(id, plain)
		if err != nil {
			return nil, err
		}
		if lost > 0 {
			v.Store.Opts.Note(fmt.Sprintf("%s of %s cannot be read; the remaining messages are used", plural.Of(lost, "message"), id))
		}
		v.Opened[id], v.Outlines[id] = s, s.Outline
	}
	return v.OutlineAll(ids)
}

// LineNamed opens the line of the session that name refers to.
func (v *View) LineNamed(name string, partial bool) (*Line, error) {
	id, err := v.Resolve(name)
	if err != nil {
		return nil, err
	}
	return v.Line(id, partial)
}

// End returns the newest leaf of the requested session and its continuations.
// If a continuation cannot be read, End returns its error, unless partial
// accepts the readable files.
func (v *View) End(l *Line, partial bool) (int, error) {
	if l.Broken != nil {
		if !partial {
			return -1, l.Broken
		}
		v.Store.Opts.Note(l.Broken.Error() + "; the remaining messages are used")
	}
	return l.Newest(l.Named), nil
}

// LineIDs returns the files of the line of id. A checkpoint is a line of its
// own. A checkpoint of Penguin that is not flattened continues its session.
func (v *View) LineIDs(id string) ([]string, error) {
	switch {
	case v.Kind(id) != session.Checkpoint:
		ids, err := v.Index.Line(id)
		return ids, v.locate(err)
	case !v.IsPenguin(id):
		return []string{id}, nil
	}
	o, err := v.Outline(id)
	if err != nil {
		return nil, err
	}
	if o.Meta.Snapshot || len(o.Meta.ContinuedFrom) == 0 {
		return []string{id}, nil
	}
	from := o.Meta.ContinuedFrom[0]
	if v.Index.Entry(from) == nil {
		return []string{id}, v.locate(cmp.Or(v.Index.Err(from), error(&index.MissingError{ID: from, From: id})))
	}
	all, err := v.Index.Line(from)
	err = v.locate(err)
	var ids []string
	for at := from; slices.Contains(all, at); at = v.Index.Origin(at) {
		ids = append(ids, at)
		if at == all[0] {
			break
		}
	}
	slices.Reverse(ids)
	return append(ids, id), err
}

// A Place is what a REF refers to: a node of a line, -1 in an empty
// conversation.
type Place struct {
	*Line
	Node int
}

// MessageID returns the id of the message at p, "" in an empty conversation.
func (p *Place) MessageID() string {
	if p.Node < 0 {
		return ""
	}
	return p.ID(p.Node)
}

// Source returns the session whose file has the message at p.
func (p *Place) Source() *session.Outline {
	if p.Node < 0 {
		return p.Parts[p.Named]
	}
	return p.Parts[p.Part(p.Node)]
}

// OwnUntracked is a member of metadata.bough: no tasks are found in the line.
const OwnUntracked = "untracked"

// Above returns the ancestors of nodes.
func (l *Line) Above(nodes []int) map[int]bool {
	above := map[int]bool{}
	for _, n := range nodes {
		for n = l.Parent(n); n >= 0 && !above[n]; n = l.Parent(n) {
			above[n] = true
		}
	}
	return above
}

// Branch returns the node that identifies the branch at the end of a path: the
// last node that is not an oldest child, else the root.
func (l *Line) Branch(path []int, children [][]int) int {
	for i := len(path) - 1; i > 0; i-- {
		if children[path[i-1]][0] != path[i] {
			return path[i]
		}
	}
	return path[0]
}

// IDs returns the ids of all messages.
func (l *Line) IDs() iter.Seq[string] {
	return func(yield func(string) bool) {
		for n := range l.Len() {
			if !yield(l.ID(n)) {
				return
			}
		}
	}
}

// IDsOf returns the ids of the messages at nodes.
func (l *Line) IDsOf(nodes []int) iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, n := range nodes {
			if !yield(l.ID(n)) {
				return
			}
		}
	}
}

// Tracks reports whether the line is tracked.
func (l *Line) Tracks() bool {
	return string(l.Parts[0].Own(OwnUntracked)) != "true"
}
