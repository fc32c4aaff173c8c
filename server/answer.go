package server

import (
	"errors"
	"net/http"
	"slices"
	"strings"

	"github.com/bough-dev/bough/convert/content"
	"github.com/bough-dev/bough/internal/buffer"
	"github.com/bough-dev/bough/internal/rawjson"
	"github.com/bough-dev/bough/server/internal/exchange"
	"github.com/bough-dev/bough/server/internal/native"
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
func explain(err error) *exchange.Failure {
	if f := exchange.Explain(err); f != nil {
		return f
	}
	var invalid *content.Error
	f := &exchange.Failure{}
	switch {
	case errors.As(err, &invalid):
		f.Status, f.Message, f.Detail = http.StatusBadRequest, "the message is invalid: "+invalid.Error(), "see the format's own description"
		return f
	case errors.Is(err, workspace.ErrTooLarge):
		f.Status, f.Message, f.Detail = http.StatusRequestEntityTooLarge, plainName(err.Error()), string(fault.Refused)
		return f
	case errors.Is(err, buffer.ErrClosed):
		f.Status, f.Message, f.Detail = http.StatusServiceUnavailable, "the server is stopping", err.Error()
		return f
	}
	e := workspace.Explain(err)
	f.Status, f.Message, f.Detail = statusOf(e.Code), plainName(e.Message), string(e.Code)
	switch {
	case e.Code == fault.ReadOnly:
		f.Detail += ": a copy of it is a session that can be continued"
	case e.Hint != "":
		f.Detail += ": " + e.Hint
	}
	return f
}

// namePrefix is the prefix of names that a workspace must resolve by UUID only.
const namePrefix = "urn:uuid:"

// plainName returns a message of a workspace with UUIDs as in the request.
func plainName(msg string) string { return strings.ReplaceAll(msg, namePrefix, "") }

// write sends an answer.
func write(w http.ResponseWriter, a *answer) {
	if data, ok := a.data.(exchange.Pieces); ok {
		exchange.Send(w, a.status, slices.Concat(exchange.Pieces{[]byte(`{"code":0,"data":`)}, data, exchange.Pieces{[]byte(`,"msg":""}`)}))
		return
	}
	exchange.Send(w, a.status, exchange.Pieces{rawjson.Compact(envelope{Data: a.data, Msg: a.msg})})
}

// writeFailure sends the failure for an error, in the form of the API of the request.
func writeFailure(w http.ResponseWriter, r *http.Request, err error) {
	if native.Owns(r) {
		native.WriteFailure(w, err)
		return
	}
	f := explain(err)
	exchange.SetFailureHeaders(w, f.Status)
	exchange.Send(w, f.Status, exchange.Pieces{rawjson.Compact(envelope{Code: f.Status, Msg: f.Message, Error: f.Detail})})
}
