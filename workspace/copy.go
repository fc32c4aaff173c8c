package workspace

import (
	"context"
	"errors"
	"fmt"

	"github.com/bough-dev/bough/checkpoint"
	"github.com/bough-dev/bough/internal/operation"
	"github.com/bough-dev/bough/session"
)

// CopyLine makes a new branch session of all messages of a line, with all its
// branches, each message as it is. The head stays where it is. A line of more than
// most messages, unless that is 0, is refused with [ErrTooLarge].
func (w *Workspace) CopyLine(ctx context.Context, name string, most int) (l *LineEntry, err error) {
	err = w.write(ctx, operation.Operation{Verb: "copy", Args: args{"session": name}}, func(tx *Tx) error {
		p, err := tx.View.place(name, false)
		if err != nil {
			return err
		}
		tx.op.Args["session"] = p.id()
		if most > 0 && p.Len() > most {
			return &Error{
				Code:    Refused,
				Message: fmt.Sprintf("%s has %d messages, and a copy takes at most %d", p.id(), p.Len(), most),
				Hint:    "'bough branch' takes a path of any length",
				Err:     ErrTooLarge,
			}
		}
		if err := p.unique(p.every()); err != nil {
			return err
		}
		spec, err := tx.View.spec(p, checkpoint.Spec{Kind: session.Branch})
		if err != nil {
			return err
		}
		d, err := checkpoint.Copy(p.Tree, spec, tx.View.reopen)
		if err != nil {
			return err
		}
		if err := tx.create(d); err != nil {
			return err
		}
		l, err = tx.View.lineEntryOf(d.ID)
		return err
	})
	return l, err
}

// ErrTooLarge is behind the error for what is larger than its caller allows.
var ErrTooLarge = errors.New("too large")
