package view

import (
	"context"
	"errors"

	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/fault"
)

// Problem returns the sentence that the window shows for an error, "" for nil.
func Problem(err error) string {
	e := workspace.Explain(err)
	switch {
	case e == nil:
		return ""
	case errors.Is(err, context.Canceled):
		return "Stopped. The text so far is kept."
	case errors.Is(err, fault.Busy):
		return "The assistant is answering. Steer it, or wait for its reply."
	case errors.Is(err, fault.Locked):
		return "Another program is writing to the workspace. Try again."
	case errors.Is(err, fault.HasChildren):
		return "Other conversations were copied from it in the meantime."
	case e.Hint != "":
		return e.Message + " (" + e.Hint + ")"
	}
	return e.Message
}
