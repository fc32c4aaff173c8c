package reverter

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/bough-dev/bough/internal/operation"
	"github.com/bough-dev/bough/workspace/fault"
	"github.com/bough-dev/bough/workspace/internal/folders"
	"github.com/bough-dev/bough/workspace/internal/store"
	"github.com/bough-dev/bough/workspace/restores"
)

// A lockError reports that the folder with an id must be locked, which must be done before the
// workspace is.
type lockError struct{ id string }

func (e *lockError) Error() string { return "the folder " + e.id + " is not locked" }

// hold locks a folder in place of the one that is locked.
func (t *takingBack) hold(ctx context.Context, w *store.Store, id string) (err error) {
	t.release()
	t.held, err = folders.Hold(ctx, w, id, t.verb)
	return err
}

// ctx returns the context for changes: that of the folder that is locked, else ctx.
func (t *takingBack) ctx(ctx context.Context) context.Context {
	if t.held != nil {
		return t.held.Ctx
	}
	return ctx
}

func (t *takingBack) release() {
	if t.held != nil {
		t.held.Release()
		t.held = nil
	}
}

// completeRestores completes interrupted restores. Until then, the log does not have their
// operations, and an older one would be the newest. It refuses one whose journal is damaged. One
// whose folder is gone is noted.
func completeRestores(ctx context.Context, w *store.Store, verb string) error {
	if !store.Is(w.Dir) {
		return nil
	}
	_, left, err := folders.Complete(ctx, w, verb)
	for _, u := range left {
		if u.Damage != nil {
			return u.Refuse()
		}
		w.Opts.Note(u.Incomplete())
	}
	return err
}

// revertFiles restores the files that op changed. If conflicts is empty, those that were changed
// since make it refuse.
func revertFiles(tx *store.Tx, h *folders.Held, op *operation.Operation, conflicts string) error {
	if len(tx.Op.Sessions) == 0 {
		tx.Op.Sessions = slices.Clone(op.Sessions)
	}
	err := h.Revert(tx, op.Files, conflicts)
	if err == nil {
		return nil
	}
	if clashes, ok := errors.AsType[*restores.ConflictError](err); ok {
		return &fault.Error{
			Code:    fault.Refused,
			Message: fmt.Sprintf("cannot undo operation %d (%s): files in %s were changed since", op.Seq, op.Verb, clashes.Dir),
			Hint:    "nothing was changed", Next: fault.Do(fault.SolveConflicts), Err: err,
		}
	}
	if e := store.Explain(err); e.Code == fault.Refused {
		return &fault.Error{Code: e.Code, Message: fmt.Sprintf("cannot undo operation %d (%s): %s", op.Seq, op.Verb, e.Message), Hint: e.Hint, Next: e.Next, Err: err}
	}
	return err
}
