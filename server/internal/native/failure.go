package native

import (
	"errors"
	"net/http"

	"github.com/bough-dev/bough/internal/rawjson"
	"github.com/bough-dev/bough/server/internal/exchange"
	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/fault"
	"github.com/bough-dev/bough/workspace/restores"
)

// A failure is the error of the command.
type failure struct {
	status     int
	Code       fault.Code          `json:"code"`
	Message    string              `json:"message"`
	Hint       string              `json:"hint"`
	Candidates []fault.Candidate   `json:"candidates,omitempty"`
	Conflicts  []restores.Conflict `json:"conflicts,omitempty"`
}

// WriteFailure sends the failure for an error.
func WriteFailure(w http.ResponseWriter, err error) {
	f := explain(err)
	exchange.SetFailureHeaders(w, f.status)
	exchange.Send(w, f.status, exchange.Pieces{rawjson.Compact(map[string]any{"error": f})})
}

// explain converts any error to a failure.
func explain(err error) *failure {
	e := workspace.Explain(err)
	var turn *fault.Error // one that failed or was stopped, or an exploration
	if e.Code == fault.Failed && !(errors.As(err, &turn) && (turn.Next.Do != "" || turn.Hint != "")) || errors.As(err, new(*exchange.Failure)) {
		return explainRequest(err, e)
	}
	f := &failure{status: exchange.StatusOf(e.Code), Code: e.Code, Message: e.Message, Hint: hint(e)}
	var several *fault.AmbiguousError
	if errors.As(err, &several) {
		f.Candidates = several.Candidates
	}
	var clashes *restores.ConflictError
	if errors.As(err, &clashes) {
		f.Conflicts = clashes.Conflicts
	}
	return f
}

// explainRequest converts an error that has no code of its own, e, to a failure.
func explainRequest(err error, e *fault.Error) *failure {
	if f := exchange.Explain(err); f != nil {
		return &failure{status: f.Status, Code: exchange.CodeOf(f.Status), Message: f.Message, Hint: f.Detail}
	}
	if errors.Is(err, workspace.ErrTooLarge) {
		return &failure{status: http.StatusRequestEntityTooLarge, Code: fault.Usage, Message: err.Error(), Hint: string(fault.Refused)}
	}
	detail := string(fault.Failed)
	if e.Hint != "" {
		detail += ": " + e.Hint
	}
	return &failure{status: http.StatusInternalServerError, Code: fault.Failed, Message: e.Message, Hint: detail}
}
