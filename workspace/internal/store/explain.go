package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/bough-dev/bough/checkpoint"
	"github.com/bough-dev/bough/index"
	"github.com/bough-dev/bough/internal/lookup"
	"github.com/bough-dev/bough/internal/writelock"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace/fault"
	"github.com/bough-dev/bough/workspace/restores"
)

// Explain gives an error its code and hint.
func Explain(err error) *fault.Error {
	var (
		own     *fault.Error
		damage  *session.DamageError
		missing *index.MissingError
		ring    *index.CycleError
		cut     *checkpoint.ToolCutError
		again   *checkpoint.PickError
		held    *writelock.HeldError
		several *fault.AmbiguousError
		unknown *fault.UnknownError
		clashes *restores.ConflictError
		pathErr *fs.PathError
		explain = func(code fault.Code, hint string, next ...fault.Step) *fault.Error {
			e := &fault.Error{Code: code, Message: err.Error(), Hint: hint, Err: err}
			if len(next) > 0 {
				e.Next = next[0]
			}
			return e
		}
		isEscape = errors.As(err, &pathErr) && strings.Contains(pathErr.Err.Error(), "escapes")
	)
	switch {
	case err == nil:
		return nil
	case errors.As(err, &own):
		return own
	case errors.As(err, &several) && several.What == "head": // of machines
		return explain(fault.Ambiguous, "name the session and the message")
	case errors.As(err, &several):
		return explain(fault.Ambiguous, "use more of the id")
	case errors.As(err, &unknown):
		return explain(fault.Usage, unknownHint(unknown))
	case errors.As(err, &clashes):
		return explain(fault.Refused, "", fault.Do(fault.SolveConflicts))
	case lostInPack(err):
		return explain(fault.Damaged, "a repair restores the messages that other files have", fault.Do(fault.ReadPartial))
	case errors.As(err, &damage):
		return explain(fault.Damaged, "the other sessions can be used", fault.Do(fault.Examine))
	case errors.As(err, &missing):
		return explain(fault.Damaged, "restore the file", fault.Do(fault.ReadPartial))
	case errors.As(err, &ring):
		return explain(fault.Damaged, "the other sessions can be used", fault.Do(fault.Examine))
	case errors.As(err, &cut):
		return explain(fault.ToolCut, cutHint(cut))
	case errors.As(err, &again):
		return explain(fault.Refused, "a model refuses a conversation with the same call twice; pick onto a message before it")
	case errors.As(err, &held):
		return explain(fault.Locked, "try again when it is done")
	case IsChanged(err):
		return explain(fault.Busy, "nothing was changed, and the other program's data is intact; try again")
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return &fault.Error{Code: fault.Failed, Message: "stopped; nothing was changed", Err: err}
	case isEscape:
		return explain(fault.Refused, "a link leads out of the workspace; bough does not follow it")
	case errors.Is(err, fs.ErrPermission):
		return explain(fault.Refused, "check the owner and the permissions of the file")
	}
	return explain(fault.Failed, "")
}

// Explained returns err as a *[fault.Error], nil for nil.
func Explained(err error) error {
	if e := Explain(err); e != nil {
		return e
	}
	return nil
}

func cutHint(cut *checkpoint.ToolCutError) string {
	switch {
	case cut.Before == "" && cut.After == "":
		return "no other message of the path is possible"
	case cut.Before == "":
		return fmt.Sprintf("the nearest possible message is %s, after it", cut.After)
	case cut.After == "":
		return fmt.Sprintf("the nearest possible message is %s, before it", cut.Before)
	}
	return fmt.Sprintf("the nearest possible messages are %s before it and %s after it", cut.Before, cut.After)
}

func unknownHint(e *fault.UnknownError) string { return e.What + "s: " + strings.Join(e.Choices, ", ") }

// NoSuch returns the error for a name that refers to nothing. The next step is to find the
// session.
func NoSuch(what, name string) *fault.Error {
	return lookup.Missing(what, name, fault.Do(fault.FindSession))
}

// IsNotFound reports whether err says that something does not exist.
func IsNotFound(err error) bool {
	e := Explain(err)
	return e != nil && e.Code == fault.NotFound
}
