// Package exchange decodes HTTP requests and encodes answers, for each HTTP interface of the
// server.
package exchange

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strconv"
	"strings"

	"github.com/bough-dev/bough/workspace/fault"
)

// A Failure is an error with an HTTP status, a message for a person, and a detail.
type Failure struct {
	Status  int
	Message string
	Detail  string
}

func (f *Failure) Error() string { return f.Message + ": " + f.Detail }

// Fail returns a failure.
func Fail(status int, message, detail string) error { return &Failure{status, message, detail} }

// Wrong returns the failure for an invalid request.
func Wrong(message string, detail any) error {
	return Fail(http.StatusBadRequest, message, fmt.Sprint(detail))
}

// Explain returns the failure in err, or the one for an error of reading a body or of a
// context that is done. It returns nil for any other error.
func Explain(err error) *Failure {
	var (
		own   *Failure
		large *http.MaxBytesError
	)
	switch {
	case errors.As(err, &own):
		return own
	case errors.As(err, &large):
		return &Failure{http.StatusRequestEntityTooLarge, "the body is too large", fmt.Sprintf("at most %d bytes are accepted", large.Limit)}
	case errors.Is(err, os.ErrDeadlineExceeded):
		return &Failure{http.StatusRequestTimeout, "the body took too long to arrive", err.Error()}
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return &Failure{http.StatusServiceUnavailable, "the server is stopping; nothing was changed", err.Error()}
	}
	return nil
}

// Quote quotes a text of a client for an answer, shortened if necessary.
func Quote(s string) string {
	const maxLength = 100
	if len(s) > maxLength {
		s = strings.ToValidUTF8(s[:maxLength], "") + "…"
	}
	return strconv.Quote(s)
}

// StatusOf returns the HTTP status of a code.
func StatusOf(c fault.Code) int {
	switch c {
	case fault.Usage:
		return http.StatusBadRequest
	case fault.NotFound:
		return http.StatusNotFound
	case fault.Ambiguous, fault.ReadOnly, fault.HasChildren, fault.ToolCut, fault.Refused:
		return http.StatusConflict
	case fault.Locked, fault.Busy:
		return http.StatusServiceUnavailable
	}
	return http.StatusInternalServerError
}

// CodeOf returns the code of a failure of the request itself.
func CodeOf(status int) fault.Code {
	switch status {
	case http.StatusNotFound:
		return fault.NotFound
	case http.StatusUnauthorized, http.StatusForbidden:
		return fault.Refused
	case http.StatusServiceUnavailable:
		return fault.Busy
	case http.StatusInternalServerError:
		return fault.Failed
	}
	return fault.Usage
}
