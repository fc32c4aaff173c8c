package workspace

import (
	"bytes"
	"cmp"
	"context"
	"slices"

	"github.com/bough-dev/bough/checkpoint"
	"github.com/bough-dev/bough/session"
)

// List returns the sessions, last active first; with a kind, those of that
// kind. Penguin's own checkpoints are listed when checkpoints are asked for.
// Files that cannot be used are left out, and noted.
func (w *Workspace) List(ctx context.Context, kind session.Kind) ([]Entry, error) {
	switch kind {
	case "", session.Root, session.Continuation, session.Branch, session.Checkpoint:
	default:
		return nil, &Error{
			Code:    Usage,
			Message: "no kind \"" + string(kind) + "\"",
			Hint:    "kinds are root, continuation, branch, checkpoint",
		}
	}
	entries := []Entry{}
	err := w.read(ctx, func(v *view) error {
		entries = entries[:0]
		v.noteUnusable()
		for _, e := range v.index.Entries() {
			if kind == "" || e.Kind() == kind {
				entries = append(entries, v.entry(e.ID))
			}
		}
		if kind == session.Checkpoint {
			for _, id := range v.penguinIDs() {
				if err := v.penguin[id].Err; err != nil {
					v.opts.Note(err.Error())
					continue
				}
				entries = append(entries, v.entry(id))
			}
		}
		slices.SortFunc(entries, func(a, b Entry) int {
			return cmp.Or(cmp.Compare(b.LastActive, a.LastActive), cmp.Compare(b.ID, a.ID))
		})
		return nil
	})
	return entries, err
}

func (v *view) noteUnusable() {
	for _, e := range v.index.Unusable() {
		v.opts.Note(e.Err.Error())
	}
}

// A Message is one message of a conversation, for reading. Raw has all of it.
type Message struct {
	ID   string
	Role string
	Time string // UTC, "" if the file has none that can be read
	Text string // the content, parts that are no text as their type in brackets
	Raw  []byte // as in the file
}

// A Conversation is the path to a message, in a session's name.
type Conversation struct {
	Entry    Entry
	Messages []Message
	// Document is the path as one JSON document: the eight keys of a session
	// file, the session's own id and metadata, messages as they stand in their
	// files.
	Document []byte
}

// Show returns the path to where ref points, flattened. With partial, what is
// there of a line whose first files are missing is taken.
func (w *Workspace) Show(ctx context.Context, ref string, partial bool) (*Conversation, error) {
	c := &Conversation{}
	err := w.read(ctx, func(v *view) error {
		*c = Conversation{}
		p, err := v.place(ref, partial)
		if err != nil {
			return err
		}
		asked := p.Parts[p.part]
		c.Entry = v.entry(asked.ID)
		d := checkpoint.View(p.Tree, p.node, asked)
		d.CreatedAt, d.LastActive = c.Entry.CreatedAt, c.Entry.LastActive
		c.Document = bytes.Join(d.Pieces(), nil)
		for _, n := range p.Path(p.node) {
			c.Messages = append(c.Messages, message(p.Message(n)))
		}
		return nil
	})
	return c, err
}

func message(m session.Message) Message {
	out := Message{ID: m.ID, Role: m.Role(), Text: m.Text(), Raw: m.Raw}
	if t, ok := m.Time(); ok {
		out.Time = session.FormatTime(t)
	}
	return out
}

// Lineage returns the ids from the root to the session.
func (w *Workspace) Lineage(ctx context.Context, name string) ([]string, error) {
	var lineage []string
	err := w.read(ctx, func(v *view) error {
		id, err := v.resolve(name)
		if err != nil {
			return err
		}
		lineage, err = v.lineage(id)
		return err
	})
	return lineage, err
}

// Tree returns the trees of sessions, oldest first, or with a name the one that
// holds that session. A session whose origin is gone stands under the nearest
// one of its lineage that is there, or at the top.
func (w *Workspace) Tree(ctx context.Context, name string) ([]Node, error) {
	roots := []Node{}
	err := w.read(ctx, func(v *view) error {
		roots = roots[:0]
		parents := v.index.Parents()
		only := ""
		if name != "" {
			id, err := v.resolve(name)
			if err != nil {
				return err
			}
			if only = id; v.isPenguin(id) {
				only = v.penguin[id].Session
			}
			for parents[only] != "" {
				only = parents[only]
			}
		} else {
			v.noteUnusable()
		}
		children := map[string][]string{}
		for _, e := range v.index.Entries() {
			children[parents[e.ID]] = append(children[parents[e.ID]], e.ID)
		}
		for _, id := range children[""] {
			if only == "" || id == only {
				roots = append(roots, v.subtree(id, children))
			}
		}
		return nil
	})
	return roots, err
}

func (v *view) subtree(id string, children map[string][]string) Node {
	n := Node{Entry: v.entry(id), Children: []Node{}}
	for _, child := range children[id] {
		n.Children = append(n.Children, v.subtree(child, children))
	}
	return n
}

// A Diff says where two paths part.
type Diff struct {
	Common ID       `json:"common"` // the last message that both have, none if they share none
	A      []string `json:"a"`      // the messages that only the first has, in order
	B      []string `json:"b"`      // and the second
}

// Diff compares the paths to two places, by message id, from their roots.
func (w *Workspace) Diff(ctx context.Context, a, b string) (*Diff, error) {
	d := &Diff{}
	err := w.read(ctx, func(v *view) error {
		var paths [2][]string
		for i, ref := range []string{a, b} {
			p, err := v.place(ref, false)
			if err != nil {
				return err
			}
			paths[i] = []string{}
			for _, n := range p.Path(p.node) {
				paths[i] = append(paths[i], p.Message(n).ID)
			}
		}
		same := 0
		for same < min(len(paths[0]), len(paths[1])) && paths[0][same] == paths[1][same] {
			same++
		}
		if same > 0 {
			d.Common = ID(paths[0][same-1])
		}
		d.A, d.B = paths[0][same:], paths[1][same:]
		return nil
	})
	return d, err
}
