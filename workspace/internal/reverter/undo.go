package reverter

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"slices"

	"github.com/bough-dev/bough/internal/operation"
	"github.com/bough-dev/bough/workspace/events"
	"github.com/bough-dev/bough/workspace/fault"
	"github.com/bough-dev/bough/workspace/history"
	"github.com/bough-dev/bough/workspace/internal/store"
)

// Undo reverts as many operations as o says, newest first.
func Undo(ctx context.Context, w *store.Store, o history.UndoOptions) (*history.Operations, error) {
	if o.Count <= 1 && o.To == 0 && !o.DryRun {
		return undoOne(ctx, w, o)
	}
	if !o.DryRun {
		if err := completeRestores(ctx, w, operation.Undo); err != nil {
			return nil, err
		}
	}
	rounds, planned, err := planUndo(ctx, w, o)
	if err != nil {
		return nil, err
	}
	if o.DryRun {
		return planned, nil
	}
	done := &history.Operations{Operations: []history.Operation{}}
	for n := range rounds {
		round, err := undoOne(ctx, w, o)
		if err != nil && n > 0 {
			return nil, &fault.Error{
				Code:    store.Explain(err).Code,
				Message: fmt.Sprintf("undid %d of %d changes: %v", n, rounds, err),
				Next:    fault.Do(fault.ListOperations),
				Err:     err,
			}
		}
		if err != nil {
			return nil, err
		}
		done.Operations = slices.Concat(round.Operations, done.Operations)
	}
	return done, nil
}

// planUndo returns the operations that are to be undone, and in how many rounds:
// a group counts once. If one of them needs a purged file, it returns an error
// before anything changes.
func planUndo(ctx context.Context, w *store.Store, o history.UndoOptions) (rounds int, planned *history.Operations, err error) {
	type plan struct {
		rounds     int
		operations *history.Operations
	}
	p, err := store.Read(ctx, w, func(v *store.View) (p plan, err error) {
		p.operations = &history.Operations{Operations: []history.Operation{}}
		id, err := v.LoggedSession(o.In)
		if err != nil {
			return p, err
		}
		log, err := operation.Open(v.Root)
		if err != nil {
			return p, err
		}
		defer log.Close()
		var failed error
		newest := v.Operations(log, &failed)
		if o.To != 0 && len(operation.Find(newest, []events.Seq{o.To})) == 0 {
			return p, cmp.Or(failed, error(&fault.Error{Code: fault.NotFound, Message: fmt.Sprintf("no operation %d", o.To), Next: fault.Do(fault.ListOperations)}))
		}
		groups := map[events.Seq]bool{}
		for target := range operation.AllUndoable(newest, id, lost(v)) {
			counted := o.In == "" && groups[target.Group]
			if o.To != 0 && target.Seq <= o.To || o.To == 0 && p.rounds == max(o.Count, 1) && !counted {
				break
			}
			if purged(v, target.As) {
				return p, newer(target.Operation, "its files were deleted from the trash")
			}
			if !counted {
				p.rounds++
			}
			groups[target.Group] = target.Group != 0
			p.operations.Operations = append(p.operations.Operations, store.OperationOf(target.Operation, false))
		}
		if p.rounds == 0 && failed == nil {
			return p, nothingTo("undo")
		}
		return p, failed
	})
	return p.rounds, p.operations, err
}

func undoOne(ctx context.Context, w *store.Store, o history.UndoOptions) (*history.Operations, error) {
	return takeBack(ctx, w, operation.Undo, o, func(t *takingBack, v *store.View, newest iter.Seq[*operation.Operation], id string) error {
		if t.of != 0 {
			t.targets = operation.UndoablesOf(newest, t.of, lost(v))
			return nil
		}
		if t.targets, t.group = operation.Undoables(newest, id, lost(v)); len(t.targets) == 0 {
			return nothingTo("undo")
		}
		if first := t.targets[0]; purged(v, first.As) {
			return newer(first.Operation, "its files were deleted from the trash")
		}
		return nil
	})
}

// Redo repeats the operation, with its group, that the newest undo reverted.
func Redo(ctx context.Context, w *store.Store, o history.UndoOptions) (*history.Operations, error) {
	return takeBack(ctx, w, operation.Redo, o, func(t *takingBack, _ *store.View, newest iter.Seq[*operation.Operation], id string) error {
		var newer *operation.Operation
		if t.of != 0 {
			t.targets = operation.RedoablesOf(newest, t.of)
		} else {
			t.targets, newer = operation.Redoables(newest, id)
		}
		switch {
		case newer != nil:
			return nothingTo(fmt.Sprintf("redo: operation %d (%s) came after the last undo", newer.Seq, newer.Verb))
		case len(t.targets) == 0 && t.of == 0:
			return nothingTo("redo")
		}
		var undone []events.Seq
		for _, target := range t.targets {
			undone = append(undone, target.Undoes)
		}
		t.original = operation.Find(newest, undone)
		return nil
	})
}

func nothingTo(do string) error {
	return &fault.Error{Code: fault.Refused, Message: "nothing to " + do, Next: fault.Do(fault.ListOperations)}
}

// lost returns a function that reports whether a session or agent that an
// operation created no longer exists in v, so that undo skips the operation.
// Undo does not skip, but refuses, an operation whose files were purged from
// the trash; see purged.
func lost(v *store.View) func(*operation.Operation) bool {
	return func(op *operation.Operation) bool {
		return slices.ContainsFunc(op.Changes, func(c operation.Change) bool {
			return c.Is != nil && (store.SessionOf(c.File) != "" || store.IsAgent(c.File)) && !v.IsThere(c.File)
		})
	}
}

// purged reports whether a session or an agent that an operation moved to the
// trash was deleted there.
func purged(v *store.View, op *operation.Operation) bool {
	return slices.ContainsFunc(op.Changes, func(c operation.Change) bool {
		return c.Is == nil && (store.SessionOf(c.File) != "" || store.IsAgent(c.File)) && !v.IsThere(c.Moved)
	})
}
