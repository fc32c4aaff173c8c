// Package openai implements models behind OpenAI's Chat Completions API, of
// OpenAI or of a compatible server, such as Ollama, llama.cpp, vLLM and many
// services.
//
// # Requests
//
// A request has the messages in the order in which they are stored, in any
// stored form: see package content. The system text of the request is the first
// message, with the role system. Each call has one result directly after it.
// Thinking and empty messages are omitted. A tool whose name the API does not
// accept is renamed in the request, and renamed back in the reply.
//
// # Replies
//
// The reply is streamed. A stream that ends before the API reports the end of
// the message, or with an error, is an error. So are an empty reply, a reply
// that reaches a token limit, a refusal, and a filtered reply. An unstreamed
// reply is accepted too. Calls without an id, which some servers make, get
// call_0, call_1 and so on.
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
// OpenAI's SDK takes 37 s on two cores to compile, and would only carry a
// request that is JSON already. A lighter client, go-openai, decodes messages
// into its own types and drops members that it does not know, cannot read an
// unstreamed message in place of a stream, and does not retry. So package
// net/http is used, with go-retryablehttp for retries and go-sse for the
// stream.
package openai

import (
	"cmp"
	"encoding/json"
	"errors"
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
	BaseURL   string        // usually ends in /v1; "" for OpenAI's own API
	Key       string        // required by OpenAI's own API
	MaxTokens int64         // maximum number of tokens of a reply, 0 for the server's default
	Retries   int           // maximum number of retries, 0 for 2, negative for none
	First     time.Duration // time limit for the first part of a reply, 0 for 10 minutes
	Next      time.Duration // time limit for each further part, 0 for 5 minutes
}

// maxDescription is the maximum length of a tool's description that OpenAI's
// own API accepts, in bytes.
const maxDescription = 1024

// New returns a model. It returns an error if the base URL is invalid, or the key is
// invalid or missing.
func New(o Options) (model.Model, error) {
	return wire.NewModel(wire.Options(o), provider())
}

func provider() *wire.Provider {
	return &wire.Provider{
		Name:      "OpenAI",
		KeyVar:    "OPENAI_API_KEY",
		BaseURL:   "https://api.openai.com/v1/",
		Path:      "chat/completions",
		Format:    content.OpenAI,
		Authorize: func(h http.Header, key string) { h.Set("Authorization", "Bearer "+key) },
		Body:      func(r *wire.Request) any { return newBody(r) },
		Decoder:   func(r *wire.Request) wire.Decoder { return &decoder{request: r, last: map[int64]*call{}} },
	}
}

// A body is the body of a request.
type body struct {
	Model               string            `json:"model"`
	Messages            []json.RawMessage `json:"messages"`
	Tools               []tool            `json:"tools,omitempty"`
	MaxTokens           int64             `json:"max_tokens,omitempty"`
	MaxCompletionTokens int64             `json:"max_completion_tokens,omitempty"`
	Stream              bool              `json:"stream"`
}

type tool struct {
	Type     string   `json:"type"`
	Function function `json:"function"`
}

type function struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Schema      json.RawMessage `json:"parameters"`
}

func newBody(r *wire.Request) body {
	b := body{Model: r.Model, Messages: r.Prompt.Messages, Stream: true}
	for _, t := range r.Prompt.Tools {
		if r.Hosted {
			t.Description = wire.Cut(t.Description, maxDescription)
		}
		b.Tools = append(b.Tools, tool{"function", function(t)})
	}
	if r.Hosted { // newer models accept only this
		b.MaxCompletionTokens = r.MaxTokens
	} else { // other servers support only this
		b.MaxTokens = r.MaxTokens
	}
	return b
}

// A decoder assembles a reply.
type decoder struct {
	request *wire.Request
	refusal strings.Builder
	calls   []*call
	last    map[int64]*call // the last call with an index
	stop    string
}

type call struct {
	id, name  string
	arguments strings.Builder
}

// Event implements [wire.Decoder].
func (d *decoder) Event(data []byte) bool {
	for _, choice := range gjson.GetBytes(data, "choices").Array() {
		if choice.Get("index").Int() == 0 {
			delta := choice.Get("delta")
			d.text(delta)
			for _, t := range delta.Get("tool_calls").Array() {
				d.call(t.Get("index").Int(), t)
			}
			d.stop = cmp.Or(wire.String(choice, "finish_reason"), d.stop)
		}
	}
	return d.stop != ""
}

// Whole implements [wire.Decoder].
func (d *decoder) Whole(data []byte) bool {
	choice := gjson.GetBytes(data, "choices.0")
	message := choice.Get("message")
	d.text(message)
	for i, t := range message.Get("tool_calls").Array() {
		d.call(int64(i), t)
	}
	d.stop = wire.String(choice, "finish_reason")
	return choice.Exists()
}

func (d *decoder) text(message gjson.Result) {
	d.request.Text.Add(wire.String(message, "content"))
	d.refusal.WriteString(wire.String(message, "refusal"))
}

// call adds a part of a call. Servers that send no index, or always the same
// one, begin the next call with another id, or with a name after complete
// arguments.
func (d *decoder) call(index int64, piece gjson.Result) {
	id, name := wire.String(piece, "id"), wire.String(piece, "function.name")
	c := d.last[index]
	if c == nil || id != "" && c.id != "" && id != c.id ||
		id == "" && name != "" && c.name != "" && json.Valid([]byte(c.arguments.String())) {
		c = &call{}
		d.last[index] = c
		d.calls = append(d.calls, c)
	}
	c.id, c.name = cmp.Or(c.id, id), cmp.Or(c.name, name)
	c.arguments.WriteString(wire.String(piece, "function.arguments"))
}

// End implements [wire.Decoder].
func (d *decoder) End() (calls []model.Call, stopped bool, err error) {
	name := d.request.Model
	switch d.stop {
	case "":
		return nil, false, nil
	case "error":
		return nil, false, errors.New("it reports an error without a message")
	case "length":
		return nil, true, wire.TokenLimit(name, d.request.MaxTokens)
	case "content_filter":
		return nil, true, fmt.Errorf("a content filter stopped the reply of %s", name)
	}
	if d.refusal.Len() > 0 {
		return nil, true, fmt.Errorf("%s refuses to answer: %s", name, wire.Line(d.refusal.String(), 600, false))
	}
	for _, c := range d.calls {
		calls = append(calls, model.Call{ID: c.id, Name: c.name, Arguments: c.arguments.String()})
	}
	return calls, true, nil
}
