package store

import (
	"errors"
	"fmt"
	"iter"

	"github.com/bough-dev/bough/internal/operation"
	"github.com/bough-dev/bough/internal/plural"
	"github.com/bough-dev/bough/internal/sessionid"
	"github.com/bough-dev/bough/workspace/fault"
	"github.com/bough-dev/bough/workspace/history"
)

// Args are the arguments of an operation, by name.
type Args = map[string]any

// OperationOf returns the result for an operation.
func OperationOf(op *operation.Operation, undone bool) history.Operation {
	return history.Operation{
		Seq: op.Seq, Time: TimeOf(op.Time), Verb: op.Verb, Args: op.Args, Sessions: List(op.Sessions),
		Undoes: op.Undoes, Undone: undone, Group: op.Group,
	}
}

// Operations returns the operations of a log, newest first, except one in
// progress. It stores a read error in failed and adds a note for a malformed
// line.
func (v *View) Operations(log *operation.Log, failed *error) iter.Seq[*operation.Operation] {
	return func(yield func(*operation.Operation) bool) {
		damaged := 0
		defer func() {
			if damaged > 0 {
				v.Store.Opts.Note(fmt.Sprintf("%s in the log of operations cannot be read", plural.Of(damaged, "line")))
			}
		}()
		for line, err := range log.Newest() {
			var damage *operation.DamageError
			switch {
			case errors.As(err, &damage):
				damaged++
			case err != nil:
				*failed = err
				return
			case !line.Settled && len(line.Changes) > 0 && !v.Made(line.Changes[0]):
			case !yield(line.Operation):
				return
			}
		}
	}
}

// LoggedSession resolves the name of a session, which may be the id of a
// session that no longer exists. It returns "" for "".
func (v *View) LoggedSession(name string) (string, error) {
	if name == "" {
		return "", nil
	}
	id, err := v.Resolve(name)
	if err != nil && Explain(err).Code == fault.NotFound && sessionid.Valid(name) {
		return name, nil
	}
	return id, err
}
