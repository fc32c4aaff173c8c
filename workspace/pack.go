package workspace

import (
	"context"
	"errors"
	"slices"

	"github.com/bough-dev/bough/checkpoint"
	"github.com/bough-dev/bough/internal/operation"
	"github.com/bough-dev/bough/internal/sessions"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace/events"
	"github.com/bough-dev/bough/workspace/fault"
	"github.com/bough-dev/bough/workspace/internal/store"
)

// A PackResult is the result of [Workspace.Pack].
type PackResult struct {
	Checkpoints []Snapshot `json:"checkpoints"` // those that were packed
}

// Pack packs the plain checkpoints of a session's line, or of all sessions if name is "".
// If name is a checkpoint, Pack packs only that. Each one is an operation, all of one group.
// The plain files are moved to the trash, which keeps them for a week. It is refused in
// Penguin's dialect, since Penguin does not see packed checkpoints. A file that packing
// would change, or that hides a recipe, is skipped with a note.
func (w *Workspace) Pack(ctx context.Context, name string) (*PackResult, error) {
	ids, err := store.Read(ctx, w.store, func(v *store.View) ([]string, error) { return packable(v, name) })
	if err != nil {
		return nil, err
	}
	result := &PackResult{Checkpoints: []Snapshot{}}
	group := events.Seq(0)
	for _, id := range ids {
		made, err := store.CreateGroup(ctx, w.store, "pack", group, func(tx *store.Tx) (*Snapshot, error) {
			if e := tx.View.Index.Entry(id); e == nil || e.Packed != nil {
				return nil, nil // removed or packed meanwhile
			}
			tx.Begin(operation.Operation{Verb: "pack", Args: store.Args{"session": id}})
			tx.Mark = prunedMark
			stored, err := tx.Pack(id)
			if err != nil {
				return nil, err
			}
			s := snapshotOf(tx.View, id)
			s.Stored = stored
			return s, nil
		})
		if errors.Is(err, sessions.ErrLayout) || errors.Is(err, store.ErrHidden) {
			w.store.Opts.Note(err.Error())
			continue
		}
		if err != nil {
			return result, err
		}
		group = made.Group
		if made.Prepared != nil {
			result.Checkpoints = append(result.Checkpoints, *made.Prepared)
		}
	}
	return result, nil
}

// CheckPacking returns an error if [Options.Packing] must not be p in this workspace:
// in Penguin's dialect not all checkpoints are packed, since Penguin does not see packed
// ones.
func (w *Workspace) CheckPacking(ctx context.Context, p checkpoint.Packing) error {
	if p != checkpoint.PackAll {
		return nil
	}
	_, err := store.Read(ctx, w.store, func(v *store.View) (struct{}, error) { return struct{}{}, packsAny(v) })
	return err
}

// packsAny returns an error if the workspace is in Penguin's dialect.
func packsAny(v *store.View) error {
	if v.Index.Dialect() != session.Penguin {
		return nil
	}
	return &fault.Error{
		Code:    fault.Refused,
		Message: "this workspace is in the dialect of Penguin, which does not see packed checkpoints",
		Next:    fault.Do(fault.PackNew),
	}
}

// packable returns the plain checkpoints that Pack packs.
func packable(v *store.View, name string) ([]string, error) {
	if err := packsAny(v); err != nil {
		return nil, err
	}
	if err := v.Whole(); err != nil {
		return nil, err
	}
	var line []string
	if name != "" {
		p, err := v.Place(name, false)
		if err != nil {
			return nil, err
		}
		id := p.SessionID()
		if v.Kind(id) == session.Checkpoint {
			if v.IsPacked(id) {
				return nil, nil
			}
			return []string{id}, nil
		}
		if line, err = v.LineIDs(id); err != nil {
			return nil, err
		}
	}
	var ids []string
	for _, e := range v.Index.Entries() {
		if e.Kind() != session.Checkpoint || e.Packed != nil {
			continue
		}
		if name == "" || slices.Contains(line, v.Index.Origin(e.ID)) {
			ids = append(ids, e.ID)
		}
	}
	return ids, nil
}

// Unpack replaces a packed checkpoint with its plain file, byte for byte the file that the
// plain checkpoint would have been. If the checkpoint is plain already, Unpack changes
// nothing, with a note.
func (w *Workspace) Unpack(ctx context.Context, name string) (*Snapshot, error) {
	type result struct {
		*Snapshot
		plain bool
	}
	op := operation.Operation{Verb: "unpack", Args: store.Args{"session": name}}
	r, err := store.Update(ctx, w.store, op, func(tx *store.Tx) (r result, err error) {
		p, err := tx.View.Place(name, false)
		if err != nil {
			return r, err
		}
		id := p.SessionID()
		switch {
		case tx.View.IsPacked(id):
			if err := tx.Unpack(id); err != nil {
				return r, err
			}
		case tx.View.Kind(id) != session.Checkpoint || tx.View.IsPenguin(id):
			return r, &fault.Error{Code: fault.Refused, Message: id + " is not a packed checkpoint"}
		default:
			r.plain = true
		}
		r.Snapshot = snapshotOf(tx.View, id)
		return r, nil
	})
	if err == nil && r.plain {
		w.store.Opts.Note(r.ID + " is not packed; nothing was changed")
	}
	return r.Snapshot, err
}
