package workspace

import (
	"context"

	"github.com/bough-dev/bough/checkpoint"
	"github.com/bough-dev/bough/internal/operation"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace/fault"
	"github.com/bough-dev/bough/workspace/internal/store"
	"github.com/bough-dev/bough/workspace/lines"
)

// Head returns the head of the workspace, nil if it is not set. It reads no
// session.
func (w *Workspace) Head(ctx context.Context) (*lines.Position, error) {
	root, err := w.store.Open(ctx)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	if h, ok := (&store.View{Store: w.store, Root: root}).Head(); ok {
		return &lines.Position{Head: h.Head, ReadOnly: h.ReadOnly}, nil
	}
	return nil, nil
}

// Restore moves the head to the end of a checkpoint. The next message at the
// head creates a branch; the checkpoint does not change.
func (w *Workspace) Restore(ctx context.Context, name string) (*lines.Position, error) {
	op := operation.Operation{Verb: "restore", Args: store.Args{"session": name}}
	return store.Update(ctx, w.store, op, func(tx *store.Tx) (*lines.Position, error) {
		p, err := checkpointAt(tx.View, name)
		if err != nil {
			return nil, err
		}
		pos, err := tx.MoveHeadTo(p)
		tx.Op.Sessions = []string{p.SessionID()}
		return pos, err
	})
}

// checkpointAt returns the end of a checkpoint.
func checkpointAt(v *store.View, name string) (*store.Place, error) {
	id, err := v.Resolve(name)
	if err != nil {
		return nil, err
	}
	if v.Kind(id) != session.Checkpoint {
		return nil, &fault.Error{
			Code:    fault.Refused,
			Message: id + " is not a checkpoint but a " + string(v.Kind(id)),
			Next:    fault.Do(fault.SetHeadAnywhere),
		}
	}
	return v.PlaceIn(id, "", false)
}

// Rewind moves the head to the message that ref refers to. Later messages stay.
// The next message at the head begins another branch of the line.
func (w *Workspace) Rewind(ctx context.Context, ref string, o checkpoint.CutOptions) (*lines.Position, error) {
	op := operation.Operation{Verb: "rewind", Args: store.Args{"ref": ref}}
	return store.Update(ctx, w.store, op, func(tx *store.Tx) (*lines.Position, error) {
		p, cut, err := cut(tx.View, ref, o)
		if err != nil {
			return nil, err
		}
		pos, err := tx.MoveHeadTo(p)
		if err == nil {
			pos.Adjustment = cut
		}
		tx.Op.Sessions = []string{p.SessionID()}
		return pos, err
	})
}
