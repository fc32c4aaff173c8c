package anthropic_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/bough-dev/bough/agent/model"
	"github.com/bough-dev/bough/agent/model/anthropic"
	"github.com/bough-dev/bough/agent/model/internal/modeltest"
	"github.com/bough-dev/bough/agent/model/internal/wire"
	"github.com/bough-dev/bough/agent/turn"
	"github.com/bough-dev/bough/internal/testmodel"
)

func provider() *modeltest.Provider {
	return &modeltest.Provider{
		Name:   "Anthropic",
		KeyVar: "ANTHROPIC_API_KEY",
		URL:    "https://api.anthropic.com",
		Server: testmodel.Anthropic,
		New:    func(o wire.Options) (model.Model, error) { return anthropic.New(anthropic.Options(o)) },
		Stray: map[string]string{
			"ANTHROPIC_API_KEY": "stray", "ANTHROPIC_AUTH_TOKEN": "stray", "ANTHROPIC_PROFILE": "stray", "ANTHROPIC_FEDERATION_RULE_ID": "stray",
			"ANTHROPIC_CUSTOM_HEADERS": "X-Stray: stray", "ANTHROPIC_BASE_URL": "http://stray.example",
		},
	}
}

func TestModel(t *testing.T) {
	p := provider()
	p.Replies = []modeltest.Reply{
		{Name: "a sequence to stop at", Reply: testmodel.Reply{Text: []string{"Hello"}, Stop: "stop_sequence"}, Want: model.Reply{Text: "Hello"}},
	}
	p.Failures = []modeltest.Failure{
		{Name: "garbage", Reply: testmodel.Reply{Raw: "event: message_start\ndata: {so\n\n"}, Options: wire.Options{}, Want: "the server at HOST sent an invalid part of a reply: invalid character 's'"},
		{Name: "max_tokens", Reply: testmodel.Reply{Text: []string{"So"}, Stop: "max_tokens"}, Options: wire.Options{}, Want: "m-1 stopped at its limit of 16384 tokens, before the end of its message"},
		{Name: "window", Reply: testmodel.Reply{Text: []string{"So"}, Stop: "model_context_window_exceeded"}, Options: wire.Options{}, Want: "the conversation became too long for m-1"},
		{Name: "refusal", Reply: testmodel.Reply{Text: []string{"So"}, Refuse: "x"}, Options: wire.Options{}, Want: "m-1 refuses to answer"},
		{Name: "pause", Reply: testmodel.Reply{Text: []string{"So"}, Stop: "pause_turn"}, Options: wire.Options{}, Want: "m-1 paused before the end of its message"},
		{Name: "404", Reply: testmodel.Reply{Status: 404, Error: "model: m-1"}, Options: wire.Options{}, Want: `the server at HOST has no model "m-1" (404): model: m-1`},
		{Name: "nothing there", Reply: testmodel.Reply{Status: 404, Raw: "404 page not found"}, Options: wire.Options{}, Want: "the server at HOST has no endpoint at / (404): is the base URL right?"},
		{Name: "too long", Reply: testmodel.Reply{Status: 400, Error: "prompt is too long: 201234 tokens > 200000 maximum"}, Options: wire.Options{},
			Want: "the conversation is 1234 tokens too long for m-1 (201234 of at most 200000)"},
		{Name: "too long with its answer", Reply: testmodel.Reply{Status: 400, Error: "input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000, decrease input length or `max_tokens` and try again"}, Options: wire.Options{},
			Want: "the conversation is 10000 tokens too long for m-1 (210000 of at most 200000)"},
	}
	modeltest.Run(t, *p)
}

// TestThoughts: blocks that are neither text nor a call are not part of the reply.
func TestThoughts(t *testing.T) {
	s := testmodel.Anthropic(t, testmodel.Reply{Raw: `event: message_start
data: {"type":"message_start","message":{"id":"m","type":"message","role":"assistant","content":[],"model":"m-1","usage":{}}}

event: content_block_start
data: {"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}

event: content_block_delta
data: {"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"Hm."}}

event: content_block_delta
data: {"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"c2ln"}}

event: content_block_start
data: {"type":"content_block_start","index":1,"content_block":{"type":"text","text":"Y"}}

event: content_block_delta
data: {"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"es."}}

event: content_block_start
data: {"type":"content_block_start","index":2,"content_block":{"type":"tool_use","id":"t","name":"ls","input":{"whole":true}}}

event: later_event
data: {"type":"later_event"}

event: message_delta
data: {"type":"message_delta","delta":{"stop_reason":"tool_use"},"usage":{"output_tokens":3}}

event: message_stop
data: {"type":"message_stop"}

`})
	reply, err := provider().Model(t, s, wire.Options{}).Ask(t.Context(), modeltest.Hello(), nil)
	want := []model.Call{{ID: "t", Name: "ls", Arguments: `{"whole":true}`}}
	if err != nil || reply.Text != "Yes." || !slices.Equal(reply.Calls, want) {
		t.Errorf("the reply is %+v, %v", reply, err)
	}
}

// TestRequest holds the body of a request.
func TestRequest(t *testing.T) {
	r := modeltest.Hello()
	r.Tools = []model.Tool{{Name: "files.read", Description: "Reads <a> file", Schema: json.RawMessage(`{"required":["z","a"]}`)}, {Name: "files_read"}}
	r.Messages = append([]model.Message{modeltest.Say("system", "You are Anna."), modeltest.Say("developer", " ")}, r.Messages...)
	s := testmodel.Anthropic(t, testmodel.Reply{Calls: []testmodel.Call{{ID: "a", Name: "files_read"}, {ID: "b", Name: "files_read_2"}}})
	reply, err := provider().Model(t, s, wire.Options{Name: "m-2", MaxTokens: 9}).Ask(t.Context(), r, nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(reply.Calls) != 2 || reply.Calls[0].Name != "files.read" || reply.Calls[1].Name != "files_read" {
		t.Errorf("the calls are %+v", reply.Calls)
	}
	var got map[string]json.RawMessage
	if err := json.Unmarshal(s.Requests()[0].Body, &got); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"model": `"m-2"`, "stream": "true", "max_tokens": "9",
		"system":   `[{"text":"Be brief.\n\nYou are Anna.","type":"text"}]`,
		"messages": `[{"role":"user","content":[{"type":"text","text":"Hello"}]}]`,
		"tools": `[{"name":"files_read","description":"Reads <a> file","input_schema":{"type":"object","required":["z","a"],"properties":{}}},` +
			`{"name":"files_read_2","input_schema":{"type":"object","properties":{}}}]`,
	} {
		if string(got[name]) != want {
			t.Errorf("%s is\n%s, want\n%s", name, got[name], want)
		}
		delete(got, name)
	}
	if len(got) > 0 {
		t.Errorf("it also sends %v", got)
	}
}

// TestFormerTools: a request lists all tools that were called before, as the API requires.
func TestFormerTools(t *testing.T) {
	call := turn.Node{ID: "a", Kind: turn.KindAssistant, Calls: []model.Call{{ID: "c", Name: "ls", Arguments: "{}"}}}
	result := turn.Node{ID: "b", Kind: turn.KindToolBoundary, CallID: "c", Tool: "ls", Text: "No such folder", Failed: true}
	r := modeltest.Hello()
	r.Messages = append(r.Messages, call.Message(), result.Message())
	s := testmodel.Anthropic(t, testmodel.Reply{Text: []string{"Oh."}})
	if _, err := provider().Model(t, s, wire.Options{}).Ask(t.Context(), r, nil); err != nil {
		t.Fatal(err)
	}
	body := string(s.Requests()[0].Body)
	for _, want := range []string{
		`"tools":[{"name":"ls","description":"Not available any more.","input_schema":{"type":"object"}}]`, `"tool_choice":{"type":"none"}`,
		`{"type":"tool_result","tool_use_id":"c","content":[{"type":"text","text":"No such folder"}],"is_error":true}`,
	} {
		if !strings.Contains(body, want) {
			t.Errorf("no %s in\n%s", want, body)
		}
	}
}
