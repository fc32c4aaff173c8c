package store

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/bough-dev/bough/internal/lookup"
	"github.com/bough-dev/bough/internal/plural"
	"github.com/bough-dev/bough/internal/sessionid"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace/fault"
)

// Place resolves a REF; see [parseRef]. A REF without a message refers to the
// newest leaf of the session and its continuations.
func (v *View) Place(ref string, partial bool) (*Place, error) {
	forms := parseRef(ref)
	var failed error
	for _, f := range forms {
		find := v.placeOfName
		if f.sep != 0 {
			find = v.placeOfPair
		}
		p, err := find(f, partial)
		switch {
		case p != nil && err == nil:
			return p, p.goUp(f.up)
		case err != nil && (p != nil || f.sep == 0):
			return nil, err
		case err != nil && !IsNotFound(err) && !isUsage(err):
			return nil, err
		}
		failed = cmp.Or(failed, err)
	}
	// The id of a message takes precedence over prefixes of session ids. To find it,
	// every session is read, except if ref abbreviates generated session ids, which
	// no message id does.
	short, ids, err := v.abbreviatedForm(forms)
	if err != nil {
		return nil, err
	}
	if len(ids) == 0 || slices.ContainsFunc(ids, func(id string) bool { return !sessionid.Generated(id) }) {
		if p, err := v.placeOfMessage(forms, partial); p != nil || err != nil {
			return p, err
		}
	}
	if len(ids) == 0 {
		if p, err := v.placeElsewhere(forms, partial); p != nil || err != nil {
			return p, err
		}
		return nil, cmp.Or(failed, v.noPlace(ref))
	}
	p, err := v.placeOfSession(short.name, ids, partial)
	if err != nil {
		return nil, err
	}
	return p, p.goUp(short.up)
}

// placeElsewhere resolves a name that [Options] know, and returns nil if they do not.
func (v *View) placeElsewhere(forms []refForm, partial bool) (*Place, error) {
	if v.Store.Opts.Elsewhere == nil {
		return nil, nil
	}
	for _, f := range forms {
		name := f.name
		if f.sep != 0 {
			name += string(f.sep) + f.message
		}
		session, message, err := v.Store.Opts.Elsewhere(v.Ctx, name)
		if err != nil {
			return nil, err
		}
		if session == "" {
			continue
		}
		id, here := v.byID(session)
		if !here {
			return nil, &fault.Error{Code: fault.NotFound, Message: fmt.Sprintf("%q is in the session %s, which is not in this workspace", name, session)}
		}
		p, err := v.PlaceIn(id, message, partial)
		if err != nil {
			return nil, err
		}
		return p, p.goUp(f.up)
	}
	return nil, nil
}

// abbreviatedForm returns the first of forms that abbreviates ids of sessions,
// with these ids.
func (v *View) abbreviatedForm(forms []refForm) (refForm, []string, error) {
	for _, f := range forms {
		if f.sep != 0 {
			continue
		}
		if ids, err := v.abbreviated(f.name); err != nil || len(ids) > 0 {
			return f, ids, err
		}
	}
	return refForm{}, nil, nil
}

func isUsage(err error) bool { return err != nil && Explain(err).Code == fault.Usage }

// noPlace returns the error for a REF that refers to nothing.
func (v *View) noPlace(ref string) error {
	if ref == "" {
		return &fault.Error{Code: fault.NotFound, Message: "the REF is empty", Hint: "omit it for the head, or give a session or message"}
	}
	e := v.noSession(ref)
	if strings.HasPrefix(e.Message, "no session ") {
		e.Message = fmt.Sprintf("no session, message or bookmark %q", ref)
	}
	return e
}

// placeOfPair resolves SESSION@MESSAGE or TREE/NODE. It returns nil if there is
// no such session. If it returns a place and an error, the error is about the
// message.
func (v *View) placeOfPair(f refForm, partial bool) (*Place, error) {
	if f.message == "" {
		return nil, &fault.Error{Code: fault.Usage, Message: fmt.Sprintf("%q has no message after the %c", f.name+string(f.sep), f.sep)}
	}
	id, err := v.Resolve(f.name)
	if err != nil {
		return nil, err
	}
	p, err := v.PlaceIn(id, f.message, partial)
	if err != nil {
		return &Place{Node: -1}, err
	}
	return p, nil
}

// placeOfName resolves a complete name, and returns nil if it refers to
// nothing. It does not try prefixes. It searches all sessions only for a
// message whose id is also a title or label.
func (v *View) placeOfName(f refForm, partial bool) (*Place, error) {
	if IsHeadName(f.name) {
		return v.PlaceAtHead(f.name, partial)
	}
	if id, ok := v.byID(f.name); ok {
		return v.placeOfSession(f.name, []string{id}, partial)
	}
	titled, err := v.titled(f.name)
	if err != nil {
		return nil, err
	}
	if len(titled)+len(v.BookmarksIfAny().Labelled(f.name)) == 0 {
		return nil, nil
	}
	if mayBeMessage(f.name) {
		if p, err := v.placeOfMessage([]refForm{{name: f.name}}, partial); p != nil || err != nil {
			return p, err
		}
	}
	if len(titled) > 0 {
		return v.placeOfSession(f.name, titled, partial)
	}
	return v.placeLabelled(f.name, partial)
}

// placeOfSession returns the newest leaf of the session in ids. It returns an
// error if there are several.
func (v *View) placeOfSession(name string, ids []string, partial bool) (*Place, error) {
	if len(ids) > 1 {
		return nil, v.ambiguousSessions(name, ids)
	}
	if err := v.Index.Err(ids[0]); err != nil {
		return nil, err
	}
	return v.PlaceIn(ids[0], "", partial)
}

// Frozen returns the checkpoint that a message below p would change: the session that was
// requested, or the file of the parent if another program continued a checkpoint. It returns ""
// if there is none.
func (p *Place) Frozen() string {
	for _, id := range []string{p.SessionID(), p.Parts[p.FilePart()].ID} {
		if p.view.Kind(id) == session.Checkpoint {
			return id
		}
	}
	return ""
}

// goUp moves p to its n-th ancestor.
func (p *Place) goUp(n int) error {
	for above := 0; above < n; above++ {
		if p.Node < 0 || p.Parent(p.Node) < 0 {
			return &fault.Error{Code: fault.NotFound, Message: fmt.Sprintf("%s has %s above it, not %d", cmp.Or(p.MessageID(), p.SessionID()), plural.Of(above, "message"), n)}
		}
		p.Node = p.Parent(p.Node)
	}
	return nil
}

// Names of the first and the last message on the path to the newest leaf of a
// session.
const (
	firstName = "first"
	lastName  = "last"
)

// PlaceIn returns the place of a message of a session. If message is "", it
// returns the newest leaf.
func (v *View) PlaceIn(id, message string, partial bool) (*Place, error) {
	l, err := v.Line(id, partial)
	if err != nil {
		return nil, err
	}
	if message == "" || message == firstName || message == lastName {
		if node, err := l.exact(message); err == nil {
			return &Place{Line: l, Node: node}, nil
		}
		node, err := v.End(l, partial)
		if err != nil || message == "" {
			return &Place{Line: l, Node: node}, err
		}
		if node < 0 {
			return nil, NoSuch("message", message)
		}
		if message == firstName {
			node = l.Path(node)[0]
		}
		return &Place{Line: l, Node: node}, nil
	}
	return v.placeFound(l, message, (*Line).Lookup)
}

// PlaceAt returns the place of a message by its stored id.
func (v *View) PlaceAt(id, message string, partial bool) (*Place, error) {
	if message == "" {
		return v.PlaceIn(id, "", partial)
	}
	l, err := v.Line(id, partial)
	if err != nil {
		return nil, err
	}
	return v.placeFound(l, message, (*Line).exact)
}

// placeFound returns the place of the message that find finds: in l, after the
// seal of a checkpoint, or in the lines that l was copied from.
func (v *View) placeFound(l *Line, message string, find func(*Line, string) (int, error)) (*Place, error) {
	node, err := find(l, message)
	if err == nil {
		return &Place{Line: l, Node: node}, nil
	}
	if !IsNotFound(err) {
		return nil, err
	}
	if p := v.placeBehindSeal(l, message, find); p != nil {
		return p, nil
	}
	return v.placeAbove(l.SessionID(), message, find, err)
}

// placeBehindSeal returns the place of a message that another program added to
// a checkpoint, nil if there is none.
func (v *View) placeBehindSeal(l *Line, message string, find func(*Line, string) (int, error)) *Place {
	o := l.Parts[l.Named]
	if len(l.Parts) > 1 || o.FitsSeal {
		return nil
	}
	t, err := session.NewTree([]*session.Outline{o.Unsealed()}, v.Reopen)
	if err != nil {
		return nil
	}
	behind := &Line{Tree: t, view: v}
	node, err := find(behind, message)
	if err != nil {
		return nil
	}
	return &Place{Line: behind, Node: node}
}

// placeAbove returns the place of a message in the lines that the line of id
// was copied from, nearest first.
func (v *View) placeAbove(id, message string, find func(*Line, string) (int, error), notFound error) (*Place, error) {
	lineage, _ := v.Index.Lineage(id)
	seen := map[string]bool{}
	own, _ := v.LineIDs(id)
	for _, file := range own {
		seen[file] = true
	}
	for _, from := range slices.Backward(lineage) {
		if seen[from] || v.Index.Entry(from) == nil {
			continue
		}
		l, err := v.Line(from, true)
		if err != nil {
			continue
		}
		for _, part := range l.Parts {
			seen[part.ID] = true
		}
		if node, err := find(l, message); err == nil {
			return &Place{Line: l, Node: node}, nil
		}
	}
	return nil, notFound
}

// Lookup returns the node of the message whose id or UUID is name, or whose id
// has the unique prefix name. If name begins with urn:uuid:, only UUIDs are
// compared.
func (l *Line) Lookup(name string) (int, error) {
	node, err := l.exact(name)
	if !IsNotFound(err) || strings.HasPrefix(name, urn) {
		return node, err
	}
	return l.only(name, lookup.Abbreviated(name, l.Len(), func(n int) lookup.Name { return lookup.Name{ID: l.ID(n)} }))
}

// exact returns the node of the message whose id, or else UUID, is name.
func (l *Line) exact(name string) (int, error) {
	uuid, strict := strings.CutPrefix(name, urn)
	var nodes []int
	if !strict && name != "" {
		nodes = l.Find(name)
	}
	if len(nodes) == 0 && (strict || sessionid.IsUUID(name)) {
		nodes = l.withUUID(strings.ToLower(uuid))
	}
	return l.only(uuid, nodes)
}

// only returns the node in nodes, which matched name. It returns an error if
// there are several.
func (l *Line) only(name string, nodes []int) (int, error) {
	switch len(nodes) {
	case 0:
		return -1, NoSuch("message", name)
	case 1:
		return nodes[0], nil
	}
	places := make([]*Place, len(nodes))
	for i, n := range nodes {
		places[i] = &Place{Line: l, Node: n}
	}
	return -1, l.view.ambiguousMessages(name, places)
}
