package explore

import (
	"context"
	"errors"
	"fmt"

	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/fault"
)

// A Problem identifies a failure after which the user can continue in a certain
// way.
type Problem string

const (
	Interrupted  Problem = "interrupted"   // the run was interrupted; Resume continues it
	Cancelled    Problem = "cancelled"     // the exploration was cancelled; Evaluate evaluates the existing results
	NotStopped   Problem = "not_stopped"   // cancellation was requested, but another process is still running
	NotOver      Problem = "not_over"      // the exploration has not ended; Resume continues it, Cancel ends it
	NotEvaluated Problem = "not_evaluated" // the results are stored; Resume or Evaluate evaluates them
	NoRunner     Problem = "no_runner"     // the Request has neither a command nor a model
	NoReply      Problem = "no_reply"      // the Request has no strategies, and the message is not a reply
)

// An Error is a failure with a [Problem]. It wraps a [fault.Error], which has
// the code and the message.
type Error struct {
	Problem     Problem
	Exploration string // its id, "" if none was created
	Err         *fault.Error
}

func (e *Error) Error() string { return e.Err.Error() }

// Unwrap returns e.Err.
func (e *Error) Unwrap() error { return e.Err }

func problem(p Problem, id string, err *fault.Error) *Error { return &Error{p, id, err} }

func notOver(e *Exploration) error {
	return problem(NotOver, e.ID, &fault.Error{Code: fault.Refused, Message: "the exploration " + e.ID + " has not ended"})
}

func notEvaluated(e *Exploration, err error) error {
	known := *workspace.Explain(err)
	if errors.Is(err, context.Canceled) {
		known.Message = "the exploration was stopped before it was evaluated"
	}
	known.Hint, known.Next = "", fault.Step{}
	return problem(NotEvaluated, e.ID, &known)
}

func cancelled(e *Exploration) error {
	return problem(Cancelled, e.ID, &fault.Error{Code: fault.Failed, Message: "the exploration " + e.ID + " was cancelled", Err: errCancelled})
}

func stopped(e *Exploration, err error) error {
	ended := 0
	for _, b := range e.Branches {
		if b.Status == Completed || b.Status == Failed {
			ended++
		}
	}
	return problem(Interrupted, e.ID, &fault.Error{
		Code: fault.Failed, Message: fmt.Sprintf("the exploration was stopped; %d of %d branches have ended", ended, len(e.Branches)), Err: err,
	})
}
