package folders

import (
	"context"
	"slices"

	"github.com/bough-dev/bough/checkpoint"
	"github.com/bough-dev/bough/internal/operation"
	"github.com/bough-dev/bough/workspace/fault"
	"github.com/bough-dev/bough/workspace/internal/store"
	"github.com/bough-dev/bough/workspace/lines"
	"github.com/bough-dev/bough/workspace/restores"
)

// An Addition is a message that is added to a conversation. It is in the journal of a restore,
// so that whoever completes the restore adds the message too.
type Addition struct {
	Session string        `json:"session_id"` // where the parent is
	Parent  string        `json:"parent_id"`  // "" in an empty conversation
	Message store.Message `json:"message"`
	Advance bool          `json:"advance"` // the head moves to the message
}

// Stage adds the message, unless its conversation has it, and returns the session that was
// written. A message below a checkpoint goes to a new branch of it.
func (a *Addition) Stage(tx *store.Tx) (written string, err error) {
	p, err := tx.View.PlaceAt(a.Session, a.Parent, false)
	if err != nil {
		return "", err
	}
	if a.Parent == "" {
		p.Node = -1
	}
	if found := p.Find(a.Message.ID); len(found) > 0 {
		return p.Parts[p.Part(found[0])].ID, nil
	}
	m := a.Message // adding it changes it
	m.Metadata, m.Own = slices.Clone(m.Metadata), slices.Clone(m.Own)
	if p.Frozen() != "" {
		if written, err = tx.AppendFork(p, &m, ""); err != nil || !a.Advance {
			return written, err
		}
		_, err = tx.MoveHead(written, m.ID, m.ID)
		return written, err
	}
	if written, err = tx.AppendTo(p, &m); err != nil || !a.Advance {
		return written, err
	}
	return written, tx.AdvanceHead(written, m.ID)
}

// Merge changes the files of the folder dir as they changed in a stretch of a path, and adds a
// message in the same operation. find returns both; it is called several times. The head of the
// position is the message, and done what was added, nil in a dry run.
func Merge(ctx context.Context, w *store.Store, dir string, op operation.Operation, o restores.Options, find func(*store.View) (Stretch, *Addition, error)) (pos *lines.Position, done *Addition, err error) {
	r, err := bringAdding(ctx, w, dir, op, o, func(r *reading, f *Folder) (*goal, *store.Place, checkpoint.Adjustment, error) {
		if f == nil {
			return nil, nil, checkpoint.Adjustment{}, &fault.Error{Code: fault.Usage, Message: "no folder to bring the files to", Hint: "name one that has states"}
		}
		s, add, err := find(r.view)
		if err != nil {
			return nil, nil, checkpoint.Adjustment{}, err
		}
		g, err := r.stretchTo(s, f)
		if err == nil {
			g.add = add
		}
		return g, nil, checkpoint.Adjustment{}, err
	})
	return r.Position, r.add, err
}

// stretchTo returns the goal to change the files of f as they changed in a stretch.
func (r *reading) stretchTo(s Stretch, f *Folder) (*goal, error) {
	base, last, err := r.endsOf(s, f)
	if err != nil {
		return nil, err
	}
	missing := func(where string) error {
		return &fault.Error{
			Code: fault.NotFound, Message: "no state of files " + where, Hint: "what the branch changed is not known; the conversation can be merged without files",
			Next: fault.Do(fault.ListStates),
		}
	}
	switch {
	case last == nil:
		return nil, missing("in the merged messages")
	case base == nil:
		return nil, missing("at the message where the branch begins, or before it")
	}
	return r.between(base, last)
}
