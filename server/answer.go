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

	"github.com/bough-dev/bough/internal/buffer"
	"github.com/bough-dev/bough/internal/content"
	"github.com/bough-dev/bough/internal/rawjson"
	"github.com/bough-dev/bough/workspace"
)

// An envelope is every answer that is JSON.
type envelope struct {
	Code  int    `json:"code"`
	Data  any    `json:"data,omitempty"`
	Msg   string `json:"msg"`
	Error string `json:"error,omitempty"`
}

// An answer is what a handler returns: a status and the data of the envelope.
type answer struct {
	status int
	data   any    // nil for none
	msg    string // "" for none
}

func ok(data any) *answer { return &answer{status: http.StatusOK, data: data} }

// A failure is a status with what a person is told of it, and the detail.
type failure struct {
	status int
	msg    string
	detail string
}

func (f *failure) Error() string { return f.msg + ": " + f.detail }

// wrong is the failure of a request that cannot be carried out as it is.
func wrong(msg string, detail any) error {
	return &failure{http.StatusBadRequest, msg, fmt.Sprint(detail)}
}

// statusOf returns what a code of a workspace is over HTTP.
func statusOf(c workspace.Code) int {
	switch c {
	case workspace.Usage:
		return http.StatusBadRequest
	case workspace.NotFound:
		return http.StatusNotFound
	case workspace.Refused:
		return http.StatusForbidden
	case workspace.Ambiguous, workspace.ReadOnly, workspace.HasChildren, workspace.ToolCut:
		return http.StatusConflict
	case workspace.Locked, workspace.Busy:
		return http.StatusServiceUnavailable
	}
	return http.StatusInternalServerError
}

// explain makes any error a failure.
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
		return &failure{http.StatusBadRequest, "the message cannot be taken: " + said.Error(), "see the format's own description"}
	case errors.As(err, &large):
		return &failure{http.StatusRequestEntityTooLarge, "the body is too large", fmt.Sprintf("at most %d bytes are taken", large.Limit)}
	case errors.Is(err, workspace.ErrTooLarge):
		return &failure{http.StatusRequestEntityTooLarge, plainName(err.Error()), string(workspace.Refused)}
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
	case e.Code == workspace.ReadOnly:
		f.detail += ": a copy of it is a session to go on in"
	case e.Hint != "" && !strings.Contains(e.Hint, "'bough "): // which is for people at a shell
		f.detail += ": " + e.Hint
	}
	return f
}

// namePrefix begins the names by which the server tells a workspace that it means a
// UUID and nothing else.
const namePrefix = "urn:uuid:"

// plainName returns a message of a workspace with UUIDs as the client gave them.
func plainName(msg string) string { return strings.ReplaceAll(msg, namePrefix, "") }

// write sends an answer.
func write(w http.ResponseWriter, a *answer) {
	if data, ok := a.data.(pieces); ok {
		send(w, a.status, slices.Concat(pieces{[]byte(`{"code":0,"data":`)}, data, pieces{[]byte(`,"msg":""}`)}))
		return
	}
	send(w, a.status, pieces{rawjson.Compact(envelope{Data: a.data, Msg: a.msg})})
}

// writeFailure sends what went wrong.
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

// Pieces are JSON, one after the other. They need not be put together or looked through
// again, which takes its time where a conversation is long.
type pieces [][]byte

// send writes a document. That the client is gone is no concern of anybody.
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

// quote returns a text of a client as it may stand in an answer: short and in quotes.
func quote(s string) string {
	const most = 100
	if len(s) > most {
		s = strings.ToValidUTF8(s[:most], "") + "…"
	}
	return strconv.Quote(s)
}
