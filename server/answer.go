package server

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/bough-dev/bough/convert/content"
	"github.com/bough-dev/bough/internal/buffer"
	"github.com/bough-dev/bough/internal/rawjson"
	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/fault"
)

// An envelope is the JSON object of every answer.
type envelope struct {
	Code  int    `json:"code"`
	Data  any    `json:"data,omitempty"`
	Msg   string `json:"msg"`
	Error string `json:"error,omitempty"`
}

// An answer is the result of a handler: a status and the data of the envelope.
type answer struct {
	status int
	data   any    // nil for none
	msg    string // "" for none
}

func ok(data any) *answer { return &answer{status: http.StatusOK, data: data} }

// A failure is an error with an HTTP status, a message for a person, and a detail.
type failure struct {
	status int
	msg    string
	detail string
}

func (f *failure) Error() string { return f.msg + ": " + f.detail }

// wrong returns the failure for an invalid request.
func wrong(msg string, detail any) error {
	return &failure{http.StatusBadRequest, msg, fmt.Sprint(detail)}
}

// statusOf returns the HTTP status of a workspace's error code.
func statusOf(c fault.Code) int {
	switch c {
	case fault.Usage:
		return http.StatusBadRequest
	case fault.NotFound:
		return http.StatusNotFound
	case fault.Refused:
		return http.StatusForbidden
	case fault.Ambiguous, fault.ReadOnly, fault.HasChildren, fault.ToolCut:
		return http.StatusConflict
	case fault.Locked, fault.Busy:
		return http.StatusServiceUnavailable
	}
	return http.StatusInternalServerError
}

// explain converts any error to a failure.
func explain(err error) *failure {
	var (
		own   *failure
		large *http.MaxBytesError
		said  *content.Error
	)
	switch {
	case errors.As(err, &own):
		return own
	case errors.As(err, &said):
		return &failure{http.StatusBadRequest, "the message is invalid: " + said.Error(), "see the format's own description"}
	case errors.As(err, &large):
		return &failure{http.StatusRequestEntityTooLarge, "the body is too large", fmt.Sprintf("at most %d bytes are accepted", large.Limit)}
	case errors.Is(err, workspace.ErrTooLarge):
		return &failure{http.StatusRequestEntityTooLarge, plainName(err.Error()), string(fault.Refused)}
	case errors.Is(err, os.ErrDeadlineExceeded):
		return &failure{http.StatusRequestTimeout, "the body took too long to arrive", err.Error()}
	case errors.Is(err, buffer.ErrClosed):
		return &failure{http.StatusServiceUnavailable, "the server is stopping", err.Error()}
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return &failure{http.StatusServiceUnavailable, "the server is stopping; nothing was changed", err.Error()}
	}
	e := workspace.Explain(err)
	f := &failure{statusOf(e.Code), plainName(e.Message), string(e.Code)}
	switch {
	case e.Code == fault.ReadOnly:
		f.detail += ": a copy of it is a session that can be continued"
	case e.Hint != "":
		f.detail += ": " + e.Hint
	}
	return f
}

// namePrefix is the prefix of names that a workspace must resolve by UUID only.
const namePrefix = "urn:uuid:"

// plainName returns a message of a workspace with UUIDs as in the request.
func plainName(msg string) string { return strings.ReplaceAll(msg, namePrefix, "") }

// write sends an answer.
func write(w http.ResponseWriter, a *answer) {
	if data, ok := a.data.(pieces); ok {
		send(w, a.status, slices.Concat(pieces{[]byte(`{"code":0,"data":`)}, data, pieces{[]byte(`,"msg":""}`)}))
		return
	}
	send(w, a.status, pieces{rawjson.Compact(envelope{Data: a.data, Msg: a.msg})})
}

// writeFailure sends a failure.
func writeFailure(w http.ResponseWriter, f *failure) {
	switch f.status {
	case http.StatusUnauthorized:
		w.Header().Set("WWW-Authenticate", "Bearer")
	case http.StatusServiceUnavailable:
		w.Header().Set("Retry-After", "1")
	case http.StatusRequestTimeout:
		w.Header().Set("Connection", "close")
	}
	send(w, f.status, pieces{rawjson.Compact(envelope{Code: f.status, Msg: f.msg, Error: f.detail})})
}

// pieces is a JSON document in pieces. They are not joined or validated again
// before they are sent, which would be slow for a long conversation.
type pieces [][]byte

// send sends a document. It ignores errors, because the client has disconnected
// then.
func send(w http.ResponseWriter, status int, body pieces) {
	size := 0
	for _, piece := range body {
		size += len(piece)
	}
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Content-Length", strconv.Itoa(size))
	w.WriteHeader(status)
	for _, piece := range body {
		w.Write(piece)
	}
}

// quote quotes a text of a client for an answer, shortened if necessary.
func quote(s string) string {
	const maxLength = 100
	if len(s) > maxLength {
		s = strings.ToValidUTF8(s[:maxLength], "") + "…"
	}
	return strconv.Quote(s)
}
