package workspace

import (
	"cmp"
	"slices"
	"strings"

	"github.com/bough-dev/bough/index"
	"github.com/bough-dev/bough/session"
)

// A line is the tree of messages of a line, and where in it a session is.
type line struct {
	*session.Tree
	part   int   // of the session that was asked for
	broken error // why the line goes on in a file that cannot be used, nil if it does not
}

// id returns the id of the session that the line was asked for by.
func (l *line) id() string { return l.Parts[l.part].ID }

// newestID returns the id of the newest message of the line, "" if it has none.
func (l *line) newestID() string {
	if n := l.Newest(0); n >= 0 {
		return l.ID(n)
	}
	return ""
}

// line opens the line that session id is in. With partial, a line whose first
// files are missing is taken as far as it is there.
func (v *view) line(id string, partial bool) (*line, error) {
	ids, err := v.lineIDs(id)
	if err != nil {
		if !partial || len(ids) == 0 {
			return nil, err
		}
		v.opts.Note(err.Error() + "; what is there is taken")
	}
	parts, err := v.outlineAll(ids)
	if err != nil {
		return nil, err
	}
	t, err := session.NewTree(parts, v.reopen)
	if err != nil {
		return nil, err
	}
	l := &line{Tree: t, part: slices.Index(ids, id)}
	for _, part := range l.Continuing(l.part) {
		l.broken = cmp.Or(l.broken, v.index.Broken(ids[part]))
	}
	return l, nil
}

// lineNamed opens the line of the session that name means.
func (v *view) lineNamed(name string, partial bool) (*line, error) {
	id, err := v.resolve(name)
	if err != nil {
		return nil, err
	}
	return v.line(id, partial)
}

// end returns the newest leaf of the session that the line was asked for by and
// what continues it. Where the line goes on in a file that cannot be used that
// is its damage, unless partial takes what is there.
func (v *view) end(l *line, partial bool) (int, error) {
	if l.broken != nil {
		if !partial {
			return -1, l.broken
		}
		v.opts.Note(l.broken.Error() + "; what is there is taken")
	}
	return l.Newest(l.part), nil
}

// lineIDs returns the files of the line that id is in. A checkpoint is a line
// of its own, whatever another program made of it; one of Penguin's that is not
// flattened goes after what it continues.
func (v *view) lineIDs(id string) ([]string, error) {
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

// A place is where a REF points: a node of a line, -1 in an empty conversation.
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

// source returns the session whose file holds the message at p.
func (p *place) source() *session.Outline {
	if p.node < 0 {
		return p.Parts[p.part]
	}
	return p.Parts[p.Part(p.node)]
}

// place finds what a REF means: SESSION, SESSION@MESSAGE, or TREE/NODE, and where
// it names nothing, a bookmark. Without a message it is the newest leaf of the session
// and what continues it.
func (v *view) place(ref string, partial bool) (*place, error) {
	p, err := v.placeNamed(ref, partial)
	if !namesNothing(err) || strings.HasPrefix(ref, urn) {
		return p, err
	}
	if p, bad := v.placeLabelled(ref, partial); p != nil || bad != nil {
		return p, bad
	}
	return nil, err
}

// namesNothing reports whether err says that a REF names no session and no message.
func namesNothing(err error) bool {
	return err != nil && (Explain(err).Code == NotFound || Explain(err).Code == Usage)
}

func (v *view) placeNamed(ref string, partial bool) (*place, error) {
	id, message, err := v.split(ref)
	if err != nil {
		return nil, err
	}
	return v.placeIn(id, message, partial)
}

func (v *view) placeIn(id, message string, partial bool) (*place, error) {
	l, err := v.line(id, partial)
	if err != nil {
		return nil, err
	}
	if message == "" {
		node, err := v.end(l, partial)
		return &place{l, node}, err
	}
	node, err := l.find(message)
	if err == nil {
		return &place{l, node}, nil
	}
	if Explain(err).Code != NotFound {
		return nil, err
	}
	if p := v.placeBehindSeal(l, message); p != nil {
		return p, nil
	}
	return v.placeAbove(id, message, err)
}

// placeBehindSeal finds a message that another program added to a checkpoint,
// nil if there is none.
func (v *view) placeBehindSeal(l *line, message string) *place {
	o := l.Parts[l.part]
	if len(l.Parts) > 1 || o.FitsSeal {
		return nil
	}
	t, err := session.NewTree([]*session.Outline{o.Unsealed()}, v.reopen)
	if err != nil {
		return nil
	}
	behind := &line{Tree: t}
	node, err := behind.find(message)
	if err != nil {
		return nil
	}
	return &place{behind, node}
}

// placeAbove finds a message in the lines that id's own line was copied from,
// the nearest first.
func (v *view) placeAbove(id, message string, notFound error) (*place, error) {
	lineage, _ := v.index.Lineage(id)
	seen := map[string]bool{}
	own, _ := v.lineIDs(id)
	for _, file := range own {
		seen[file] = true
	}
	for _, from := range slices.Backward(lineage) {
		if seen[from] || v.index.Entry(from) == nil {
			continue
		}
		l, err := v.line(from, true)
		if err != nil {
			continue
		}
		for _, part := range l.Parts {
			seen[part.ID] = true
		}
		if node, err := l.find(message); err == nil {
			return &place{l, node}, nil
		}
	}
	return nil, notFound
}

// find returns the node of the message that name means: an id, else a UUID, else a
// unique piece of an id. A name that begins with urn:uuid: is a UUID and nothing else.
func (l *line) find(name string) (int, error) {
	uuid, strict := strings.CutPrefix(name, urn)
	var nodes []int
	if !strict {
		nodes = l.Find(name)
	}
	if len(nodes) == 0 && (strict || session.IsUUID(name)) {
		nodes = l.withUUID(strings.ToLower(uuid))
	}
	if len(nodes) == 0 && name != "" && !strict {
		for n := range l.Len() {
			if strings.Contains(l.ID(n), name) {
				nodes = append(nodes, n)
			}
		}
	}
	switch len(nodes) {
	case 0:
		return -1, notFound("message", uuid)
	case 1:
		return nodes[0], nil
	}
	var ids []string
	for _, n := range nodes {
		ids = append(ids, l.ID(n)+" in "+l.Parts[l.Part(n)].ID)
	}
	return -1, ambiguous("message", uuid, ids)
}
