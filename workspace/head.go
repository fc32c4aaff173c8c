package workspace

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"

	"github.com/bough-dev/bough/checkpoint"
	"github.com/bough-dev/bough/internal/durable"
	"github.com/bough-dev/bough/internal/operation"
	"github.com/bough-dev/bough/internal/rawjson"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace/fault"
)

// A Head is a message to which the next message is added.
type Head struct {
	Session string     `json:"session_id"`
	Message session.ID `json:"message_id"` // null in an empty session
}

// A Position is the head of the workspace or of an agent.
type Position struct {
	Head     Head `json:"head"`
	ReadOnly bool `json:"read_only"` // in a checkpoint: the next message creates a branch first
	checkpoint.Adjustment
}

// storedHead is the content of head.json.
type storedHead struct {
	Head
	ReadOnly bool `json:"read_only"` // for display only
	// Newest is the newest message of the line when the head was set. If the
	// line has a newer one, the head is stale.
	Newest session.ID `json:"newest"`
	// Previous is the head before it was moved here, nil if there was none. Appending
	// moves the head and keeps Previous.
	Previous *Head `json:"previous,omitempty"`
}

// head returns the stored head, and reports whether there is a readable one.
func (v *View) head() (h storedHead, ok bool) {
	data, err := durable.ReadFile(v.root, headFile)
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			v.store.opts.Note(err.Error())
		}
		return h, false
	}
	if err := json.Unmarshal(data, &h); err != nil || h.Session == "" {
		v.store.opts.Note(headFile + " is damaged and is ignored")
		return storedHead{}, false
	}
	return h, true
}

// Head returns the head of the workspace, nil if it is not set. It reads no
// session.
func (w *Workspace) Head(ctx context.Context) (*Position, error) {
	root, err := w.store.open(ctx)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	if h, ok := (&View{store: w.store, root: root}).head(); ok {
		return &Position{Head: h.Head, ReadOnly: h.ReadOnly}, nil
	}
	return nil, nil
}

// moveHead stages a move of the head to a message of a session; message is ""
// in an empty session. newest is the newest message of the line.
func (tx *Tx) moveHead(id, message, newest string) (*Position, error) {
	h := storedHead{Head: Head{Session: id, Message: session.ID(message)}, Newest: session.ID(newest)}
	if was, ok := tx.View.head(); ok && was.Head != h.Head {
		h.Previous = &was.Head
	} else if ok {
		h.Previous = was.Previous
	}
	return tx.putHead(h)
}

// advanceHead stages a move of the head to a message that was appended at the
// head.
func (tx *Tx) advanceHead(id, message string) error {
	h := storedHead{Head: Head{Session: id, Message: session.ID(message)}, Newest: session.ID(message)}
	if was, ok := tx.View.head(); ok {
		h.Previous = was.Previous
	}
	_, err := tx.putHead(h)
	return err
}

func (tx *Tx) putHead(h storedHead) (*Position, error) {
	h.ReadOnly = tx.View.kind(h.Session) == session.Checkpoint
	was, err := durable.ReadFile(tx.View.root, headFile)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	err = tx.replaceSmall(headFile, was, append(rawjson.Value(h, 0), '\n'))
	return &Position{Head: h.Head, ReadOnly: h.ReadOnly}, err
}

// headNamed returns the head, or for "-" the previous head.
func (v *View) headNamed(name string) (Head, error) {
	h, ok := v.head()
	at := h.Head
	if name == previousSign {
		if ok = ok && h.Previous != nil; !ok {
			return Head{}, &fault.Error{Code: fault.NotFound, Message: "there is no previous head", Hint: "the head was not moved yet"}
		}
		at = *h.Previous
	}
	if !ok {
		return Head{}, &fault.Error{Code: fault.NotFound, Message: "the head is not set", Next: fault.Do(fault.SetHead)}
	}
	if !v.has(at.Session) {
		return Head{}, &fault.Error{Code: fault.NotFound, Message: fmt.Sprintf("%s is in the session %q, which does not exist", name, at.Session), Next: fault.Do(fault.SetHead)}
	}
	return at, v.index.Err(at.Session)
}

// placeAtHead returns the place of the head, or for "-" of the previous head.
func (v *View) placeAtHead(name string, partial bool) (*place, error) {
	h, err := v.headNamed(name)
	if err != nil {
		return nil, err
	}
	if name == previousSign {
		return v.placeAt(h.Session, string(h.Message), partial)
	}
	l, err := v.line(h.Session, partial)
	if err != nil {
		return nil, err
	}
	if node, ok := v.headIn(l); ok {
		return &place{line: l, node: node}, nil
	}
	node, err := v.end(l, partial)
	return &place{line: l, node: node}, err
}

// moveHeadTo stages a move of the head to p.
func (tx *Tx) moveHeadTo(p *place) (*Position, error) {
	return tx.moveHead(p.id(), p.messageID(), p.newestID())
}

// headIn returns the node of the head, if it is in l and l has no newer
// message.
func (v *View) headIn(l *line) (node int, ok bool) {
	h, ok := v.head()
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
	if l.broken != nil && h.Message == h.Newest {
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

// Restore moves the head to the end of a checkpoint. The next message at the
// head creates a branch; the checkpoint does not change.
func (w *Workspace) Restore(ctx context.Context, name string) (*Position, error) {
	op := operation.Operation{Verb: "restore", Args: args{"session": name}}
	return update(ctx, w.store, op, func(tx *Tx) (*Position, error) {
		id, err := tx.View.resolve(name)
		if err != nil {
			return nil, err
		}
		if tx.View.kind(id) != session.Checkpoint {
			return nil, &fault.Error{
				Code:    fault.Refused,
				Message: id + " is not a checkpoint but a " + string(tx.View.kind(id)),
				Next:    fault.Do(fault.SetHeadAnywhere),
			}
		}
		p, err := tx.View.placeIn(id, "", false)
		if err != nil {
			return nil, err
		}
		pos, err := tx.moveHeadTo(p)
		tx.op.Sessions = []string{p.id()}
		return pos, err
	})
}

// Rewind moves the head to the message that ref refers to. Later messages stay.
// The next message at the head begins another branch of the line.
func (w *Workspace) Rewind(ctx context.Context, ref string, o checkpoint.CutOptions) (*Position, error) {
	op := operation.Operation{Verb: "rewind", Args: args{"ref": ref}}
	return update(ctx, w.store, op, func(tx *Tx) (*Position, error) {
		p, cut, err := tx.View.cut(ref, o)
		if err != nil {
			return nil, err
		}
		pos, err := tx.moveHeadTo(p)
		if err == nil {
			pos.Adjustment = cut
		}
		tx.op.Sessions = []string{p.id()}
		return pos, err
	})
}
