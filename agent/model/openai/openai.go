// Package openai is a model behind the API of OpenAI's chat completions: theirs, or that
// of another server, as Ollama, llama.cpp, vLLM and many services have it. The official
// SDK carries it out.
//
// # What is sent
//
// A request is one of messages in the order in which they are stored, in whatever form
// programs stored them: see package content. The system text of the request is the
// first message, of role system. Each call has one result directly after it. Thoughts
// are left out, and so are messages that say nothing. A tool whose name the API does not
// take goes by another one there, and by its own in the reply.
//
// # What comes back
//
// The reply is streamed. It counts when the API says that it is whole: a stream that
// ends before that, or in an error, is an error, and so is a reply that says nothing, one
// that came to a limit of tokens, a refusal, and one that a filter stopped. A server
// that answers with a whole message in place of a stream is understood too. Calls
// without an id, as some servers make them, get call_0, call_1 and so on.
//
// # Trying again
//
// A request is sent again by the SDK when the connection fails and on the statuses 408,
// 409, 429 and 5xx: [Options.Retries] times, after as long as the server says in
// Retry-After, and not at all if that is more than two minutes; else after half a
// second, then twice as long each time up to eight seconds, less some at random. Nothing
// is sent again once the reply has begun, or when it is not waited for any longer.
//
// # The key
//
// It is what the caller gives and nothing else: no variable of the environment is read
// but those of net/http about proxies. It goes to the server at the base URL and nowhere
// else, no redirect is followed, and no error says it.
package openai

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	sdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/packages/param"
	"github.com/openai/openai-go/v3/packages/ssestream"

	"github.com/bough-dev/bough/agent"
	"github.com/bough-dev/bough/agent/model/internal/wire"
	"github.com/bough-dev/bough/internal/content"
	"github.com/bough-dev/bough/internal/rawjson"
)

// Options say which model is asked, and how. The zero value is the default.
type Options struct {
	Name      string        // of the model, "" for the one that the request names
	BaseURL   string        // mostly ends in /v1; "" for OpenAI's own
	Key       string        // OpenAI's own API needs one, other servers may
	MaxTokens int64         // that a reply may have, 0 for as many as the server likes
	Retries   int           // how often a request is sent again, 0 for 2, less for never
	First     time.Duration // how long the beginning of a reply is waited for, 0 for 10 minutes
	Next      time.Duration // and then each further piece, 0 for 5 minutes
}

const (
	ownBase = "https://api.openai.com/v1/"
	retries = 2

	longestDescription = 1024 // of a tool, that OpenAI's own API takes
)

// A Model is a model behind an API.
type Model struct {
	o   Options
	api *wire.API
}

var _ agent.Model = (*Model)(nil)

// New returns a model. The error says what is wrong with the base URL or the key, or
// that there is none.
func New(o Options) (*Model, error) {
	api, err := wire.NewAPI("OpenAI", "OPENAI_API_KEY", o.Key, o.BaseURL, ownBase)
	if err != nil {
		return nil, err
	}
	o.Key = "" // it is in api, and in nothing that is printed
	return &Model{o, api}, nil
}

// Ask is that of [agent.Model].
func (m *Model) Ask(ctx context.Context, r *agent.Request, stream func(text string)) (*agent.Reply, error) {
	name := cmp.Or(m.o.Name, r.ModelID)
	if name == "" {
		return nil, fmt.Errorf("no model of %s is chosen", m.api.Name)
	}
	prompt, err := wire.Compose(r, content.OpenAI)
	if err != nil {
		return nil, err
	}
	client, ctx, cancel := m.api.Client(ctx, wire.Limits{First: m.o.First, Next: m.o.Next})
	defer cancel()
	var res *http.Response
	chat := sdk.NewChatCompletionService(m.options(client, &res)...)
	chunks := chat.NewStreaming(ctx, m.params(name, prompt))
	defer chunks.Close()
	media, err := m.api.Media(ctx, res, chunks.Err(), name)
	if err != nil {
		return nil, err
	}
	in := &reply{m: m, name: name, prompt: prompt, text: wire.Text{Stream: stream}}
	if media == "application/json" {
		return in.whole(ctx, res.Body)
	}
	for in.stop == "" && chunks.Next() { // some servers let the connection be after that
		in.chunk(chunks.Current())
	}
	if err := chunks.Err(); err != nil || ctx.Err() != nil {
		var event []byte
		var broken *ssestream.StreamError
		if errors.As(err, &broken) {
			event = broken.Event.Data
		}
		return nil, m.api.Broken(ctx, err, event, name)
	}
	return in.end(ctx)
}

// options are those of the SDK. A service takes only these, where a client would look
// into the environment.
func (m *Model) options(client *http.Client, res **http.Response) []option.RequestOption {
	n := m.o.Retries
	if n == 0 {
		n = retries
	}
	list := []option.RequestOption{
		option.WithBaseURL(m.api.Base.String()),
		option.WithHTTPClient(client),
		option.WithMaxRetries(max(n, 0)),
		option.WithResponseInto(res),
	}
	if m.api.Key != "" {
		list = append(list, option.WithAPIKey(m.api.Key))
	}
	return list
}

func (m *Model) params(name string, prompt *wire.Prompt) sdk.ChatCompletionNewParams {
	p := sdk.ChatCompletionNewParams{Model: name}
	for _, raw := range prompt.Messages {
		p.Messages = append(p.Messages, param.Override[sdk.ChatCompletionMessageParamUnion](raw))
	}
	for _, t := range prompt.Tools {
		if m.api.Hosted {
			t.Description = wire.Cut(t.Description, longestDescription)
		}
		p.Tools = append(p.Tools, param.Override[sdk.ChatCompletionToolUnionParam](json.RawMessage(rawjson.Compact(tool{"function", function(t)}))))
	}
	switch {
	case m.o.MaxTokens <= 0:
	case m.api.Hosted: // the newer models take only this
		p.MaxCompletionTokens = sdk.Int(m.o.MaxTokens)
	default: // other servers know only this
		p.MaxTokens = sdk.Int(m.o.MaxTokens)
	}
	return p
}

// A tool is one as the API is told of it.
type tool struct {
	Type     string   `json:"type"`
	Function function `json:"function"`
}

type function struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Schema      json.RawMessage `json:"parameters"`
}

// A reply is put together from what comes in.
type reply struct {
	m       *Model
	name    string
	prompt  *wire.Prompt
	text    wire.Text
	refusal strings.Builder
	calls   []*call
	last    map[int64]*call // of an index
	stop    string
}

type call struct {
	id, name  string
	arguments strings.Builder
}

// chunk takes in a piece of a stream.
func (in *reply) chunk(c sdk.ChatCompletionChunk) {
	for _, choice := range c.Choices {
		if choice.Index != 0 {
			continue
		}
		d := choice.Delta
		in.text.Add(d.Content)
		in.refusal.WriteString(d.Refusal)
		for _, t := range d.ToolCalls {
			in.call(t.Index, t.ID, t.Function.Name, t.Function.Arguments)
		}
		in.stop = cmp.Or(choice.FinishReason, in.stop)
	}
}

// call takes in a piece of a call. Servers that give no index, or always the same, begin
// the next call with another id, or with a name after whole arguments.
func (in *reply) call(index int64, id, name, arguments string) {
	c := in.last[index]
	if c == nil || id != "" && c.id != "" && id != c.id ||
		id == "" && name != "" && c.name != "" && json.Valid([]byte(c.arguments.String())) {
		c = &call{}
		if in.last == nil {
			in.last = map[int64]*call{}
		}
		in.last[index] = c
		in.calls = append(in.calls, c)
	}
	c.id, c.name = cmp.Or(c.id, id), cmp.Or(c.name, name)
	c.arguments.WriteString(arguments)
}

// whole takes in a whole message, which is no stream.
func (in *reply) whole(ctx context.Context, body io.Reader) (*agent.Reply, error) {
	data, err := io.ReadAll(body)
	if err != nil || ctx.Err() != nil {
		return nil, in.m.api.Broken(ctx, err, nil, in.name)
	}
	var c sdk.ChatCompletion
	if err := json.Unmarshal(data, &c); err != nil {
		return nil, in.m.api.Nonsense(err)
	}
	if len(c.Choices) == 0 {
		return nil, in.m.api.Refusal(http.StatusOK, data, in.name)
	}
	said := c.Choices[0]
	in.text.Add(said.Message.Content)
	in.refusal.WriteString(said.Message.Refusal)
	for i, t := range said.Message.ToolCalls {
		in.call(int64(i), t.ID, t.Function.Name, t.Function.Arguments)
	}
	in.stop = said.FinishReason
	return in.end(ctx)
}

// end returns the reply, if it is one.
func (in *reply) end(ctx context.Context) (*agent.Reply, error) {
	said := in.text.End()
	switch in.stop {
	case "":
		return nil, in.m.api.Broken(ctx, nil, nil, in.name)
	case "length":
		return nil, in.m.api.Cut(in.name, in.m.o.MaxTokens)
	case "content_filter":
		return nil, fmt.Errorf("a content filter stopped the reply of %s", in.name)
	case "error":
		return nil, in.m.api.Broken(ctx, errors.New("it says that there was an error"), nil, in.name)
	}
	if in.refusal.Len() > 0 {
		return nil, fmt.Errorf("%s refuses to answer: %s", in.name, wire.Line(in.refusal.String(), 600, false))
	}
	var made []agent.Call
	for _, c := range in.calls {
		made = append(made, agent.Call{ID: c.id, Name: c.name, Arguments: c.arguments.String()})
	}
	calls, err := in.prompt.Calls(made)
	if err != nil {
		return nil, err
	}
	if len(calls) == 0 && strings.TrimSpace(said) == "" {
		return nil, fmt.Errorf("%s said nothing", in.name)
	}
	return &agent.Reply{Text: said, Calls: calls}, nil
}
