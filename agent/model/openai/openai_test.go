package openai_test

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
	"github.com/bough-dev/bough/agent/model/internal/turnwalk"
	"github.com/bough-dev/bough/agent/model/openai"
	"github.com/bough-dev/bough/internal/testmodel"
)

const key = "sk-test-0123456789abcdef"

// newModel returns a model that asks a server.
func newModel(t *testing.T, s *testmodel.Server, o openai.Options) *openai.Model {
	t.Helper()
	o.BaseURL = s.URL() + "/v1"
	m, err := openai.New(o)
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
		{ID: "call_a", Name: "ls", Arguments: []string{`{"pa`, `th":"/"}`}},
		{ID: "call_b", Name: "ls"},
	}
	for _, c := range []struct {
		name  string
		reply testmodel.Reply
		want  agent.Reply
	}{
		{"a text", testmodel.Reply{Text: []string{"Hel", "lo ", "✓\n"}}, agent.Reply{Text: "Hello ✓\n"}},
		{"calls", testmodel.Reply{Text: []string{"Let me see."}, Calls: calls}, agent.Reply{Text: "Let me see.", Calls: []agent.Call{
			{ID: "call_a", Name: "ls", Arguments: `{"path":"/"}`}, {ID: "call_b", Name: "ls", Arguments: "{}"}}}},
		{"calls without ids", testmodel.Reply{Calls: []testmodel.Call{{Name: "ls"}, {ID: "call_0", Name: "ls"}, {Name: "cat"}}},
			agent.Reply{Calls: []agent.Call{{ID: "call_1", Name: "ls", Arguments: "{}"}, {ID: "call_0", Name: "ls", Arguments: "{}"}, {ID: "call_2", Name: "cat", Arguments: "{}"}}}},
		{"no stream", testmodel.Reply{Plain: true, Text: []string{"Hello"}, Calls: calls[:1]},
			agent.Reply{Text: "Hello", Calls: []agent.Call{{ID: "call_a", Name: "ls", Arguments: `{"path":"/"}`}}}},
		{"another reason to stop", testmodel.Reply{Text: []string{"Hello"}, Stop: "eos"}, agent.Reply{Text: "Hello"}},
		{"characters in halves", testmodel.Reply{Raw: "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"gr\xc3\"}}]}\n\n" +
			"data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"\xb6\xc3\x9f\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n"}, agent.Reply{Text: "größ"}},
		{"nothing after the end", testmodel.Reply{Raw: "data: {\"choices\":[{\"delta\":{\"content\":\"Hello\"},\"finish_reason\":\"stop\"}]}\n\n", End: testmodel.Hang}, agent.Reply{Text: "Hello"}},
		{"calls of one index", testmodel.Reply{Raw: `data: {"choices":[{"delta":{"tool_calls":[{"id":"a","function":{"name":"ls","arguments":"{}"}},{"id":"b","function":{"name":"ls","arguments":"{}"}}]}}]}` +
			"\n\n" + `data: {"choices":[{"delta":{"tool_calls":[{"function":{"name":"cat","arguments":"{"}}]}}]}` +
			"\n\n" + `data: {"choices":[{"delta":{"tool_calls":[{"function":{"arguments":"}"}}]},"finish_reason":"tool_calls"}]}` + "\n\n"},
			agent.Reply{Calls: []agent.Call{{ID: "a", Name: "ls", Arguments: "{}"}, {ID: "b", Name: "ls", Arguments: "{}"}, {ID: "call_0", Name: "cat", Arguments: "{}"}}}},
	} {
		s := testmodel.OpenAI(t, c.reply)
		var streamed strings.Builder
		reply, err := newModel(t, s, openai.Options{}).Ask(t.Context(), hello(), func(piece string) {
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

// TestFailure: whatever else a server does is an error in words, without the key.
func TestFailure(t *testing.T) {
	for _, c := range []struct {
		name  string
		reply testmodel.Reply
		o     openai.Options
		want  string // HOST stands for the server
	}{
		{"half", testmodel.Reply{Text: []string{"So"}, End: testmodel.Half}, openai.Options{}, "the server at HOST broke off its reply: unexpected EOF"},
		{"early", testmodel.Reply{Text: []string{"So"}, End: testmodel.Early}, openai.Options{}, "the server at HOST broke off its reply: it ended before the message did"},
		{"hang", testmodel.Reply{Text: []string{"So"}, End: testmodel.Hang}, openai.Options{Next: 50 * time.Millisecond}, "the server at HOST broke off its reply: nothing came for 50ms"},
		{"mute", testmodel.Reply{End: testmodel.Mute}, openai.Options{First: 50 * time.Millisecond}, "the server at HOST said nothing for 50ms"},
		{"garbage", testmodel.Reply{Raw: "data: {so\n\n"}, openai.Options{}, "the server at HOST sent what is no part of a reply: invalid character 's'"},
		{"other JSON", testmodel.Reply{Raw: "data: {\"a\":1}\n\n"}, openai.Options{}, "the server at HOST broke off its reply: it ended before the message did"},
		{"no stream and garbage", testmodel.Reply{Raw: "{so", Media: "application/json"}, openai.Options{}, "the server at HOST sent what is no reply: invalid character 's'"},
		{"no stream and an error", testmodel.Reply{Raw: `{"error":"out of memory"}`, Media: "application/json"}, openai.Options{}, "the server at HOST refuses the request (200): out of memory"},
		{"a page", testmodel.Reply{Raw: "<html>", Media: "text/html"}, openai.Options{}, "the server at HOST answers with a web page: is the base URL right?"},
		{"nothing", testmodel.Reply{}, openai.Options{}, "m-1 said nothing"},
		{"blank", testmodel.Reply{Text: []string{" \n"}}, openai.Options{}, "m-1 said nothing"},
		{"an error in the stream", testmodel.Reply{Text: []string{"So"}, Error: "The server had an error\nwhile it " + key}, openai.Options{}, "the server at HOST broke off its reply: The server had an error while it (the key)"},
		{"length", testmodel.Reply{Text: []string{"So"}, Stop: "length"}, openai.Options{MaxTokens: 7}, "m-1 stopped at its limit of 7 tokens, before the end of its message"},
		{"another's length", testmodel.Reply{Text: []string{"So"}, Stop: "length"}, openai.Options{}, "m-1 stopped at its limit of tokens, before the end of its message"},
		{"filter", testmodel.Reply{Text: []string{"So"}, Stop: "content_filter"}, openai.Options{}, "a content filter stopped the reply of m-1"},
		{"refusal", testmodel.Reply{Refuse: "I can't."}, openai.Options{}, "m-1 refuses to answer: I can't."},
		{"no tool", testmodel.Reply{Calls: []testmodel.Call{{ID: "a"}}}, openai.Options{}, "the model made a call and did not say of which tool"},
		{"one id", testmodel.Reply{Calls: []testmodel.Call{{ID: "a", Name: "ls"}, {ID: "a", Name: "ls"}}}, openai.Options{}, `the model made two calls with the id "a"`},
		{"400", testmodel.Reply{Status: 400, Error: "Unknown parameter"}, openai.Options{}, "the server at HOST refuses the request (400): Unknown parameter"},
		{"401", testmodel.Reply{Status: 401, Error: "Incorrect API key provided: " + key}, openai.Options{}, "the server at HOST does not accept the key (401): look at the variable OPENAI_API_KEY"},
		{"403", testmodel.Reply{Status: 403, Error: "Not in your country"}, openai.Options{}, "the server at HOST does not allow this with this key (403): Not in your country"},
		{"404", testmodel.Reply{Status: 404, Kind: "model_not_found", Error: "There is none."}, openai.Options{}, `the server at HOST knows no model "m-1" (404): There is none.`},
		{"nothing there", testmodel.Reply{Status: 404, Raw: "404 page not found"}, openai.Options{}, "the server at HOST has nothing at /v1/ (404): is the base URL right?"},
		{"429", testmodel.Reply{Status: 429, Error: "You exceeded your current quota"}, openai.Options{Retries: -1}, "the server at HOST takes no more requests for now (429): You exceeded your current quota"},
		{"429 for long", testmodel.Reply{Status: 429, RetryAfter: "86400"}, openai.Options{}, "the server at HOST takes no more requests for now (429)"},
		{"500", testmodel.Reply{Status: 500, Error: key}, openai.Options{Retries: -1}, "the server at HOST is in trouble (500): (the key)"},
		{"elsewhere", testmodel.Reply{Status: 307, Location: "http://other.example/v1", Raw: "x"}, openai.Options{}, "the server at HOST sends requests on to other.example, and the key does not go along: correct the base URL"},
		{"too long", testmodel.Reply{Status: 400, Kind: "context_length_exceeded", Error: "This model's maximum context length is 8192 tokens. However, your messages resulted in 9001 tokens. Please reduce the length of the messages."},
			openai.Options{}, "the conversation is 809 tokens too long for m-1 (9001 of at most 8192)"},
		{"too long, nobody knows", testmodel.Reply{Status: 400, Kind: "context_length_exceeded", Error: "Your input exceeds the context window of this model."},
			openai.Options{}, "the conversation is too long for m-1: Your input exceeds the context window of this model."},
		{"too long for llama.cpp", testmodel.Reply{Status: 400, Raw: `{"error":{"code":400,"message":"the request exceeds the available context size, try increasing it","type":"exceed_context_size_error","n_prompt_tokens":5000,"n_ctx":4096}}`, Media: "application/json"},
			openai.Options{}, "the conversation is 904 tokens too long for m-1 (5000 of at most 4096)"},
		{"too long for vLLM", testmodel.Reply{Status: 400, Raw: `{"object":"error","message":"This model's maximum context length is 4096 tokens. However, you requested 5000 tokens in the messages, Please reduce the length of the messages.","type":"BadRequestError","param":null,"code":400}`, Media: "application/json"},
			openai.Options{}, "the conversation is 904 tokens too long for m-1 (5000 of at most 4096)"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := testmodel.OpenAI(t, c.reply)
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
		s := testmodel.OpenAI(t, c.script...)
		reply, err := newModel(t, s, openai.Options{Retries: c.retries}).Ask(t.Context(), hello(), nil)
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
	m, err := openai.New(openai.Options{BaseURL: "http://user:secret@127.0.0.1:1/v1?token=secret", Retries: -1})
	if err != nil {
		t.Fatal(err)
	}
	_, err = m.Ask(t.Context(), hello(), nil)
	if err == nil || !strings.HasPrefix(err.Error(), "OpenAI cannot be reached at 127.0.0.1:1: dial tcp") || strings.Contains(err.Error(), "secret") {
		t.Errorf("it says %v", err)
	}
}

// TestCancel: who does not want to wait need not.
func TestCancel(t *testing.T) {
	why := errors.New("the user wants so")
	for _, end := range []testmodel.End{testmodel.Mute, testmodel.Hang} {
		s := testmodel.OpenAI(t, testmodel.Reply{Text: []string{"So"}, End: end})
		ctx, cancel := context.WithCancelCause(t.Context())
		if end == testmodel.Mute {
			go func() {
				for len(s.Requests()) == 0 {
					time.Sleep(time.Millisecond)
				}
				cancel(why)
			}()
		}
		_, err := newModel(t, s, openai.Options{}).Ask(ctx, hello(), func(string) { cancel(why) })
		if err != why {
			t.Errorf("it ends with %v", err)
		}
	}
}

// TestNew: what cannot be asked is said at once.
func TestNew(t *testing.T) {
	t.Setenv("OPENAI_API_KEY", key)
	for _, c := range []struct {
		o    openai.Options
		want string
	}{
		{openai.Options{}, "there is no key for OpenAI: put it into the variable OPENAI_API_KEY"},
		{openai.Options{BaseURL: "https://api.openai.com/v1"}, "there is no key for OpenAI"},
		{openai.Options{Key: " " + key + "\n"}, ""},
		{openai.Options{Key: key + "\nsecret"}, "the key for OpenAI holds characters that no key has"},
		{openai.Options{BaseURL: "localhost:11434"}, "the base URL for OpenAI is no http or https address"},
		{openai.Options{BaseURL: "http://:secret"}, "the base URL for OpenAI is no http or https address"},
		{openai.Options{BaseURL: "http://localhost:11434/v1"}, ""},
	} {
		_, err := openai.New(c.o)
		if (err == nil) != (c.want == "") || err != nil && (!strings.HasPrefix(err.Error(), c.want) || strings.Contains(err.Error(), "secret")) {
			t.Errorf("%+v: %v, want %q", c.o, err, c.want)
		}
	}
	m, err := openai.New(openai.Options{Key: key})
	if err != nil {
		t.Fatal(err)
	}
	if s := fmt.Sprintf("%+v %#v", m, m); strings.Contains(s, key) {
		t.Errorf("it is printed as %s", s)
	}
	r := hello()
	r.ModelID = ""
	if _, err := m.Ask(t.Context(), r, nil); err == nil || err.Error() != "no model of OpenAI is chosen" {
		t.Errorf("no model: %v", err)
	}
}

// TestEnvironment: what the SDK would find in the environment goes nowhere.
func TestEnvironment(t *testing.T) {
	for _, name := range []string{"OPENAI_API_KEY", "OPENAI_ADMIN_KEY", "OPENAI_ORG_ID", "OPENAI_PROJECT_ID"} {
		t.Setenv(name, "stray")
	}
	t.Setenv("OPENAI_CUSTOM_HEADERS", "X-Stray: stray")
	t.Setenv("OPENAI_BASE_URL", "http://stray.example")
	for _, given := range []string{"", key} {
		s := testmodel.OpenAI(t, testmodel.Reply{Text: []string{"Hello"}})
		s.Key = given
		if _, err := newModel(t, s, openai.Options{Key: given}).Ask(t.Context(), hello(), nil); err != nil {
			t.Fatal(err)
		}
		h := s.Requests()[0].Header
		if given == "" && h.Get("Authorization") != "" {
			t.Errorf("without a key %q is sent", h.Get("Authorization"))
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
	s := testmodel.OpenAI(t, testmodel.Reply{Calls: []testmodel.Call{{ID: "a", Name: "files_read"}, {ID: "b", Name: "files_read_2"}}})
	reply, err := newModel(t, s, openai.Options{Name: "m-2", MaxTokens: 9}).Ask(t.Context(), r, nil)
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
		"messages": `[{"role":"system","content":"Be brief."},{"role":"user","content":"Hello"}]`,
		"tools": `[{"type":"function","function":{"name":"files_read","description":"Reads <a> file","parameters":{"type":"object","required":["z","a"],"properties":{}}}},` +
			`{"type":"function","function":{"name":"files_read_2","parameters":{"type":"object","properties":{}}}}]`,
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

// TestTurns: whatever an agent lives through, the API takes what it is sent.
func TestTurns(t *testing.T) {
	s := testmodel.OpenAI(t)
	s.Answer = func(*testmodel.Request) testmodel.Reply { return testmodel.Reply{Text: []string{"Hello"}} }
	m := newModel(t, s, openai.Options{})
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
