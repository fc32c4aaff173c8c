// Package pipe is how bough uses models and tools that live in another program, so that
// only who needs them pays for what they link. That program, the companion, is started
// with its standard input and output as pipes, serves any number of requests, several at
// once, and ends when its input does.
//
// What goes through them are lines, each a JSON object. The first line that the companion
// writes says who it is:
//
//	{"program": "bough-models", "version": "0.1.0"}
//
// A companion of another version than that of the one who started it is not used. Then
// there are requests on its standard input, each with an id, a number above 0 that no other
// request has:
//
//	{"id": 1, "do": "model", "model": "openai:NAME"}                 is there such a model?
//	{"id": 2, "do": "ask", "model": "openai:NAME", "request": {...}} an agent.Request
//	{"id": 3, "do": "open", "config": "..."}                         start tools; base64
//	{"id": 4, "do": "list", "tools": 3}                              those that request 3 opened
//	{"id": 5, "do": "call", "tools": 3, "call": {...}}               an agent.Call
//	{"id": 2, "do": "cancel"}                                        nobody waits for request 2
//
// and answers on its standard output, in any order:
//
//	{"id": 2, "text": "a piece of"}                                  of the reply, as it comes
//	{"id": 2, "done": true, "reply": {"text": "...", "calls": [...]}}
//	{"id": 4, "done": true, "list": [{"name": "...", "description": "...", "schema": {...}, "writes": true}]}
//	{"id": 5, "done": true, "result": {"text": "...", "failed": false}}
//	{"id": 1, "done": true}
//	{"id": 5, "done": true, "error": "why there is nothing else"}
//
// Each request but cancel gets exactly one answer that is done, and nothing after it. A
// line that is no request gets one with the id 0. Tools that were opened live as long as
// the companion. JSON has no NaN and no Infinity, which session files may have; null is
// sent for them.
//
// What the companion writes to its standard error is for people, and quoted when it fails.
package pipe

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/bough-dev/bough/agent"
)

// Program is the name of the companion.
const Program = "bough-models"

// A hello is the first line of a companion.
type hello struct {
	Program string `json:"program"`
	Version string `json:"version"`
}

// What a request asks for.
const (
	doModel  = "model"
	doAsk    = "ask"
	doOpen   = "open"
	doList   = "list"
	doCall   = "call"
	doCancel = "cancel"
)

// A request is a line to the companion.
type request struct {
	ID      int64          `json:"id"`
	Do      string         `json:"do"`
	Model   string         `json:"model,omitempty"`
	Request *agent.Request `json:"request,omitempty"`
	Config  []byte         `json:"config,omitempty"`
	Tools   int64          `json:"tools,omitempty"` // the id of a request that opened them
	Call    *agent.Call    `json:"call,omitempty"`
}

// An answer is a line of the companion, but for the first.
type answer struct {
	ID     int64   `json:"id"`
	Text   string  `json:"text,omitempty"`
	Done   bool    `json:"done,omitempty"`
	Reply  *reply  `json:"reply,omitempty"`
	List   []tool  `json:"list,omitempty"`
	Result *result `json:"result,omitempty"`
	Error  string  `json:"error,omitempty"`
}

type reply struct {
	Text  string       `json:"text"`
	Calls []agent.Call `json:"calls,omitempty"`
}

type tool struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Schema      json.RawMessage `json:"schema"`
	Writes      bool            `json:"writes"`
}

type result struct {
	Text   string `json:"text"`
	Failed bool   `json:"failed"`
}

// encode returns v as a line.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return b.Bytes(), err
}

// strict returns r with content, metadata and schemas that are JSON.
func strict(r *agent.Request) (*agent.Request, error) {
	with := *r
	with.Messages = make([]agent.Message, len(r.Messages))
	for i, m := range r.Messages {
		m.Content, m.Metadata = withoutNaN(m.Content), withoutNaN(m.Metadata)
		if m.Content != nil && !json.Valid(m.Content) || m.Metadata != nil && !json.Valid(m.Metadata) {
			return nil, fmt.Errorf("the message %q is no JSON", m.ID)
		}
		with.Messages[i] = m
	}
	return &with, nil
}

// withoutNaN returns value with null in place of what Python writes for numbers that JSON
// does not have.
func withoutNaN(value json.RawMessage) json.RawMessage {
	if !bytes.Contains(value, []byte("NaN")) && !bytes.Contains(value, []byte("Infinity")) {
		return value
	}
	var out []byte
	for i := 0; i < len(value); {
		if value[i] == '"' {
			end := i + 1
			for end < len(value) && value[end] != '"' {
				if value[end] == '\\' {
					end++
				}
				end++
			}
			end = min(end+1, len(value))
			out = append(out, value[i:end]...)
			i = end
			continue
		}
		n := 0
		for _, token := range []string{"NaN", "-Infinity", "Infinity"} {
			if bytes.HasPrefix(value[i:], []byte(token)) {
				n = len(token)
				break
			}
		}
		if n > 0 {
			out = append(out, "null"...)
			i += n
			continue
		}
		out = append(out, value[i])
		i++
	}
	return out
}
