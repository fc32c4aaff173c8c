package mirrorer

import (
	"fmt"
	"slices"
	"time"

	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace/internal/store"
	"github.com/bough-dev/bough/workspace/lines"
	"github.com/bough-dev/bough/workspace/mirror"
	"github.com/tidwall/gjson"
)

// maxLogged is how many added messages of a session are logged for watchers.
const maxLogged = 100

// A growth adds messages to the file of a session.
type growth struct {
	tx   *store.Tx
	id   string
	line *store.Line
	part int

	title  *string          // the new title, nil if it stays
	added  []mirror.Message // that the file lacks
	raws   [][]byte         // what is written of them
	active time.Time        // of the newest of them
	left   []mirror.Left
}

// grow stages the messages that the file of an existing session lacks, and its title.
func (a *applying) grow(tx *store.Tx, n mirror.NewMessages) ([]mirror.Left, error) {
	v := tx.View
	if e := v.Index.Entry(n.Session); e == nil || v.IsPenguin(n.Session) {
		return leave(n.Session, "it is not here")
	} else if e.Err != nil {
		return leave(n.Session, "its file cannot be read")
	}
	g := &growth{tx: tx, id: n.Session}
	ids, err := v.LineIDs(n.Session)
	if err != nil {
		return leaveFor(tx, n.Session, err)
	}
	if staged(tx, ids...) {
		return nil, errLater
	}
	if g.line, err = v.Line(n.Session, false); err != nil {
		return leaveFor(tx, n.Session, err)
	}
	g.part = g.line.Named
	if title, ok := a.changes.Titles[n.Session]; ok && title != g.outline().Meta.Title {
		if err := store.CheckTitle("title", title); err != nil {
			g.left = append(g.left, mirror.Left{What: n.Session, Why: err.Error()})
		} else {
			g.title = &title
		}
	}
	if why, err := g.choose(n.Messages); err != nil {
		return leaveFor(tx, n.Session, err)
	} else if why != "" {
		return leave(n.Session, why)
	}
	if g.title == nil && len(g.added) == 0 {
		return g.left, nil
	}
	edit, err := g.edit()
	if err != nil {
		return leaveFor(tx, n.Session, err)
	}
	after, err := g.after(edit)
	if err != nil {
		return leaveFor(tx, n.Session, err)
	}
	head, moves := g.heldHead(after)
	if moves && tx.Batch.Touches(store.HeadFile) {
		return nil, errLater
	}
	if err := publishOpen(tx, g.id, g.raws); err != nil {
		return nil, err
	}
	if err := tx.Replace(edit); err != nil {
		return nil, err
	}
	g.log(after)
	if !moves {
		tx.Op.Args[store.ArgLine] = g.line.Parts[0].ID
	} else {
		_, err = tx.MoveHead(head.Session, string(head.Message), after.ID(after.Newest(0)))
	}
	return g.left, err
}

func (g *growth) outline() *session.Outline { return g.line.Parts[g.part] }

// choose sets the messages to add. It returns why none of the session can be added, "" if they can.
func (g *growth) choose(messages []mirror.Message) (why string, err error) {
	o := g.outline()
	have := make(map[string]int, o.Len())
	for i := range o.Len() {
		have[o.MessageID(i)] = i
	}
	var s *session.Session
	for _, m := range messages {
		i, known := have[m.ID]
		if !known {
			if nodes := g.line.Find(m.ID); len(nodes) > 0 {
				g.left = append(g.left, mirror.Left{What: g.id + "@" + m.ID, Why: "it is in " + g.line.Parts[g.line.Part(nodes[0])].ID})
				continue
			}
			g.added = append(g.added, m)
			continue
		}
		if s == nil {
			if s, err = g.tx.View.Reopen(o); err != nil {
				return "", err
			}
		}
		if i >= o.Header && !sameMessage(s.Messages[i].Raw, m.Raw) {
			g.left = append(g.left, mirror.Left{What: g.id + "@" + m.ID, Why: "it has other content here"})
		}
	}
	if len(g.added) == 0 {
		return "", nil
	}
	if o.Meta.Kind() == session.Checkpoint {
		return "a checkpoint gets no messages", nil
	}
	if i := slices.IndexFunc(g.added, func(m mirror.Message) bool { return m.Header }); i >= 0 {
		return fmt.Sprintf("the message %q is of a header, and the session has another one", g.added[i].ID), nil
	}
	body, err := decoded(g.added)
	if err != nil {
		return err.Error(), nil
	}
	if i := slices.IndexFunc(body.Messages, session.Message.IsMarker); i >= 0 {
		return fmt.Sprintf("the message %q is the marker of a continuation", g.added[i].ID), nil
	}
	return "", g.encode(body.Messages)
}

// encode sets the bytes of the messages.
func (g *growth) encode(messages []session.Message) (err error) {
	previous := ""
	if n := g.line.Follows(g.part); n >= 0 {
		previous = g.line.ID(n)
	}
	continued := len(g.tx.View.Index.Continuations(g.id)) > 0
	for i, m := range messages {
		raw := m.Raw
		if parent := string(g.added[i].Parent); parent != previous {
			if raw, err = below(raw, parent); err != nil {
				return err
			}
		}
		if continued && !gjson.GetBytes(raw, "metadata.bough."+store.OwnContinued).Bool() {
			if raw, err = withMetadata(raw, "bough."+store.OwnContinued, []byte("true")); err != nil {
				return err
			}
		}
		if at, ok := m.Time(); ok && at.After(g.active) {
			g.active = at
		}
		g.raws = append(g.raws, raw)
		previous = m.ID
	}
	return nil
}

// edit returns the change of the file.
func (g *growth) edit() (*session.Edit, error) {
	o := g.outline()
	edit := o.Edit()
	if g.title != nil && *g.title == "" {
		edit.DeleteMeta(keyTitle)
	} else if g.title != nil {
		edit.SetMeta(keyTitle, *g.title)
	}
	if len(g.raws) == 0 {
		return edit, nil
	}
	size := int64(o.Size())
	for _, raw := range g.raws {
		edit.Append(raw)
		size += int64(len(raw) + len(session.Separator))
	}
	if size > session.MaxFile {
		return nil, fmt.Errorf("its file would be larger than %d bytes", session.MaxFile)
	}
	edit.SetMeta(keyCount, o.Len()+len(g.raws))
	if was, ok := session.ParseTime(o.LastActive); g.active.After(was) || !ok && !g.active.IsZero() {
		edit.SetActive(o.Meta.Dialect().Time(g.active))
	}
	return edit, nil
}

// after returns the tree of the line with the changed file.
func (g *growth) after(edit *session.Edit) (*session.Tree, error) {
	if len(g.raws) == 0 {
		return g.line.Tree, nil
	}
	return changedTree(g.tx, g.line, g.part, edit)
}

// changedTree returns the tree of a line after an edit of one of its files.
func changedTree(tx *store.Tx, l *store.Line, part int, edit *session.Edit) (*session.Tree, error) {
	decode := func() (*session.Session, error) {
		data, err := edit.Bytes(tx.View.Reopen)
		if err != nil {
			return nil, err
		}
		return session.Decode(l.Parts[part].ID, data)
	}
	var changed *session.Session
	parts := slices.Clone(l.Parts)
	if parts[part] = edit.Outline(); parts[part] == nil {
		var err error
		if changed, err = decode(); err != nil {
			return nil, err
		}
		parts[part] = changed.Outline
	}
	return session.NewTree(parts, func(o *session.Outline) (_ *session.Session, err error) {
		if o.ID != l.Parts[part].ID {
			return tx.View.Reopen(o)
		}
		if changed == nil {
			changed, err = decode()
		}
		return changed, err
	})
}

// heldHead returns the head if it is in the line, at a message that is not above the newest leaf of
// the tree after the change: it must be set again, because it would count as outdated.
func (g *growth) heldHead(after *session.Tree) (head lines.Head, moves bool) {
	at, ok := g.tx.View.HeadIn(g.line)
	h, set := g.tx.View.Head()
	if !ok || !set || at < 0 || after == g.line.Tree {
		return lines.Head{}, false
	}
	newest, was := after.Newest(0), g.line.Newest(0)
	if newest < 0 || was >= 0 && after.ID(newest) == g.line.ID(was) {
		return lines.Head{}, false
	}
	for n := newest; n >= 0; n = after.Parent(n) {
		if after.ID(n) == g.line.ID(at) {
			return lines.Head{}, false // the conversation goes on from there
		}
	}
	return h.Head, true
}

// log logs the added messages for watchers.
func (g *growth) log(after *session.Tree) {
	if len(g.raws) == 0 || len(g.raws) > maxLogged {
		return
	}
	children := after.Children()
	for i := range g.added {
		parent, branch := "", false
		if n := nodeIn(after, g.id, g.outline().Len()+i); n >= 0 {
			parent = parentOf(after, n)
			if p := after.Parent(n); p >= 0 {
				branch = children[p][0] != n
			}
		}
		g.tx.LogMessage(g.id, parent, g.raws[i], branch)
	}
}
