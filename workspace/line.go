package workspace

import (
	"cmp"
	"slices"

	"github.com/bough-dev/bough/index"
	"github.com/bough-dev/bough/session"
)

// A line is the message tree of a line, and the file of it that was requested.
type line struct {
	*session.Tree
	view   *View
	named  int   // index of the requested file
	broken error // the error of a continuation that cannot be read, nil if there is none
}

// id returns the id of the requested session.
func (l *line) id() string { return l.Parts[l.named].ID }

// newestID returns the id of the newest message of the line, "" if it has none.
func (l *line) newestID() string {
	if n := l.Newest(0); n >= 0 {
		return l.ID(n)
	}
	return ""
}

// line opens the line of a session. With partial it accepts a line whose first
// files are missing.
func (v *View) line(id string, partial bool) (*line, error) {
	ids, err := v.lineIDs(id)
	if err != nil {
		if !partial || len(ids) == 0 {
			return nil, err
		}
		v.store.opts.Note(err.Error() + "; the remaining messages are used")
	}
	parts, err := v.outlineAll(ids)
	if err != nil {
		return nil, err
	}
	t, err := session.NewTree(parts, v.reopen)
	if err != nil {
		return nil, err
	}
	l := &line{Tree: t, view: v, named: slices.Index(ids, id)}
	for _, part := range l.Continuing(l.named) {
		l.broken = cmp.Or(l.broken, v.index.Broken(ids[part]))
	}
	return l, nil
}

// lineNamed opens the line of the session that name refers to.
func (v *View) lineNamed(name string, partial bool) (*line, error) {
	id, err := v.resolve(name)
	if err != nil {
		return nil, err
	}
	return v.line(id, partial)
}

// end returns the newest leaf of the requested session and its continuations.
// If a continuation cannot be read, end returns its error, unless partial
// accepts the readable files.
func (v *View) end(l *line, partial bool) (int, error) {
	if l.broken != nil {
		if !partial {
			return -1, l.broken
		}
		v.store.opts.Note(l.broken.Error() + "; the remaining messages are used")
	}
	return l.Newest(l.named), nil
}

// lineIDs returns the files of the line of id. A checkpoint is a line of its
// own. A checkpoint of Penguin that is not flattened continues its session.
func (v *View) lineIDs(id string) ([]string, error) {
	switch {
	case v.kind(id) != session.Checkpoint:
		ids, err := v.index.Line(id)
		return ids, v.locate(err)
	case !v.isPenguin(id):
		return []string{id}, nil
	}
	o, err := v.outline(id)
	if err != nil {
		return nil, err
	}
	if o.Meta.Snapshot || len(o.Meta.ContinuedFrom) == 0 {
		return []string{id}, nil
	}
	from := o.Meta.ContinuedFrom[0]
	if v.index.Entry(from) == nil {
		return []string{id}, v.locate(cmp.Or(v.index.Err(from), error(&index.MissingError{ID: from, From: id})))
	}
	all, err := v.index.Line(from)
	err = v.locate(err)
	var ids []string
	for at := from; slices.Contains(all, at); at = v.index.Origin(at) {
		ids = append(ids, at)
		if at == all[0] {
			break
		}
	}
	slices.Reverse(ids)
	return append(ids, id), err
}

// A place is what a REF refers to: a node of a line, -1 in an empty
// conversation.
type place struct {
	*line
	node int
}

// messageID returns the id of the message at p, "" in an empty conversation.
func (p *place) messageID() string {
	if p.node < 0 {
		return ""
	}
	return p.ID(p.node)
}

// source returns the session whose file has the message at p.
func (p *place) source() *session.Outline {
	if p.node < 0 {
		return p.Parts[p.named]
	}
	return p.Parts[p.Part(p.node)]
}
