package store

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"

	"github.com/bough-dev/bough/internal/durable"
	"github.com/bough-dev/bough/internal/rawjson"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace/fault"
	"github.com/bough-dev/bough/workspace/lines"
)

// StoredHead is the content of head.json.
type StoredHead struct {
	lines.Head
	ReadOnly bool `json:"read_only"` // for display only
	// Newest is the newest message of the line when the head was set. If the
	// line has a newer one, the head is stale.
	Newest session.ID `json:"newest"`
	// Previous is the head before it was moved here, nil if there was none. Appending
	// moves the head and keeps Previous.
	Previous *lines.Head `json:"previous,omitempty"`
}

// Head returns the stored head, and reports whether there is a readable one.
func (v *View) Head() (h StoredHead, ok bool) {
	data, err := durable.ReadFile(v.Root, HeadFile)
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			v.Store.Opts.Note(err.Error())
		}
		return h, false
	}
	if err := json.Unmarshal(data, &h); err != nil || h.Session == "" {
		v.Store.Opts.Note(HeadFile + " is damaged and is ignored")
		return StoredHead{}, false
	}
	return h, true
}

// MoveHead stages a move of the head to a message of a session; message is ""
// in an empty session. newest is the newest message of the line.
func (tx *Tx) MoveHead(id, message, newest string) (*lines.Position, error) {
	h := StoredHead{Head: lines.Head{Session: id, Message: session.ID(message)}, Newest: session.ID(newest)}
	if was, ok := tx.View.Head(); ok && was.Head != h.Head {
		h.Previous = &was.Head
	} else if ok {
		h.Previous = was.Previous
	}
	return tx.putHead(h)
}

// AdvanceHead stages a move of the head to a message that was appended at the
// head.
func (tx *Tx) AdvanceHead(id, message string) error {
	h := StoredHead{Head: lines.Head{Session: id, Message: session.ID(message)}, Newest: session.ID(message)}
	if was, ok := tx.View.Head(); ok {
		h.Previous = was.Previous
	}
	_, err := tx.putHead(h)
	return err
}

func (tx *Tx) putHead(h StoredHead) (*lines.Position, error) {
	h.ReadOnly = tx.View.Kind(h.Session) == session.Checkpoint
	was, err := durable.ReadFile(tx.View.Root, HeadFile)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	err = tx.ReplaceSmall(HeadFile, was, append(rawjson.Value(h, 0), '\n'))
	return &lines.Position{Head: h.Head, ReadOnly: h.ReadOnly}, err
}

// A HeadMove is a change of the file of the head: its content before and after, "" if it does
// not exist.
type HeadMove struct {
	Was string `json:"was"`
	Is  string `json:"is"`
}

// RepeatHeadMove stages a move of the head that was interrupted, unless the head was moved
// since.
func (tx *Tx) RepeatHeadMove(m *HeadMove) error {
	now, err := durable.ReadFile(tx.View.Root, HeadFile)
	switch {
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return err
	case string(now) != m.Was || m.Was == m.Is:
		return nil
	case m.Is == "":
		return tx.Discard(HeadFile)
	}
	return tx.ReplaceSmall(HeadFile, now, []byte(m.Is))
}

// headNamed returns the head, or for "-" the previous head.
func (v *View) headNamed(name string) (lines.Head, error) {
	h, ok := v.Head()
	at := h.Head
	if name == previousSign {
		if ok = ok && h.Previous != nil; !ok {
			return lines.Head{}, &fault.Error{Code: fault.NotFound, Message: "there is no previous head", Hint: "the head was not moved yet"}
		}
		at = *h.Previous
	}
	if !ok {
		return lines.Head{}, &fault.Error{Code: fault.NotFound, Message: "the head is not set", Next: fault.Do(fault.SetHead)}
	}
	if !v.Has(at.Session) {
		return lines.Head{}, &fault.Error{Code: fault.NotFound, Message: fmt.Sprintf("%s is in the session %q, which does not exist", name, at.Session), Next: fault.Do(fault.SetHead)}
	}
	return at, v.Index.Err(at.Session)
}

// PlaceAtHead returns the place of the head, or for "-" of the previous head.
func (v *View) PlaceAtHead(name string, partial bool) (*Place, error) {
	h, err := v.headNamed(name)
	if err != nil {
		return nil, err
	}
	if name == previousSign {
		return v.PlaceAt(h.Session, string(h.Message), partial)
	}
	l, err := v.Line(h.Session, partial)
	if err != nil {
		return nil, err
	}
	if node, ok := v.HeadIn(l); ok {
		return &Place{Line: l, Node: node}, nil
	}
	node, err := v.End(l, partial)
	return &Place{Line: l, Node: node}, err
}

// MoveHeadTo stages a move of the head to p.
func (tx *Tx) MoveHeadTo(p *Place) (*lines.Position, error) {
	return tx.MoveHead(p.SessionID(), p.MessageID(), p.newestID())
}

// HeadIn returns the node of the head, if it is in l and l has no newer
// message.
func (v *View) HeadIn(l *Line) (node int, ok bool) {
	h, ok := v.Head()
	if !ok {
		return -1, false
	}
	inside := false
	for _, part := range l.Parts {
		inside = inside || part.ID == h.Session
	}
	if !inside || l.newestID() != string(h.Newest) {
		return -1, false
	}
	if l.Broken != nil && h.Message == h.Newest {
		return -1, false // the head was at the end, which is unknown if a file is damaged
	}
	if h.Message == "" {
		return -1, true
	}
	nodes := l.Find(string(h.Message))
	if len(nodes) != 1 {
		return -1, false
	}
	return nodes[0], true
}
