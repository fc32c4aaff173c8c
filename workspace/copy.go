package workspace

import (
	"context"
	"errors"
	"fmt"

	"github.com/bough-dev/bough/checkpoint"
	"github.com/bough-dev/bough/internal/operation"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace/fault"
	"github.com/bough-dev/bough/workspace/internal/store"
	"github.com/bough-dev/bough/workspace/lines"
)

// Copy creates a branch session with all messages and branches of a line. The
// head does not move. If the line has more than limit messages, the error wraps
// [ErrTooLarge]; zero means no limit.
func (ln Line) Copy(ctx context.Context, limit int) (*lines.Entry, error) {
	op := operation.Operation{Verb: "copy", Args: store.Args{"session": ln.name}}
	return store.Update(ctx, ln.w.store, op, func(tx *store.Tx) (*lines.Entry, error) {
		p, err := tx.View.Place(ln.name, false)
		if err != nil {
			return nil, err
		}
		tx.Op.Args["session"] = p.SessionID()
		if limit > 0 && p.Len() > limit {
			return nil, &fault.Error{
				Code:    fault.Refused,
				Message: fmt.Sprintf("%s has %d messages; at most %d can be copied", p.SessionID(), p.Len(), limit),
				Next:    fault.Do(fault.BranchInstead),
				Err:     ErrTooLarge,
			}
		}
		if err := p.Unique(p.Every()); err != nil {
			return nil, err
		}
		spec, err := tx.View.Spec(p, checkpoint.Spec{Kind: session.Branch})
		if err != nil {
			return nil, err
		}
		d, err := checkpoint.Copy(p.Tree, spec, tx.View.Reopen)
		if err != nil {
			return nil, err
		}
		if err := tx.Create(d); err != nil {
			return nil, err
		}
		return lineEntryOf(tx.View, d.ID)
	})
}

// ErrTooLarge is wrapped by errors for data that exceeds the caller's limit.
var ErrTooLarge = errors.New("too large")
