package anthropic_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/bough-dev/bough/agent"
	"github.com/bough-dev/bough/agent/model/anthropic"
	"github.com/bough-dev/bough/agent/model/internal/turnwalk"
	"github.com/bough-dev/bough/internal/testmodel"
)

const key = "sk-test-0123456789abcdef"

// newModel returns a model that asks a server.
func newModel(t *testing.T, s *testmodel.Server, o anthropic.Options) *anthropic.Model {
	t.Helper()
	o.BaseURL = s.URL() + "/v1"
	m, err := anthropic.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func say(role, text string) agent.Message {
	content, _ := json.Marshal(text)
	return agent.Message{ID: "m", Role: role, Content: content, Metadata: json.RawMessage(`{}`)}
}

func hello() *agent.Request {
	return &agent.Request{Agent: "anna", ModelID: "m-1", System: "Be brief.", Messages: []agent.Message{say("user", "Hello")}}
}

// TestReply: what a server says is the reply, and what was streamed is its text.
func TestReply(t *testing.T) {
	calls := []testmodel.Call{
		{ID: "toolu_a", Name: "ls", Arguments: []string{`{"pa`, `th":"/"}`}},
		{ID: "toolu_b", Name: "ls"},
	}
	for _, c := range []struct {
		name  string
		reply testmodel.Reply
		want  agent.Reply
	}{
		{"a text", testmodel.Reply{Text: []string{"Hel", "lo ", "✓\n"}}, agent.Reply{Text: "Hello ✓\n"}},
		{"calls", testmodel.Reply{Text: []string{"Let me see."}, Calls: calls}, agent.Reply{Text: "Let me see.", Calls: []agent.Call{
			{ID: "toolu_a", Name: "ls", Arguments: `{"path":"/"}`}, {ID: "toolu_b", Name: "ls", Arguments: "{}"}}}},
		{"calls without ids", testmodel.Reply{Calls: []testmodel.Call{{Name: "ls"}}}, agent.Reply{Calls: []agent.Call{{ID: "call_0", Name: "ls", Arguments: "{}"}}}},
		{"no stream", testmodel.Reply{Plain: true, Text: []string{"Hello"}, Calls: calls[:1]},
			agent.Reply{Text: "Hello", Calls: []agent.Call{{ID: "toolu_a", Name: "ls", Arguments: `{"path":"/"}`}}}},
		{"a sequence to stop at", testmodel.Reply{Text: []string{"Hello"}, Stop: "stop_sequence"}, agent.Reply{Text: "Hello"}},
	} {
		s := testmodel.Anthropic(t, c.reply)
		var streamed strings.Builder
		reply, err := newModel(t, s, anthropic.Options{}).Ask(t.Context(), hello(), func(piece string) {
			if !utf8.ValidString(piece) || piece == "" {
				t.Errorf("%s: a piece is %q", c.name, piece)
			}
			streamed.WriteString(piece)
		})
		if err != nil || reply.Text != c.want.Text || !slices.Equal(reply.Calls, c.want.Calls) || streamed.String() != c.want.Text {
			t.Errorf("%s: the reply is %+v, %v, streamed %q; %q", c.name, reply, err, streamed.String(), s.Problems())
		}
	}
}

// TestThoughts: blocks that are no text and no call are not part of the reply.
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
	reply, err := newModel(t, s, anthropic.Options{}).Ask(t.Context(), hello(), nil)
	want := []agent.Call{{ID: "t", Name: "ls", Arguments: `{"whole":true}`}}
	if err != nil || reply.Text != "Yes." || !slices.Equal(reply.Calls, want) {
		t.Errorf("the reply is %+v, %v", reply, err)
	}
}

// TestFailure: whatever else a server does is an error in words, without the key.
func TestFailure(t *testing.T) {
	for _, c := range []struct {
		name  string
		reply testmodel.Reply
		o     anthropic.Options
		want  string // HOST stands for the server
	}{
		{"half", testmodel.Reply{Text: []string{"So"}, End: testmodel.Half}, anthropic.Options{}, "the server at HOST broke off its reply: unexpected EOF"},
		{"early", testmodel.Reply{Text: []string{"So"}, End: testmodel.Early}, anthropic.Options{}, "the server at HOST broke off its reply: it ended before the message did"},
		{"hang", testmodel.Reply{Text: []string{"So"}, End: testmodel.Hang}, anthropic.Options{Next: 50 * time.Millisecond}, "the server at HOST broke off its reply: nothing came for 50ms"},
		{"mute", testmodel.Reply{End: testmodel.Mute}, anthropic.Options{First: 50 * time.Millisecond}, "the server at HOST said nothing for 50ms"},
		{"garbage", testmodel.Reply{Raw: "event: message_start\ndata: {so\n\n"}, anthropic.Options{}, "the server at HOST sent what is no part of a reply: invalid character 's'"},
		{"other events", testmodel.Reply{Raw: "data: {\"a\":1}\n\n"}, anthropic.Options{}, "the server at HOST broke off its reply: it ended before the message did"},
		{"no stream and garbage", testmodel.Reply{Raw: "{so", Media: "application/json"}, anthropic.Options{}, "the server at HOST sent what is no reply: invalid character 's'"},
		{"no stream and an error", testmodel.Reply{Raw: `{"error":"out of memory"}`, Media: "application/json"}, anthropic.Options{}, "the server at HOST refuses the request (200): out of memory"},
		{"nothing", testmodel.Reply{}, anthropic.Options{}, "m-1 said nothing"},
		{"blank", testmodel.Reply{Text: []string{" \n"}}, anthropic.Options{}, "m-1 said nothing"},
		{"an error in the stream", testmodel.Reply{Text: []string{"So"}, Error: "Overloaded " + key}, anthropic.Options{}, "the server at HOST broke off its reply: Overloaded (the key)"},
		{"max_tokens", testmodel.Reply{Text: []string{"So"}, Stop: "max_tokens"}, anthropic.Options{}, "m-1 stopped at its limit of 16384 tokens, before the end of its message"},
		{"window", testmodel.Reply{Text: []string{"So"}, Stop: "model_context_window_exceeded"}, anthropic.Options{}, "the conversation became too long for m-1"},
		{"refusal", testmodel.Reply{Text: []string{"So"}, Refuse: "x"}, anthropic.Options{}, "m-1 refuses to answer"},
		{"pause", testmodel.Reply{Text: []string{"So"}, Stop: "pause_turn"}, anthropic.Options{}, "m-1 paused before the end of its message"},
		{"no tool", testmodel.Reply{Calls: []testmodel.Call{{ID: "a"}}}, anthropic.Options{}, "the model made a call and did not say of which tool"},
		{"one id", testmodel.Reply{Calls: []testmodel.Call{{ID: "a", Name: "ls"}, {ID: "a", Name: "ls"}}}, anthropic.Options{}, `the model made two calls with the id "a"`},
		{"400", testmodel.Reply{Status: 400, Error: "max_tokens: 16384 > 4096"}, anthropic.Options{}, "the server at HOST refuses the request (400): max_tokens: 16384 > 4096"},
		{"401", testmodel.Reply{Status: 401, Error: "invalid x-api-key " + key}, anthropic.Options{}, "the server at HOST does not accept the key (401): look at the variable ANTHROPIC_API_KEY"},
		{"403", testmodel.Reply{Status: 403, Error: "Not allowed"}, anthropic.Options{}, "the server at HOST does not allow this with this key (403): Not allowed"},
		{"404", testmodel.Reply{Status: 404, Error: "model: m-1"}, anthropic.Options{}, `the server at HOST knows no model "m-1" (404): model: m-1`},
		{"nothing there", testmodel.Reply{Status: 404, Raw: "404 page not found"}, anthropic.Options{}, "the server at HOST has nothing at / (404): is the base URL right?"},
		{"413", testmodel.Reply{Status: 413, Error: "Request exceeds the maximum size"}, anthropic.Options{}, "the conversation is larger than the server at HOST takes (413)"},
		{"429", testmodel.Reply{Status: 429, Error: "rate limit"}, anthropic.Options{Retries: -1}, "the server at HOST takes no more requests for now (429): rate limit"},
		{"429 for long", testmodel.Reply{Status: 429, RetryAfter: "86400"}, anthropic.Options{}, "the server at HOST takes no more requests for now (429)"},
		{"529", testmodel.Reply{Status: 529, Error: key}, anthropic.Options{Retries: -1}, "the server at HOST is in trouble (529): (the key)"},
		{"elsewhere", testmodel.Reply{Status: 307, Location: "http://other.example/v1", Raw: "x"}, anthropic.Options{}, "the server at HOST sends requests on to other.example, and the key does not go along: correct the base URL"},
		{"too long", testmodel.Reply{Status: 400, Error: "prompt is too long: 201234 tokens > 200000 maximum"}, anthropic.Options{},
			"the conversation is 1234 tokens too long for m-1 (201234 of at most 200000)"},
		{"too long with its answer", testmodel.Reply{Status: 400, Error: "input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000, decrease input length or `max_tokens` and try again"}, anthropic.Options{},
			"the conversation is 10000 tokens too long for m-1 (210000 of at most 200000)"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := testmodel.Anthropic(t, c.reply)
			c.o.Key = key
			var streamed strings.Builder
			reply, err := newModel(t, s, c.o).Ask(t.Context(), hello(), func(piece string) { streamed.WriteString(piece) })
			want := strings.ReplaceAll(c.want, "HOST", strings.TrimPrefix(s.URL(), "http://"))
			if reply != nil || err == nil || !strings.HasPrefix(err.Error(), want) {
				t.Fatalf("it says %+v, %v, want %q", reply, err, want)
			}
			if strings.Contains(err.Error(), key) || strings.ContainsAny(err.Error(), "\r\n") {
				t.Errorf("it says %q", err)
			}
			if got := strings.Join(c.reply.Text, ""); c.reply.Status == 0 && c.reply.Raw == "" && streamed.String() != got {
				t.Errorf("%q is streamed, want %q", streamed.String(), got)
			}
			if n := len(s.Requests()); n != 1 {
				t.Errorf("it is asked %d times", n)
			}
		})
	}
}

// TestRetry: what may pass is tried again, and never once something was said.
func TestRetry(t *testing.T) {
	limited := testmodel.Reply{Status: 429, RetryAfter: "0"}
	for _, c := range []struct {
		script  []testmodel.Reply
		retries int
		asked   int
		fails   string
	}{
		{[]testmodel.Reply{limited, {Status: 503, RetryAfter: "0"}, {Text: []string{"Hello"}}}, 0, 3, ""},
		{[]testmodel.Reply{limited, limited, limited, {Text: []string{"Hello"}}}, 0, 3, "takes no more requests for now (429)"},
		{[]testmodel.Reply{limited, limited, limited, {Text: []string{"Hello"}}}, 3, 4, ""},
		{[]testmodel.Reply{limited, {Text: []string{"Hello"}}}, -1, 1, "takes no more requests for now (429)"},
		{[]testmodel.Reply{{End: testmodel.Early, Text: []string{"So"}}, {Text: []string{"Hello"}}}, 5, 1, "broke off"},
		{[]testmodel.Reply{{Status: 400}, {Text: []string{"Hello"}}}, 5, 1, "refuses"},
	} {
		s := testmodel.Anthropic(t, c.script...)
		reply, err := newModel(t, s, anthropic.Options{Retries: c.retries}).Ask(t.Context(), hello(), nil)
		if n := len(s.Requests()); n != c.asked {
			t.Errorf("%+v: it is asked %d times, want %d", c.script, n, c.asked)
		}
		if c.fails == "" && (err != nil || reply.Text != "Hello") || c.fails != "" && (err == nil || !strings.Contains(err.Error(), c.fails)) {
			t.Errorf("%+v: it says %+v, %v, want %q", c.script, reply, err, c.fails)
		}
	}
}

// TestUnreachable: nobody is there.
func TestUnreachable(t *testing.T) {
	m, err := anthropic.New(anthropic.Options{BaseURL: "http://user:secret@127.0.0.1:1/v1?token=secret", Retries: -1})
	if err != nil {
		t.Fatal(err)
	}
	_, err = m.Ask(t.Context(), hello(), nil)
	if err == nil || !strings.HasPrefix(err.Error(), "Anthropic cannot be reached at 127.0.0.1:1: dial tcp") || strings.Contains(err.Error(), "secret") {
		t.Errorf("it says %v", err)
	}
}

// TestCancel: who does not want to wait need not.
func TestCancel(t *testing.T) {
	why := errors.New("the user wants so")
	for _, end := range []testmodel.End{testmodel.Mute, testmodel.Hang} {
		s := testmodel.Anthropic(t, testmodel.Reply{Text: []string{"So"}, End: end})
		ctx, cancel := context.WithCancelCause(t.Context())
		if end == testmodel.Mute {
			go func() {
				for len(s.Requests()) == 0 {
					time.Sleep(time.Millisecond)
				}
				cancel(why)
			}()
		}
		_, err := newModel(t, s, anthropic.Options{}).Ask(ctx, hello(), func(string) { cancel(why) })
		if err != why {
			t.Errorf("it ends with %v", err)
		}
	}
}

// TestNew: what cannot be asked is said at once.
func TestNew(t *testing.T) {
	t.Setenv("ANTHROPIC_API_KEY", key)
	for _, c := range []struct {
		o    anthropic.Options
		want string
	}{
		{anthropic.Options{}, "there is no key for Anthropic: put it into the variable ANTHROPIC_API_KEY"},
		{anthropic.Options{BaseURL: "https://api.anthropic.com"}, "there is no key for Anthropic"},
		{anthropic.Options{Key: " " + key + "\n"}, ""},
		{anthropic.Options{Key: key + "\nsecret"}, "the key for Anthropic holds characters that no key has"},
		{anthropic.Options{BaseURL: "localhost:11434"}, "the base URL for Anthropic is no http or https address"},
		{anthropic.Options{BaseURL: "http://:secret"}, "the base URL for Anthropic is no http or https address"},
		{anthropic.Options{BaseURL: "http://localhost:11434/v1"}, ""},
	} {
		_, err := anthropic.New(c.o)
		if (err == nil) != (c.want == "") || err != nil && (!strings.HasPrefix(err.Error(), c.want) || strings.Contains(err.Error(), "secret")) {
			t.Errorf("%+v: %v, want %q", c.o, err, c.want)
		}
	}
	m, err := anthropic.New(anthropic.Options{Key: key})
	if err != nil {
		t.Fatal(err)
	}
	if s := fmt.Sprintf("%+v %#v", m, m); strings.Contains(s, key) {
		t.Errorf("it is printed as %s", s)
	}
	r := hello()
	r.ModelID = ""
	if _, err := m.Ask(t.Context(), r, nil); err == nil || err.Error() != "no model of Anthropic is chosen" {
		t.Errorf("no model: %v", err)
	}
}

// TestEnvironment: what the SDK would find in the environment goes nowhere.
func TestEnvironment(t *testing.T) {
	for _, name := range []string{"ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_PROFILE", "ANTHROPIC_FEDERATION_RULE_ID"} {
		t.Setenv(name, "stray")
	}
	t.Setenv("ANTHROPIC_CUSTOM_HEADERS", "X-Stray: stray")
	t.Setenv("ANTHROPIC_BASE_URL", "http://stray.example")
	for _, given := range []string{"", key} {
		s := testmodel.Anthropic(t, testmodel.Reply{Text: []string{"Hello"}})
		s.Key = given
		if _, err := newModel(t, s, anthropic.Options{Key: given}).Ask(t.Context(), hello(), nil); err != nil {
			t.Fatal(err)
		}
		h := s.Requests()[0].Header
		if h.Get("X-Api-Key") != given || h.Get("Authorization") != "" {
			t.Errorf("%q and %q are sent", h.Get("X-Api-Key"), h.Get("Authorization"))
		}
		for name, values := range h {
			if slices.Contains(values, "stray") || slices.Contains(values, "Bearer stray") {
				t.Errorf("%s is %q", name, values)
			}
		}
	}
}

// TestRequest: what is sent of a request.
func TestRequest(t *testing.T) {
	r := hello()
	r.Tools = []agent.Tool{{Name: "files.read", Description: "Reads <a> file", Schema: json.RawMessage(`{"required":["z","a"]}`)}, {Name: "files_read"}}
	r.Messages = append([]agent.Message{say("system", "You are Anna."), say("developer", " ")}, r.Messages...)
	s := testmodel.Anthropic(t, testmodel.Reply{Calls: []testmodel.Call{{ID: "a", Name: "files_read"}, {ID: "b", Name: "files_read_2"}}})
	reply, err := newModel(t, s, anthropic.Options{Name: "m-2", MaxTokens: 9}).Ask(t.Context(), r, nil)
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
		"tools": `[{"name":"files_read","description":"Reads \u003ca\u003e file","input_schema":{"type":"object","required":["z","a"],"properties":{}}},` +
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

// TestFormerTools: the API wants to know of all tools that were called.
func TestFormerTools(t *testing.T) {
	call := agent.Node{ID: "a", Kind: agent.KindAssistant, Calls: []agent.Call{{ID: "c", Name: "ls", Arguments: "{}"}}}
	result := agent.Node{ID: "b", Kind: agent.KindToolBoundary, CallID: "c", Tool: "ls", Text: "No such folder", Failed: true}
	r := hello()
	r.Messages = append(r.Messages, call.Message(), result.Message())
	s := testmodel.Anthropic(t, testmodel.Reply{Text: []string{"Oh."}})
	if _, err := newModel(t, s, anthropic.Options{}).Ask(t.Context(), r, nil); err != nil {
		t.Fatal(err)
	}
	body := string(s.Requests()[0].Body)
	for _, want := range []string{
		`"tools":[{"name":"ls","description":"Not available any more.","input_schema":{"type":"object"}}]`, `"tool_choice":{"type":"none"}`,
		`{"type":"tool_result","tool_use_id":"c","content":[{"type":"text","text":"No such folder"}],"is_error":true}`,
	} {
		if !strings.Contains(body, want) {
			t.Errorf("there is no %s in\n%s", want, body)
		}
	}
}

// TestTurns: whatever an agent lives through, the API takes what it is sent.
func TestTurns(t *testing.T) {
	s := testmodel.Anthropic(t)
	s.Answer = func(*testmodel.Request) testmodel.Reply { return testmodel.Reply{Text: []string{"Hello"}} }
	m := newModel(t, s, anthropic.Options{})
	asked := 0
	for seed := range uint64(12) {
		turnwalk.Walk(seed, 60, func(r *agent.Request) {
			_, err := m.Ask(t.Context(), r, nil)
			if err == nil {
				asked++
				return
			}
			if !strings.Contains(err.Error(), "to answer") { // an empty prompt
				all, _ := json.Marshal(r.Messages)
				t.Fatalf("%v\n%s", err, all)
			}
		})
	}
	if asked < 100 || len(s.Problems()) > 0 {
		t.Errorf("it is asked %d times, %q", asked, s.Problems())
	}
}
