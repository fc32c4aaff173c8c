// Package anthropic implements models behind Anthropic's Messages API, of
// Anthropic or of a compatible server.
//
// # Requests
//
// A request has the messages in the order in which they are stored, in any
// stored form: see package content. Leading system messages are appended to the
// system text of the request; later ones become messages of the user.
// Consecutive messages of one role are merged. Each call has one result, at the
// beginning of the next message. Results of failed calls are marked as errors.
// Thinking and empty texts are omitted. Ids of calls and names of tools that
// the API does not accept are replaced. If the messages contain calls of tools
// that the request does not offer, the request declares these tools, as the API
// requires, and forbids calls.
//
// # Replies
//
// The reply is streamed. A stream that ends before the API reports the end of
// the message, or with an error, is an error. So are an empty reply, a reply
// that reaches a token limit, and a refusal. An unstreamed reply is accepted
// too.
//
// # Retries
//
// A request is repeated if the connection fails and for the statuses 408, 409,
// 429 and 5xx, up to [Options.Retries] times. The delay is that in Retry-After,
// but there is no retry if it exceeds two minutes. Without Retry-After it is
// half a second, then twice as long each time up to eight seconds, less a
// random part. There is no retry after the reply has begun, or after ctx has
// ended.
//
// # The key
//
// Only the caller's options are used: no environment variable is read except
// those of net/http for proxies. Requests are sent only to the server at the
// base URL, redirects are not followed, and errors do not contain the key.
//
// # No SDK
//
// Anthropic's SDK takes 25 s on two cores to compile, links OpenTelemetry and a
// YAML decoder, and looks for keys and profiles of its own, for a request that
// is JSON already. So package net/http is used, as in package openai.
package anthropic

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"github.com/bough-dev/bough/agent/model"
	"github.com/bough-dev/bough/agent/model/internal/wire"
	"github.com/bough-dev/bough/convert/content"
)

// Options select and configure a model. The zero value is the default.
type Options struct {
	Name      string        // of the model; "" for the name in the request
	BaseURL   string        // with or without /v1 at its end; "" for Anthropic's own API
	Key       string        // required by Anthropic's own API
	MaxTokens int64         // maximum number of tokens of a reply, 0 for 16384
	Retries   int           // maximum number of retries, 0 for 2, negative for none
	First     time.Duration // time limit for the first part of a reply, 0 for 10 minutes
	Next      time.Duration // time limit for each further part, 0 for 5 minutes
}

const (
	version   = "2023-06-01" // of the API
	maxTokens = 16384
)

// New returns a model. It returns an error if the base URL is invalid, or the key is
// invalid or missing.
func New(o Options) (model.Model, error) {
	o.BaseURL = strings.TrimSuffix(strings.TrimRight(strings.TrimSpace(o.BaseURL), "/"), "/v1")
	if o.MaxTokens <= 0 {
		o.MaxTokens = maxTokens
	}
	return wire.NewModel(wire.Options(o), provider())
}

func provider() *wire.Provider {
	return &wire.Provider{
		Name:      "Anthropic",
		KeyVar:    "ANTHROPIC_API_KEY",
		BaseURL:   "https://api.anthropic.com/",
		Path:      "v1/messages",
		Format:    content.Anthropic,
		Header:    http.Header{"Anthropic-Version": {version}},
		Authorize: func(h http.Header, key string) { h.Set("X-Api-Key", key) },
		Body:      func(r *wire.Request) any { return newBody(r) },
		Decoder:   func(r *wire.Request) wire.Decoder { return &decoder{request: r, calls: map[int64]*call{}} },
	}
}

// A body is the body of a request.
type body struct {
	Model      string            `json:"model"`
	MaxTokens  int64             `json:"max_tokens"`
	System     []textBlock       `json:"system,omitempty"`
	Messages   []json.RawMessage `json:"messages"`
	Tools      []tool            `json:"tools,omitempty"`
	ToolChoice *toolChoice       `json:"tool_choice,omitempty"`
	Stream     bool              `json:"stream"`
}

type textBlock struct {
	Text string `json:"text"`
	Type string `json:"type"`
}

type tool struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Schema      json.RawMessage `json:"input_schema"`
}

type toolChoice struct {
	Type string `json:"type"`
}

func newBody(r *wire.Request) body {
	b := body{Model: r.Model, MaxTokens: r.MaxTokens, Messages: r.Prompt.Messages, Stream: true}
	if strings.TrimSpace(r.Prompt.System) != "" {
		b.System = []textBlock{{r.Prompt.System, "text"}}
	}
	for _, t := range r.Prompt.Tools {
		b.Tools = append(b.Tools, tool(t))
	}
	if len(b.Tools) > 0 {
		return b
	}
	for _, name := range r.Prompt.Called {
		b.Tools = append(b.Tools, tool{name, "Not available any more.", json.RawMessage(`{"type":"object"}`)})
		b.ToolChoice = &toolChoice{"none"}
	}
	return b
}

// A decoder assembles a reply.
type decoder struct {
	request *wire.Request
	calls   map[int64]*call // by index of the block
	order   []*call
	stop    string
	done    bool
}

type call struct {
	id, name, input string
	arguments       strings.Builder
}

// Event implements [wire.Decoder].
func (d *decoder) Event(data []byte) bool {
	e := gjson.ParseBytes(data)
	index := e.Get("index").Int()
	switch wire.String(e, "type") {
	case "content_block_start":
		d.block(index, e.Get("content_block"))
	case "content_block_delta":
		delta := e.Get("delta")
		switch wire.String(delta, "type") {
		case "text_delta":
			d.request.Text.Add(wire.String(delta, "text"))
		case "input_json_delta":
			if c := d.calls[index]; c != nil {
				c.arguments.WriteString(wire.String(delta, "partial_json"))
			}
		}
	case "message_delta":
		d.stop = cmp.Or(wire.String(e, "delta.stop_reason"), d.stop)
	case "message_stop":
		d.done = true
	}
	return d.done
}

// block adds a block, which may be only its beginning.
func (d *decoder) block(index int64, b gjson.Result) {
	switch wire.String(b, "type") {
	case "text":
		d.request.Text.Add(wire.String(b, "text"))
	case "tool_use":
		c := &call{id: wire.String(b, "id"), name: wire.String(b, "name"), input: b.Get("input").Raw}
		d.calls[index] = c
		d.order = append(d.order, c)
	}
}

// Whole implements [wire.Decoder].
func (d *decoder) Whole(data []byte) bool {
	m := gjson.ParseBytes(data)
	for i, b := range m.Get("content").Array() {
		d.block(int64(i), b)
	}
	d.stop, d.done = wire.String(m, "stop_reason"), true
	return wire.String(m, "type") == "message"
}

// End implements [wire.Decoder].
func (d *decoder) End() (calls []model.Call, stopped bool, err error) {
	if !d.done || d.stop == "" {
		return nil, false, nil
	}
	name := d.request.Model
	switch d.stop {
	case "max_tokens":
		return nil, true, wire.TokenLimit(name, d.request.MaxTokens)
	case "model_context_window_exceeded":
		return nil, true, fmt.Errorf("the conversation became too long for %s before the end of its message", name)
	case "refusal":
		return nil, true, fmt.Errorf("%s refuses to answer", name)
	case "pause_turn":
		return nil, true, fmt.Errorf("%s paused before the end of its message", name)
	}
	for _, c := range d.order {
		arguments := c.arguments.String()
		if strings.TrimSpace(arguments) == "" {
			arguments = c.input
		}
		calls = append(calls, model.Call{ID: c.id, Name: c.name, Arguments: arguments})
	}
	return calls, true, nil
}
