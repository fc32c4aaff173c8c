package wire

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/bough-dev/bough/agent/model"
	"github.com/bough-dev/bough/convert/content"
	"github.com/bough-dev/bough/internal/testmodel"
	"github.com/bough-dev/bough/internal/testsize"
)

// stored returns a message of a session file, from its role, content and metadata.
func stored(role, said, metadata string) model.Message {
	return model.Message{ID: "m", Role: role, Content: json.RawMessage(said), Metadata: json.RawMessage(metadata)}
}

// send returns the reason why a provider rejects a prompt, "" if it does not.
func send(t testing.TB, f content.Format, p *Prompt) string {
	body := map[string]any{"model": "m", "messages": p.Messages}
	s, path := testmodel.NewOpenAI(testmodel.Reply{Text: []string{"Hi"}}), "/v1/chat/completions"
	if f == content.Anthropic {
		s, path = testmodel.NewAnthropic(testmodel.Reply{Text: []string{"Hi"}}), "/v1/messages"
		body["max_tokens"] = 9
		body["tools"] = []any{}
	}
	data, err := json.Marshal(body)
	if err != nil {
		t.Fatalf("%v: %s", err, p.Messages)
	}
	r := httptest.NewRequest("POST", path, bytes.NewReader(data))
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Anthropic-Version", "2023-06-01")
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	if w.Code != 200 && len(s.Problems()) == 0 {
		t.Fatalf("status %d without a reason", w.Code)
	}
	return strings.Join(s.Problems(), "; ")
}

// TestCompose: a conversation that programs stored in any form becomes a prompt that
// providers accept.
func TestCompose(t *testing.T) {
	hello := stored("user", `"Hello"`, "")
	for _, c := range []struct {
		name              string
		list              []model.Message
		openAI, anthropic string // messages, one a line; or an error
	}{
		{"as turns store it", []model.Message{hello,
			stored("assistant", `"Let me see."`, `{"tool_calls":[{"id":"a","type":"function","function":{"name":"ls","arguments":"{}"}},{"id":"b","type":"function","function":{"name":"ls","arguments":"so"}}]}`),
			stored("tool", `"x"`, `{"tool_call_id":"b","action_type":"ls"}`),
			stored("tool", `""`, `{"tool_call_id":"a","action_type":"ls","bough":{"failed":true}}`),
			stored("user", `"And?"`, "")},
			`{"role":"user","content":"Hello"}
{"role":"assistant","content":"Let me see.","tool_calls":[{"id":"a","type":"function","function":{"name":"ls","arguments":"{}"}},{"id":"b","type":"function","function":{"name":"ls","arguments":"{\"input\":\"so\"}"}}]}
{"role":"tool","tool_call_id":"b","content":"x"}
{"role":"tool","tool_call_id":"a","content":""}
{"role":"user","content":"And?"}`,
			`{"role":"user","content":[{"type":"text","text":"Hello"}]}
{"role":"assistant","content":[{"type":"text","text":"Let me see."},{"type":"tool_use","id":"a","name":"ls","input":{}},{"type":"tool_use","id":"b","name":"ls","input":{"input":"so"}}]}
{"role":"user","content":[{"type":"tool_result","tool_use_id":"b","content":[{"type":"text","text":"x"}],"is_error":false},{"type":"tool_result","tool_use_id":"a","is_error":true},{"type":"text","text":"And?"}]}`},
		{"as Anthropic has it", []model.Message{hello,
			stored("assistant", `[{"type":"thinking","thinking":"Hm.","signature":"c2ln"},{"type":"text","text":"So.","cache_control":{"type":"ephemeral"}},{"type":"tool_use","id":"a","name":"ls","input":{"p":1}},{"type":"tool_use","id":"b","name":"ls","input":{}}]`, ""),
			stored("user", `[{"type":"text","text":"Go on."},{"type":"tool_result","tool_use_id":"a","content":"x","is_error":true},{"type":"tool_result","tool_use_id":"b","content":[{"type":"text","text":" "},{"type":"text","text":"y"},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"aGk="}}]}]`, "")},
			`{"role":"user","content":"Hello"}
{"role":"assistant","content":"So.","tool_calls":[{"id":"a","type":"function","function":{"name":"ls","arguments":"{\"p\":1}"}},{"id":"b","type":"function","function":{"name":"ls","arguments":"{}"}}]}
{"role":"tool","tool_call_id":"a","content":"x"}
{"role":"tool","tool_call_id":"b","content":" y"}
{"role":"user","content":"Go on."}`,
			`{"role":"user","content":[{"type":"text","text":"Hello"}]}
{"role":"assistant","content":[{"type":"text","text":"So."},{"type":"tool_use","id":"a","name":"ls","input":{"p":1}},{"type":"tool_use","id":"b","name":"ls","input":{}}]}
{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":[{"type":"text","text":"x"}],"is_error":true},{"type":"tool_result","tool_use_id":"b","content":[{"type":"text","text":"y"},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"aGk="}}],"is_error":false},{"type":"text","text":"Go on."}]}`},
		{"calls of the old form, and without a caller", []model.Message{hello,
			stored("assistant", `""`, `{"tool_calls":[{"function":{"name":"file.read","arguments":""}}]}`),
			stored("tool", `"x"`, `{"action_type":"file.read"}`),
			stored("tool", `"late"`, `{"tool_call_id":"a"}`), hello},
			`{"role":"user","content":"Hello"}
{"role":"assistant","tool_calls":[{"id":"call_0","type":"function","function":{"name":"file_read","arguments":"{}"}}]}
{"role":"tool","tool_call_id":"call_0","content":"x"}
{"role":"user","content":"Hello"}`,
			`{"role":"user","content":[{"type":"text","text":"Hello"}]}
{"role":"assistant","content":[{"type":"tool_use","id":"call_0","name":"file_read","input":{}}]}
{"role":"user","content":[{"type":"tool_result","tool_use_id":"call_0","content":[{"type":"text","text":"x"}],"is_error":false},{"type":"text","text":"Hello"}]}`},
		{"no result, and an id twice", []model.Message{hello,
			stored("assistant", `""`, `{"tool_calls":[{"id":"call_0","function":{"name":"ls","arguments":"{}"}}]}`), hello,
			stored("assistant", `""`, `{"tool_calls":[{"id":"call_0","function":{"name":"ls","arguments":"{}"}}]}`),
			stored("tool", `"x"`, `{"tool_call_id":"call_0"}`)},
			`{"role":"user","content":"Hello"}
{"role":"assistant","tool_calls":[{"id":"call_0","type":"function","function":{"name":"ls","arguments":"{}"}}]}
{"role":"tool","tool_call_id":"call_0","content":"There is no result of this call."}
{"role":"user","content":"Hello"}
{"role":"assistant","tool_calls":[{"id":"call_1","type":"function","function":{"name":"ls","arguments":"{}"}}]}
{"role":"tool","tool_call_id":"call_1","content":"x"}`,
			`{"role":"user","content":[{"type":"text","text":"Hello"}]}
{"role":"assistant","content":[{"type":"tool_use","id":"call_0","name":"ls","input":{}}]}
{"role":"user","content":[{"type":"tool_result","tool_use_id":"call_0","content":[{"type":"text","text":"There is no result of this call."}],"is_error":true},{"type":"text","text":"Hello"}]}
{"role":"assistant","content":[{"type":"tool_use","id":"call_1","name":"ls","input":{}}]}
{"role":"user","content":[{"type":"tool_result","tool_use_id":"call_1","content":[{"type":"text","text":"x"}],"is_error":false}]}`},
		{"systems, and an assistant first", []model.Message{stored("system", `"Be kind."`, ""), stored("assistant", `"Hi!"`, ""), stored("SYSTEM", `"A note."`, ""), stored("system", `"More."`, ""), hello},
			`{"role":"system","content":"Be kind."}
{"role":"assistant","content":"Hi!"}
{"role":"user","content":"A note."}
{"role":"system","content":"More."}
{"role":"user","content":"Hello"}`,
			`{"role":"user","content":[{"type":"text","text":"(The conversation begins with your message.)"}]}
{"role":"assistant","content":[{"type":"text","text":"Hi!"}]}
{"role":"user","content":[{"type":"text","text":"A note."},{"type":"text","text":"More."},{"type":"text","text":"Hello"}]}`},
		{"files", []model.Message{stored("user", `[{"type":"image_url","image_url":{"url":"https://a.example/b.png"}},{"type":"image_url","image_path":"/home/a/b.png"},`+
			`{"type":"file","filename":"a.pdf","asset":{"bucket":"","s3_key":"k","etag":"","sha256":"00","mime":"application/pdf","size_b":1}}]`, "")},
			`{"role":"user","content":[{"type":"image_url","image_url":{"url":"https://a.example/b.png"}},{"type":"text","text":"(Here is a file that cannot be shown: image.)"},{"type":"text","text":"(Here is a file that cannot be shown: file, \"a.pdf\".)"}]}`,
			`{"role":"user","content":[{"type":"image","source":{"type":"url","url":"https://a.example/b.png"}},{"type":"text","text":"(Here is a file that cannot be shown: image.)"},{"type":"text","text":"(Here is a file that cannot be shown: file, \"a.pdf\".)"}]}`},
		{"nothing", []model.Message{stored("user", `" "`, ""), stored("system", `"Be kind."`, "")}, "no message to answer", "no message to answer"},
		{"its own", []model.Message{hello, stored("assistant", `"Hi"`, ""), stored("user", `""`, "")},
			"the last message with text is the model's own, so there is nothing to answer", "the last message with text is the model's own, so there is nothing to answer"},
	} {
		for f, want := range map[content.Format]string{content.OpenAI: c.openAI, content.Anthropic: c.anthropic} {
			p, err := Compose(&model.Request{Messages: c.list}, f)
			var lines []string
			if err != nil {
				lines = []string{err.Error()}
			} else {
				for _, m := range p.Messages {
					lines = append(lines, string(m))
				}
				if problem := send(t, f, p); problem != "" {
					t.Errorf("%s: %s says %s", c.name, f, problem)
				}
			}
			if got := strings.Join(lines, "\n"); got != want {
				t.Errorf("%s, for %s:\n%s\nwant\n%s", c.name, f, got, want)
			}
		}
	}
}

// TestComposeAnything: providers accept the prompt of any session file, with all its text.
func TestComposeAnything(t *testing.T) {
	roles := []string{"user", "assistant", "tool", "system", "developer", "function", "model", "TOOL", ""}
	ids := []string{"a", "b", "", "functions.ls:0", strings.Repeat("x", 60)}
	pieces := []string{
		`"said"`, `""`, `" \n"`, `null`, `42`, `{"a":NaN}`,
		`{"type":"text","text":"said"}`, `{"type":"text","text":""}`, `{"type":"text","text":"said","cache_control":{"type":"ephemeral"}}`,
		`{"type":"tool_use","id":"ID","name":"a.b","input":{"x":1}}`, `{"type":"tool_use","id":"ID","name":"ls","input":{"x":[NaN,-Infinity]}}`, `{"type":"tool-call","meta":{"id":"ID","name":"ls","arguments":"x"}}`,
		`{"type":"tool_result","tool_use_id":"ID","content":[{"type":"text","text":""}]}`, `{"type":"tool_result","tool_use_id":"ID","is_error":true}`,
		`{"type":"thinking","thinking":"hm","signature":""}`, `{"type":"redacted_thinking","data":"x"}`,
		`{"type":"image","source":{"type":"base64","media_type":"image/png","data":"aGk="}}`, `{"type":"image_url","image_url":"file:///x"}`,
		`{"type":"input_audio","input_audio":{"data":"aGk=","format":"wav"}}`, `{"type":"refusal","refusal":"no"}`, `{"type":"unknown","x":1}`,
		`{"type":"document","source":{"type":"text","media_type":"text/plain","data":"hi"},"title":"t"}`,
	}
	metas := []string{`{}`, `{}`, `{"tool_calls":[{"id":"ID","function":{"name":"ls","arguments":NaN}}],"x":Infinity}`, `{"tool_call_id":"ID"}`, `{"tool_call_id":"ID","action_type":"ls","bough":{"failed":true}}`, `{"bough":{"format":"anthropic"}}`,
		`{"tool_calls":[{"id":"ID","function":{"name":"ls","arguments":"{"}},{"id":"a","function":{"name":"größe","arguments":""}}]}`,
		`{"tool_calls":[{"id":"ID"},7,{"id":"ID","custom":{"name":"c","input":"x"}}]}`, `{"bough":{"name":"Anna Blume","rest":{"x":1}}}`}
	sent, seeds := 0, testsize.Of[uint64](80, 500, 3000)
	for seed := range seeds {
		random := rand.New(rand.NewPCG(seed, 3))
		one := func(list []string) string {
			return strings.ReplaceAll(list[random.IntN(len(list))], "ID", ids[random.IntN(len(ids))])
		}
		r := &model.Request{System: "Be brief."}
		for i := range 1 + random.IntN(8) {
			said := one(pieces)
			if random.IntN(2) == 0 {
				said = "[" + said + "," + one(pieces) + "," + one(pieces) + "]"
			}
			r.Messages = append(r.Messages, model.Message{ID: fmt.Sprint(i), Role: roles[random.IntN(len(roles))], Content: json.RawMessage(said), Metadata: json.RawMessage(one(metas))})
		}
		if random.IntN(2) == 0 {
			r.Messages = append(r.Messages, stored("user", `"the end"`, `{}`))
		}
		for _, f := range []content.Format{content.OpenAI, content.Anthropic} {
			before := string(fmt.Sprint(r))
			p, err := Compose(r, f)
			if string(fmt.Sprint(r)) != before {
				t.Fatalf("seed %d: the request has changed", seed)
			}
			if err != nil {
				if !strings.Contains(err.Error(), "to answer") {
					t.Errorf("seed %d: %v", seed, err)
				}
				continue
			}
			sent++
			if problem := send(t, f, p); problem != "" {
				t.Fatalf("seed %d: %s rejects with %s\n%s\nfrom %s", seed, f, problem, p.Messages, r.Messages)
			}
			all := fmt.Sprintf("%s%s", p.System, p.Messages)
			if last := r.Messages[len(r.Messages)-1]; string(last.Content) == `"the end"` && !strings.Contains(all, "the end") {
				t.Errorf("seed %d: the last message is not in %s", seed, all)
			}
		}
	}
	if sent < int(seeds)*2/3 {
		t.Errorf("only %d are sent", sent)
	}
}

// TestComposeNaN: the number tokens of Python become null.
func TestComposeNaN(t *testing.T) {
	call := stored("assistant", `[{"type":"tool_use","id":"a","name":"ls","input":{"x":[NaN,-Infinity,"NaN"]}}]`, `{"y":NaN}`)
	r := &model.Request{Messages: []model.Message{stored("user", `"NaN"`, ""), call, stored("user", `"Go on"`, "")}}
	for _, f := range []content.Format{content.OpenAI, content.Anthropic} {
		p, err := Compose(r, f)
		if err != nil {
			t.Fatal(err)
		}
		all := fmt.Sprintf("%s", p.Messages)
		if !strings.Contains(strings.ReplaceAll(all, `\"`, `"`), `[null,null,"NaN"]`) {
			t.Errorf("%s: %s", f, all)
		}
	}
}

// TestTools holds the tools in requests to providers.
func TestTools(t *testing.T) {
	hello := []model.Message{stored("user", `"Hello"`, "")}
	long := strings.Repeat("long", 30)
	for _, c := range []struct {
		tools []model.Tool
		want  string
	}{
		{[]model.Tool{{Name: "a"}, {Name: "a.b"}, {Name: "a/b"}, {Name: long + "1"}, {Name: long + "2"}},
			"a a_b a_b_2 " + long[:64] + " " + long[:62] + "_2"},
		{[]model.Tool{{Name: "a"}, {Name: "a"}}, `duplicate tool name "a"`},
		{[]model.Tool{{}}, "a tool has no name"},
		{[]model.Tool{{Name: "a", Schema: json.RawMessage(`{`)}}, `the schema of the tool "a" is not a JSON object`},
		{[]model.Tool{{Name: "a", Schema: json.RawMessage(`[]`)}}, `the schema of the tool "a" is not a JSON object`},
		{[]model.Tool{{Name: "a", Schema: json.RawMessage(`{"type":"string"}`)}}, `the schema of the tool "a" is not that of an object`},
	} {
		p, err := Compose(&model.Request{Messages: hello, Tools: c.tools}, content.OpenAI)
		var names []string
		if err != nil {
			names = []string{err.Error()}
		} else {
			for i, tool := range p.Tools {
				names = append(names, tool.Name)
				calls, err := p.Calls([]model.Call{{Name: tool.Name}})
				if err != nil || calls[0].Name != c.tools[i].Name {
					t.Errorf("%s is %+v, %v", tool.Name, calls, err)
				}
			}
		}
		if got := strings.Join(names, " "); got != c.want {
			t.Errorf("the tools are %q, want %q", got, c.want)
		}
	}
}

// TestTooLong: the errors of servers for a conversation that is too long are recognized.
func TestTooLong(t *testing.T) {
	for said, want := range map[string]string{
		"This model's maximum context length is 8192 tokens. However, your messages resulted in 9001 tokens (8001 in the messages, 1000 in the functions).": "809 tokens too long for m (9001 of at most 8192)",
		"This model's maximum context length is 8192 tokens. However, you requested 9000 tokens (8000 in the messages, 1000 in the completion).":            "808 tokens too long for m (9000 of at most 8192)",
		"This endpoint's maximum context length is 8192 tokens. However, you requested about 9000 tokens (8000 of text input, 1000 in the output).":         "808 tokens too long for m (9000 of at most 8192)",
		"'max_tokens' is too large: 100. This model's maximum context length is 8192 tokens and your request has 9000 input tokens (100 > 8192 - 9000).":    "808 tokens too long for m (9000 of at most 8192)",
		"You passed 5000 input tokens and requested 100 output tokens. However, the model's context length is only 4096 tokens":                             "1004 tokens too long for m (5100 of at most 4096)",
		"The decoder prompt (length 5000) is longer than the maximum model length of 4096.":                                                                 "904 tokens too long for m (5000 of at most 4096)",
		"request (5000 tokens) exceeds the available context size (4096 tokens), try increasing it":                                                         "904 tokens too long for m (5000 of at most 4096)",
		"The input token count (5000) exceeds the maximum number of tokens allowed (4096).":                                                                 "904 tokens too long for m (5000 of at most 4096)",
		"Trying to keep the first 5000 tokens when context the overflows. However, the model is loaded with context length of only 4096 tokens":             "904 tokens too long for m (5000 of at most 4096)",
		"prompt is too long: 201234 tokens > 200000 maximum":                                                                                                "1234 tokens too long for m (201234 of at most 200000)",
	} {
		a, err := NewAPI("OpenAI", "KEY", "", "http://localhost", "https://own.example")
		if err != nil {
			t.Fatal(err)
		}
		body, _ := json.Marshal(map[string]any{"error": map[string]any{"message": said}})
		if got := a.Refusal(400, body, "m").Error(); got != "the conversation is "+want {
			t.Errorf("%s: %q, want %q", said, got, want)
		}
	}
}
