package openai_test

import (
	"encoding/json"
	"testing"

	"github.com/bough-dev/bough/agent/model"
	"github.com/bough-dev/bough/agent/model/internal/modeltest"
	"github.com/bough-dev/bough/agent/model/internal/wire"
	"github.com/bough-dev/bough/agent/model/openai"
	"github.com/bough-dev/bough/internal/testmodel"
)

func provider() *modeltest.Provider {
	return &modeltest.Provider{
		Name:   "OpenAI",
		KeyVar: "OPENAI_API_KEY",
		URL:    "https://api.openai.com/v1",
		Server: testmodel.OpenAI,
		New:    func(o wire.Options) (model.Model, error) { return openai.New(openai.Options(o)) },
		Stray: map[string]string{
			"OPENAI_API_KEY": "stray", "OPENAI_ADMIN_KEY": "stray", "OPENAI_ORG_ID": "stray", "OPENAI_PROJECT_ID": "stray",
			"OPENAI_CUSTOM_HEADERS": "X-Stray: stray", "OPENAI_BASE_URL": "http://stray.example",
		},
	}
}

func TestModel(t *testing.T) {
	p := provider()
	p.Replies = []modeltest.Reply{
		{Name: "calls without ids", Reply: testmodel.Reply{Calls: []testmodel.Call{{Name: "ls"}, {ID: "call_0", Name: "ls"}, {Name: "cat"}}},
			Want: model.Reply{Calls: []model.Call{{ID: "call_1", Name: "ls", Arguments: "{}"}, {ID: "call_0", Name: "ls", Arguments: "{}"}, {ID: "call_2", Name: "cat", Arguments: "{}"}}}},
		{Name: "another reason to stop", Reply: testmodel.Reply{Text: []string{"Hello"}, Stop: "eos"}, Want: model.Reply{Text: "Hello"}},
		{Name: "characters in halves", Reply: testmodel.Reply{Raw: "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"gr\xc3\"}}]}\n\n" +
			"data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"\xb6\xc3\x9f\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n"}, Want: model.Reply{Text: "größ"}},
		{Name: "nothing after the end", Reply: testmodel.Reply{Raw: "data: {\"choices\":[{\"delta\":{\"content\":\"Hello\"},\"finish_reason\":\"stop\"}]}\n\n", End: testmodel.Hang}, Want: model.Reply{Text: "Hello"}},
		{Name: "calls of one index", Reply: testmodel.Reply{Raw: `data: {"choices":[{"delta":{"tool_calls":[{"id":"a","function":{"name":"ls","arguments":"{}"}},{"id":"b","function":{"name":"ls","arguments":"{}"}}]}}]}` +
			"\n\n" + `data: {"choices":[{"delta":{"tool_calls":[{"function":{"name":"cat","arguments":"{"}}]}}]}` +
			"\n\n" + `data: {"choices":[{"delta":{"tool_calls":[{"function":{"arguments":"}"}}]},"finish_reason":"tool_calls"}]}` + "\n\n"},
			Want: model.Reply{Calls: []model.Call{{ID: "a", Name: "ls", Arguments: "{}"}, {ID: "b", Name: "ls", Arguments: "{}"}, {ID: "call_0", Name: "cat", Arguments: "{}"}}}},
	}
	p.Failures = []modeltest.Failure{
		{Name: "garbage", Reply: testmodel.Reply{Raw: "data: {so\n\n"}, Options: wire.Options{}, Want: "the server at HOST sent an invalid part of a reply: invalid character 's'"},
		{Name: "length", Reply: testmodel.Reply{Text: []string{"So"}, Stop: "length"}, Options: wire.Options{MaxTokens: 7}, Want: "m-1 stopped at its limit of 7 tokens, before the end of its message"},
		{Name: "another's length", Reply: testmodel.Reply{Text: []string{"So"}, Stop: "length"}, Options: wire.Options{}, Want: "m-1 stopped at its limit of tokens, before the end of its message"},
		{Name: "filter", Reply: testmodel.Reply{Text: []string{"So"}, Stop: "content_filter"}, Options: wire.Options{}, Want: "a content filter stopped the reply of m-1"},
		{Name: "refusal", Reply: testmodel.Reply{Refuse: "I can't."}, Options: wire.Options{}, Want: "m-1 refuses to answer: I can't."},
		{Name: "nothing there", Reply: testmodel.Reply{Status: 404, Raw: "404 page not found"}, Options: wire.Options{}, Want: "the server at HOST has no endpoint at /v1/ (404): is the base URL right?"},
		{Name: "too long", Reply: testmodel.Reply{Status: 400, Kind: "context_length_exceeded", Error: "This model's maximum context length is 8192 tokens. However, your messages resulted in 9001 tokens. Please reduce the length of the messages."},
			Options: wire.Options{}, Want: "the conversation is 809 tokens too long for m-1 (9001 of at most 8192)"},
		{Name: "too long, nobody knows", Reply: testmodel.Reply{Status: 400, Kind: "context_length_exceeded", Error: "Your input exceeds the context window of this model."},
			Options: wire.Options{}, Want: "the conversation is too long for m-1: Your input exceeds the context window of this model."},
		{Name: "too long for llama.cpp", Reply: testmodel.Reply{Status: 400, Raw: `{"error":{"code":400,"message":"the request exceeds the available context size, try increasing it","type":"exceed_context_size_error","n_prompt_tokens":5000,"n_ctx":4096}}`, Media: "application/json"},
			Options: wire.Options{}, Want: "the conversation is 904 tokens too long for m-1 (5000 of at most 4096)"},
		{Name: "too long for vLLM", Reply: testmodel.Reply{Status: 400, Raw: `{"object":"error","message":"This model's maximum context length is 4096 tokens. However, you requested 5000 tokens in the messages, Please reduce the length of the messages.","type":"BadRequestError","param":null,"code":400}`, Media: "application/json"},
			Options: wire.Options{}, Want: "the conversation is 904 tokens too long for m-1 (5000 of at most 4096)"},
	}
	modeltest.Run(t, *p)
}

// TestRequest holds the body of a request.
func TestRequest(t *testing.T) {
	r := modeltest.Hello()
	r.Tools = []model.Tool{{Name: "files.read", Description: "Reads <a> file", Schema: json.RawMessage(`{"required":["z","a"]}`)}, {Name: "files_read"}}
	s := testmodel.OpenAI(t, testmodel.Reply{Calls: []testmodel.Call{{ID: "a", Name: "files_read"}, {ID: "b", Name: "files_read_2"}}})
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
