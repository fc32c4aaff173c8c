package folders

import (
	"context"
	"fmt"

	"github.com/bough-dev/bough/checkpoint"
	"github.com/bough-dev/bough/internal/states"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace/fault"
	"github.com/bough-dev/bough/workspace/files"
	"github.com/bough-dev/bough/workspace/internal/store"
)

// A Kept is the state that goes with a new checkpoint or branch.
type Kept struct {
	Ref   string // the place of the checkpoint, which does not move
	State *files.State
	found described
}

// Keep returns the state that goes with a checkpoint or a branch at ref, for the last message
// of its path. If that is the newest message of its conversation, Keep takes a state for it, of
// the folder dir or, if dir is empty and the current directory is in no folder with states, of
// the folder that the conversation has states of. Else it is the state at that message, or at
// the nearest one before it.
func Keep(ctx context.Context, w *store.Store, verb, dir, ref string, o checkpoint.CutOptions) (*Kept, error) {
	f, err := only(ctx, w, dir)
	if err != nil {
		return nil, err
	}
	k, err := store.Read(ctx, w, func(v *store.View) (*keeping, error) { return keep(v, f, ref, o) })
	if err != nil || !k.newest || f == nil && k.State != nil && !k.found.home(ctx, w) {
		return &k.Kept, err
	}
	if f == nil && k.State != nil {
		dir = k.State.Dir
	}
	if f, err = Find(ctx, w, dir); err != nil {
		return nil, err
	}
	k.found, err = f.takeFor(ctx, w, verb, states.Checkpoint, k.session, k.message)
	k.State = k.found.description
	return &k.Kept, err
}

// A keeping is a call of Keep.
type keeping struct {
	Kept
	session, message string
	newest           bool // the message is the newest one of its conversation
}

// keep finds the message at which a checkpoint at ref ends, and its state. Only of the newest
// message of a conversation that may be nil.
func keep(v *store.View, f *Folder, ref string, o checkpoint.CutOptions) (*keeping, error) {
	p, err := v.Place(ref, o.Partial)
	if err != nil {
		return &keeping{}, err
	}
	if p.Node < 0 {
		return &keeping{}, &fault.Error{Code: fault.Refused, Message: p.SessionID() + " is empty: there is no message that a state could belong to", Next: fault.Do(fault.AppendMessage)}
	}
	k := &keeping{Kept: Kept{Ref: p.SessionID() + "@" + p.MessageID()}}
	if _, err := p.Cut(o); err != nil {
		return k, err
	}
	k.session, k.message = p.Source().ID, p.MessageID()
	k.newest = p.Node == p.Newest(0) && v.Kind(p.SessionID()) != session.Checkpoint
	return read(v, func(r *reading) (*keeping, error) {
		st, exact, err := r.at(p, ref, f)
		switch {
		case store.IsNotFound(err) && k.newest:
			return k, nil
		case store.IsNotFound(err):
			return k, &fault.Error{
				Code: fault.NotFound, Message: err.Error(), Err: err,
				Hint: fmt.Sprintf("a state is taken only for the newest message of a conversation, which %q is not", ref),
			}
		case err != nil:
			return k, err
		}
		k.State, err = r.describe(st, exact)
		k.found = r.describedFor(st, k.State, f)
		return k, err
	})
}

// takeFor takes a state for a message.
func (f *Folder) takeFor(ctx context.Context, w *store.Store, verb string, at states.Moment, session, message string) (described, error) {
	if err := f.check(); err != nil {
		return described{}, err
	}
	taken, err := f.take(ctx, w, verb, Wish{At: at, Session: session, Message: message, Link: true})
	if err != nil {
		return described{}, err
	}
	return named(ctx, w, taken.ID, nil)
}

// CheckOut makes the folder out with the state; see [Checkout]. If out is empty, it is a folder
// beside that of the state, with a name that ends in label.
func (k *Kept) CheckOut(ctx context.Context, w *store.Store, out, label string) (*files.Checkout, error) {
	return k.found.checkOut(ctx, w, out, label)
}

// Settle notes that a folder that CheckOut made continues from a message: it takes a state of it.
func Settle(ctx context.Context, w *store.Store, dir, session, message string) error {
	f, err := Find(ctx, w, dir)
	if err == nil {
		_, err = f.takeFor(ctx, w, "branch", states.Checkpoint, session, message)
	}
	return err
}
