// Package anthropic is a model behind the API of Anthropic's messages: theirs, or that of
// another server that has it.
//
// # What is sent
//
// A request has the messages in the order in which they are stored, in any stored form:
// see package content. Leading system messages are appended to the request's system
// text; later ones become the user's. Consecutive messages of one role are merged. Each
// call has one result, at the beginning of the next message. Results of failed calls are
// marked as errors. Thoughts and empty texts are omitted. Ids of calls and names of
// tools that the API does not accept are replaced. If the messages call tools that the
// request does not offer, the request declares them, as the API requires, and forbids
// calls.
//
// # What comes back
//
// The reply is streamed. It is complete when the API says so: a stream that ends before
// that, or in an error, is an error, and so are an empty reply, a reply that reaches a
// token limit, and a refusal. An unstreamed reply is accepted too.
//
// # Trying again
//
// A request is sent again when the connection fails and on the statuses 408,
// 409, 429 and 5xx: [Options.Retries] times, after as long as the server says in
// Retry-After, and not at all if that is more than two minutes; else after half a
// second, then twice as long each time up to eight seconds, less some at random. Nothing
// is sent again once the reply has begun, or when it is not waited for any longer.
//
// # The key
//
// Only the caller's options apply: no environment variable is read except those of
// net/http about proxies. Requests are sent to the server at the base URL only,
// redirects are not followed, and errors do not contain the key.
//
// # No SDK
//
// Anthropic's own SDK takes 25 s of two cores to compile, links OpenTelemetry and a
// decoder of YAML, and looks for keys and profiles of its own, for a request that is
// JSON already. So net/http sends, as in package openai.
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
	"github.com/bough-dev/bough/internal/content"
)

// Options select and configure a model. The zero value is the default.
type Options struct {
	Name      string        // of the model, "" for the name in the request
	BaseURL   string        // with or without /v1 at its end; "" for Anthropic's own
	Key       string        // Anthropic's own API needs one, other servers may
	MaxTokens int64         // that a reply may have, 0 for 16384
	Retries   int           // how often a request is sent again, 0 for 2, less for never
	First     time.Duration // how long the beginning of a reply is waited for, 0 for 10 minutes
	Next      time.Duration // and then each further piece, 0 for 5 minutes
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

// A body is that of a request.
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
	calls   map[int64]*call // by the index of their blocks
	order   []*call
	stop    string
	done    bool
}

type call struct {
	id, name, input string
	arguments       strings.Builder
}

// Event is that of [wire.Decoder].
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

// Whole is that of [wire.Decoder].
func (d *decoder) Whole(data []byte) bool {
	m := gjson.ParseBytes(data)
	for i, b := range m.Get("content").Array() {
		d.block(int64(i), b)
	}
	d.stop, d.done = wire.String(m, "stop_reason"), true
	return wire.String(m, "type") == "message"
}

// End is that of [wire.Decoder].
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
