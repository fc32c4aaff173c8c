// Package anthropic is a model behind the API of Anthropic's messages: theirs, or that of
// another server that has it. The official SDK carries it out.
//
// # What is sent
//
// A request is one of messages in the order in which they are stored, in whatever form
// programs stored them: see package content. The system text is that of the request with
// the system messages at the beginning; later ones are the user's. Messages of one role
// in a row are one. Each call has one result, in the message directly after it and
// before anything else there. Results that say that a call failed are marked as errors.
// Thoughts are left out, and so are texts that say nothing. Ids of calls and names of
// tools that the API does not take are others there. When tools were called that are not
// offered any more, the API is told of them and that it must not call them, as it wants
// to know of all.
//
// # What comes back
//
// The reply is streamed. It counts when the API says that it is whole: a stream that
// ends before that, or in an error, is an error, and so is a reply that says nothing, one
// that came to a limit of tokens, and a refusal. A server that answers with a whole
// message in place of a stream is understood too.
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
// but those of net/http about proxies, and no profile of the SDK. It goes to the server
// at the base URL and nowhere else, no redirect is followed, and no error says it.
package anthropic

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

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"
	"github.com/anthropics/anthropic-sdk-go/packages/param"

	"github.com/bough-dev/bough/agent"
	"github.com/bough-dev/bough/agent/model/internal/wire"
	"github.com/bough-dev/bough/internal/content"
	"github.com/bough-dev/bough/internal/rawjson"
)

// Options say which model is asked, and how. The zero value is the default.
type Options struct {
	Name      string        // of the model, "" for the one that the request names
	BaseURL   string        // with or without /v1 at its end; "" for Anthropic's own
	Key       string        // Anthropic's own API needs one, other servers may
	MaxTokens int64         // that a reply may have, 0 for 16384
	Retries   int           // how often a request is sent again, 0 for 2, less for never
	First     time.Duration // how long the beginning of a reply is waited for, 0 for 10 minutes
	Next      time.Duration // and then each further piece, 0 for 5 minutes
}

const (
	ownBase   = "https://api.anthropic.com/"
	retries   = 2
	maxTokens = 16384
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
	base := strings.TrimSuffix(strings.TrimRight(strings.TrimSpace(o.BaseURL), "/"), "/v1")
	api, err := wire.NewAPI("Anthropic", "ANTHROPIC_API_KEY", o.Key, base, ownBase)
	if err != nil {
		return nil, err
	}
	o.Key = "" // it is in api, and in nothing that is printed
	if o.MaxTokens <= 0 {
		o.MaxTokens = maxTokens
	}
	return &Model{o, api}, nil
}

// Ask is that of [agent.Model].
func (m *Model) Ask(ctx context.Context, r *agent.Request, stream func(text string)) (*agent.Reply, error) {
	name := cmp.Or(m.o.Name, r.ModelID)
	if name == "" {
		return nil, fmt.Errorf("no model of %s is chosen", m.api.Name)
	}
	prompt, err := wire.Compose(r, content.Anthropic)
	if err != nil {
		return nil, err
	}
	client, ctx, cancel := m.api.Client(ctx, wire.Limits{First: m.o.First, Next: m.o.Next})
	defer cancel()
	var res *http.Response
	messages := sdk.NewMessageService(m.options(client, &res)...)
	events := messages.NewStreaming(ctx, m.params(name, prompt))
	defer events.Close()
	media, err := m.api.Media(ctx, res, events.Err(), name)
	if err != nil {
		return nil, err
	}
	in := &reply{m: m, name: name, prompt: prompt, text: wire.Text{Stream: stream}, calls: map[int64]*call{}}
	if media == "application/json" {
		return in.whole(ctx, res.Body)
	}
	for !in.over && events.Next() {
		in.event(events.Current())
	}
	if err := events.Err(); err != nil || ctx.Err() != nil {
		var event []byte
		var broken *sdk.Error
		if errors.As(err, &broken) {
			event = []byte(broken.RawJSON())
		}
		return nil, m.api.Broken(ctx, err, event, name)
	}
	return in.end(ctx)
}

// options are those of the SDK. A service takes only these, where a client would look
// into the environment; what it would tell OpenTelemetry is turned off for the same
// reason.
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
		option.WithoutOpenTelemetry(),
	}
	if m.api.Key != "" {
		list = append(list, option.WithAPIKey(m.api.Key))
	}
	return list
}

func (m *Model) params(name string, prompt *wire.Prompt) sdk.MessageNewParams {
	p := sdk.MessageNewParams{Model: sdk.Model(name), MaxTokens: m.o.MaxTokens}
	if strings.TrimSpace(prompt.System) != "" {
		p.System = []sdk.TextBlockParam{{Text: prompt.System}}
	}
	for _, raw := range prompt.Messages {
		p.Messages = append(p.Messages, param.Override[sdk.MessageParam](raw))
	}
	tools := prompt.Tools
	if len(tools) == 0 {
		for _, name := range prompt.Called {
			tools = append(tools, wire.Tool{Name: name, Description: "Not available any more.", Schema: json.RawMessage(`{"type":"object"}`)})
		}
		if len(tools) > 0 {
			p.ToolChoice = sdk.ToolChoiceUnionParam{OfNone: &sdk.ToolChoiceNoneParam{}}
		}
	}
	for _, t := range tools {
		p.Tools = append(p.Tools, param.Override[sdk.ToolUnionParam](json.RawMessage(rawjson.Compact(tool(t)))))
	}
	return p
}

// A tool is one as the API is told of it.
type tool struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Schema      json.RawMessage `json:"input_schema"`
}

// A reply is put together from what comes in.
type reply struct {
	m      *Model
	name   string
	prompt *wire.Prompt
	text   wire.Text
	calls  map[int64]*call // by the index of their blocks
	order  []*call
	stop   sdk.StopReason
	over   bool
}

type call struct {
	id, name, input string
	arguments       strings.Builder
}

// event takes in an event of a stream.
func (in *reply) event(e sdk.MessageStreamEventUnion) {
	switch e.Type {
	case "content_block_start":
		b := e.ContentBlock
		switch b.Type {
		case "text":
			in.text.Add(b.Text)
		case "tool_use":
			in.call(e.Index, b.ID, b.Name, b.JSON.Input.Raw())
		}
	case "content_block_delta":
		switch e.Delta.Type {
		case "text_delta":
			in.text.Add(e.Delta.Text)
		case "input_json_delta":
			if c := in.calls[e.Index]; c != nil {
				c.arguments.WriteString(e.Delta.PartialJSON)
			}
		}
	case "message_delta":
		in.stop = cmp.Or(e.Delta.StopReason, in.stop)
	case "message_stop":
		in.over = true
	}
}

func (in *reply) call(index int64, id, name, input string) {
	c := &call{id: id, name: name, input: input}
	in.calls[index] = c
	in.order = append(in.order, c)
}

// whole takes in a whole message, which is no stream.
func (in *reply) whole(ctx context.Context, body io.Reader) (*agent.Reply, error) {
	data, err := io.ReadAll(body)
	if err != nil || ctx.Err() != nil {
		return nil, in.m.api.Broken(ctx, err, nil, in.name)
	}
	var said sdk.Message
	if err := json.Unmarshal(data, &said); err != nil {
		return nil, in.m.api.Nonsense(err)
	}
	if said.Type != "message" {
		return nil, in.m.api.Refusal(http.StatusOK, data, in.name)
	}
	for i, b := range said.Content {
		switch b.Type {
		case "text":
			in.text.Add(b.Text)
		case "tool_use":
			in.call(int64(i), b.ID, b.Name, string(b.Input))
		}
	}
	in.stop, in.over = said.StopReason, true
	return in.end(ctx)
}

// end returns the reply, if it is one.
func (in *reply) end(ctx context.Context) (*agent.Reply, error) {
	said := in.text.End()
	if !in.over || in.stop == "" {
		return nil, in.m.api.Broken(ctx, nil, nil, in.name)
	}
	switch in.stop {
	case sdk.StopReasonMaxTokens:
		return nil, in.m.api.Cut(in.name, in.m.o.MaxTokens)
	case sdk.StopReasonModelContextWindowExceeded:
		return nil, fmt.Errorf("the conversation became too long for %s before the end of its message", in.name)
	case sdk.StopReasonRefusal:
		return nil, fmt.Errorf("%s refuses to answer", in.name)
	case sdk.StopReasonPauseTurn:
		return nil, fmt.Errorf("%s paused before the end of its message", in.name)
	}
	var made []agent.Call
	for _, c := range in.order {
		arguments := c.arguments.String()
		if strings.TrimSpace(arguments) == "" {
			arguments = c.input
		}
		made = append(made, agent.Call{ID: c.id, Name: c.name, Arguments: arguments})
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
