package content_test

import (
	"strings"
	"testing"

	"github.com/bough-dev/bough/convert/content"
	"github.com/bough-dev/bough/internal/testsize"
)

// TestItems: a message of one format is encoded in the others.
func TestItems(t *testing.T) {
	for _, c := range []struct {
		name                      string
		format                    content.Format
		in                        string
		openai, anthropic, gemini string // "" for the input
	}{
		{"system", content.OpenAI, `{"role":"system","content":"Be short."}`, ``,
			`{"role":"user","content":[{"type":"text","text":"Be short."}]}`,
			`{"role":"user","parts":[{"text":"Be short."}]}`},
		{"calls", content.OpenAI, `{"role":"assistant","content":"I look.","tool_calls":[{"id":"c1","type":"function","function":{"name":"f","arguments":"{\"n\": 12345678901234567890}"}},{"id":"c2","type":"function","function":{"name":"g","arguments":""}},{"id":"c3","type":"function","function":{"name":"h","arguments":"not {"}}]}`, ``,
			`{"role":"assistant","content":[{"type":"text","text":"I look."},{"type":"tool_use","id":"c1","name":"f","input":{"n":12345678901234567890}},{"type":"tool_use","id":"c2","name":"g","input":{}},{"type":"tool_use","id":"c3","name":"h","input":{"input":"not {"}}]}`,
			`{"role":"model","parts":[{"text":"I look."},{"functionCall":{"id":"c1","name":"f","args":{"n":12345678901234567890}}},{"functionCall":{"id":"c2","name":"g","args":{}}},{"functionCall":{"id":"c3","name":"h","args":{"input":"not {"}}}]}`},
		{"a result", content.OpenAI, `{"role":"tool","tool_call_id":"c1","content":"42"}`, ``,
			`{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":[{"type":"text","text":"42"}],"is_error":false}]}`,
			`{"role":"user","parts":[{"functionResponse":{"id":"c1","name":"look","response":{"output":"42"}}}]}`},
		{"an unknown result", content.OpenAI, `{"role":"tool","tool_call_id":"c9","content":"{\"a\": 1}"}`, ``,
			`{"role":"user","content":[{"type":"tool_result","tool_use_id":"c9","content":[{"type":"text","text":"{\"a\": 1}"}],"is_error":false}]}`,
			`{"role":"user","parts":[{"functionResponse":{"id":"c9","name":"c9","response":{"a":1}}}]}`},
		{"media", content.OpenAI, `{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:image/gif;base64,R0lG"}},{"type":"image_url","image_url":{"url":"https://x/a.png"}},{"type":"input_audio","input_audio":{"data":"UklG","format":"wav"}},{"type":"file","file":{"file_data":"data:application/pdf;base64,JVBE","filename":"a.pdf"}},{"type":"file","file":{"file_data":"JVBE"}},{"type":"file","file":{"file_id":"f1"}}]}`, ``,
			`{"role":"user","content":[{"type":"image","source":{"type":"base64","media_type":"image/gif","data":"R0lG"}},{"type":"image","source":{"type":"url","url":"https://x/a.png"}},{"type":"document","source":{"type":"base64","media_type":"application/pdf","data":"JVBE"},"title":"a.pdf"},{"type":"document","source":{"type":"base64","media_type":"application/pdf","data":"JVBE"}},{"type":"document","source":{"type":"file","file_id":"f1"}}]}`,
			`{"role":"user","parts":[{"inlineData":{"mimeType":"image/gif","data":"R0lG"}},{"fileData":{"fileUri":"https://x/a.png"}},{"inlineData":{"mimeType":"audio/wav","data":"UklG"}},{"inlineData":{"mimeType":"application/pdf","data":"JVBE"}},{"inlineData":{"mimeType":"application/pdf","data":"JVBE"}}]}`},
		{"nothing", content.OpenAI, `{"role":"assistant","content":null}`, `{"role":"assistant"}`,
			`{"role":"assistant","content":[]}`, `{"role":"model","parts":[]}`},
		{"a name is only OpenAI's", content.OpenAI, `{"role":"user","content":"Hi","name":"bob","x":1}`, ``,
			`{"role":"user","content":[{"type":"text","text":"Hi"}]}`, `{"role":"user","parts":[{"text":"Hi"}]}`},
		{"thinking", content.Anthropic, `{"role":"assistant","content":[{"type":"thinking","thinking":"Hm","signature":"not base64!"},{"type":"redacted_thinking","data":"x"},{"type":"text","text":"Yes"}]}`,
			`{"role":"assistant","content":[{"type":"text","text":"Hm"},{"type":"text","text":"Yes"}]}`, ``,
			`{"role":"model","parts":[{"text":"Hm","thought":true,"thoughtSignature":"bm90IGJhc2U2NCE="},{"text":"Yes"}]}`},
		{"a call of a tool", content.Anthropic, `{"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"f","input":{"a":1.50}}]}`,
			`{"role":"assistant","tool_calls":[{"id":"t1","type":"function","function":{"name":"f","arguments":"{\"a\":1.50}"}}]}`, ``,
			`{"role":"model","parts":[{"functionCall":{"id":"t1","name":"f","args":{"a":1.50}}}]}`},
		{"several results", content.Anthropic, `{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":[{"type":"text","text":"a"}],"is_error":true},{"type":"tool_result","tool_use_id":"c2","content":[{"type":"text","text":"b"}],"is_error":false}]}`,
			`{"role":"tool","tool_call_id":"c1","content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}`, ``,
			`{"role":"user","parts":[{"functionResponse":{"id":"c1","name":"look","response":{"output":"a"}}},{"functionResponse":{"id":"c2","name":"c2","response":{"output":"b"}}}]}`},
		{"a result and a text", content.Anthropic, `{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":[{"type":"text","text":"a"}],"is_error":false},{"type":"text","text":"So?"}]}`,
			`{"role":"tool","tool_call_id":"c1","content":[{"type":"text","text":"a"},{"type":"text","text":"So?"}]}`, ``,
			`{"role":"user","parts":[{"functionResponse":{"id":"c1","name":"look","response":{"output":"a"}}},{"text":"So?"}]}`},
		{"documents", content.Anthropic, `{"role":"user","content":[{"type":"document","source":{"type":"text","media_type":"text/plain","data":"Once"}},{"type":"document","source":{"type":"url","url":"https://x/a.pdf"}},{"type":"document","source":{"type":"base64","media_type":"application/pdf","data":"JVBE"},"title":"a"}]}`,
			`{"role":"user","content":[{"type":"text","text":"Once"},{"type":"text","text":"https://x/a.pdf"},{"type":"file","file":{"file_data":"data:application/pdf;base64,JVBE","filename":"a"}}]}`, ``,
			`{"role":"user","parts":[{"text":"Once"},{"fileData":{"fileUri":"https://x/a.pdf"}},{"inlineData":{"mimeType":"application/pdf","data":"JVBE"}}]}`},
		{"one document", content.Anthropic, `{"role":"user","content":[{"type":"document","source":{"type":"text","media_type":"text/plain","data":"Once"}}]}`,
			`{"role":"user","content":"Once"}`, ``, `{"role":"user","parts":[{"text":"Once"}]}`},
		{"Gemini's media", content.Gemini, `{"role":"user","parts":[{"inlineData":{"mimeType":"image/png","data":"AAAA"}},{"inlineData":{"mimeType":"audio/mpeg","data":"SUQz"}},{"inlineData":{"mimeType":"video/mp4","data":"AAAA"}},{"fileData":{"mimeType":"video/mp4","fileUri":"https://x/v"}}]}`,
			`{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:image/png;base64,AAAA"}},{"type":"input_audio","input_audio":{"data":"SUQz","format":"mp3"}},{"type":"text","text":"https://x/v"}]}`,
			`{"role":"user","content":[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"AAAA"}}]}`, ``},
		{"Gemini's call", content.Gemini, `{"role":"model","parts":[{"text":"Hm","thought":true,"thoughtSignature":"c2ln"},{"functionCall":{"id":"g1","name":"f","args":{}},"thoughtSignature":"c2ln"}]}`,
			`{"role":"assistant","content":"Hm","tool_calls":[{"id":"g1","type":"function","function":{"name":"f","arguments":"{}"}}]}`,
			`{"role":"assistant","content":[{"type":"thinking","thinking":"Hm","signature":"c2ln"},{"type":"tool_use","id":"g1","name":"f","input":{}}]}`, ``},
		{"data", content.Acontext, `{"role":"user","parts":[{"type":"data","text":"Tea?","meta":{"data_type":"poll"}},{"type":"data","meta":{"data_type":"poll"}},{"type":"video","meta":{"data":"AAAA"}}]}`,
			`{"role":"user","content":"Tea?"}`, `{"role":"user","content":[{"type":"text","text":"Tea?"}]}`, `{"role":"user","parts":[{"text":"Tea?"},{"inlineData":{"data":"AAAA"}}]}`},
		{"no place for anything", content.Acontext, `{"role":"user","parts":[{"type":"redacted_thinking","meta":{"data":"x"}},{"type":"image"},{"type":"tool-call","meta":{"id":"c","name":7,"arguments":"{}"}}]}`,
			`{"role":"user","content":""}`, `{"role":"user","content":[{"type":"redacted_thinking","data":"x"}]}`, `{"role":"user","parts":[]}`},
		{"meta is not the form's", content.Acontext, `{"role":"user","parts":[{"type":"text","text":"Hi"}],"meta":{"topic":"t","name":"bob"}}`,
			`{"role":"user","content":"Hi","name":"bob"}`, `{"role":"user","content":[{"type":"text","text":"Hi"}]}`, `{"role":"user","parts":[{"text":"Hi"}]}`},
		{"meta that looks like the form's", content.Acontext, `{"role":"user","parts":[{"type":"text","text":"Hi"}],"meta":{"source_format":"openai","role":"x","content":"y","tool_calls":[],"z":1}}`,
			`{"role":"user","content":"Hi","z":1}`, `{"role":"user","content":[{"type":"text","text":"Hi"}]}`, `{"role":"user","parts":[{"text":"Hi"}]}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			before, err := content.Parse(content.OpenAI, []byte(`{"role":"assistant","tool_calls":[{"id":"c1","function":{"name":"look"}}]}`), nil)
			if err != nil {
				t.Fatal(err)
			}
			m, err := content.Parse(c.format, []byte(c.in), digits())
			if err != nil {
				t.Fatal(err)
			}
			for form, want := range map[content.Format]string{content.OpenAI: c.openai, content.Anthropic: c.anthropic, content.Gemini: c.gemini} {
				if want == "" {
					want = c.in
				}
				items := content.Items(form, []*content.Message{before, m}, nil)
				if len(items) != 2 || !sameJSON(t, string(items[1]), want) {
					t.Errorf("%s:\n%s\nwant\n%s", form, items[1], want)
				}
			}
		})
	}
}

// TestItemsAsset: the addresses of files are those of the caller.
func TestItemsAsset(t *testing.T) {
	list := []*content.Message{{Role: "user", Parts: []content.Part{
		{Type: "image", Asset: &content.Asset{SHA256: "1", MIME: "image/png"}, Filename: "a.png"},
		{Type: "file", Asset: &content.Asset{SHA256: "2", MIME: "application/pdf"}, Filename: "a.pdf"},
		{Type: "image", Asset: &content.Asset{SHA256: "3"}},
	}}}
	link := func(a *content.Asset) string {
		switch a.SHA256 {
		case "1":
			return "http://127.0.0.1/1"
		case "2":
			return "data:application/pdf;base64,JVBE"
		}
		return ""
	}
	for form, want := range map[content.Format]string{
		content.OpenAI:    `{"role":"user","content":[{"type":"image_url","image_url":{"url":"http://127.0.0.1/1"}},{"type":"file","file":{"file_data":"data:application/pdf;base64,JVBE","filename":"a.pdf"}}]}`,
		content.Anthropic: `{"role":"user","content":[{"type":"image","source":{"type":"url","url":"http://127.0.0.1/1"}},{"type":"document","source":{"type":"base64","media_type":"application/pdf","data":"JVBE"},"title":"a.pdf"}]}`,
		content.Gemini:    `{"role":"user","parts":[{"fileData":{"mimeType":"image/png","fileUri":"http://127.0.0.1/1"}},{"inlineData":{"mimeType":"application/pdf","data":"JVBE"}}]}`,
	} {
		if got := string(content.Items(form, list, link)[0]); !sameJSON(t, got, want) {
			t.Errorf("%s:\n%s\nwant\n%s", form, got, want)
		}
	}
}

// TestItemsMany: there is one item per message, and items do not overlap in memory.
func TestItemsMany(t *testing.T) {
	var list []*content.Message
	for range testsize.Of(10, 100, 100) {
		for _, c := range forms {
			m, err := content.Parse(c.format, []byte(c.in), digits())
			if err != nil {
				t.Fatal(err)
			}
			list = append(list, m)
		}
	}
	for _, form := range formats {
		items := content.Items(form, list, nil)
		if len(items) != len(list) {
			t.Fatalf("%s: %d items of %d messages", form, len(items), len(list))
		}
		for i, item := range items {
			decoded(t, string(item))
			if want := string(content.Items(form, list[i:i+1], nil)[0]); string(item) != want && form != content.Gemini {
				t.Fatalf("%s: item %d is %s, want %s", form, i, item, want)
			}
			_ = append(item, "xxx"...)
		}
		if n := len(content.Items(form, nil, nil)); n != 0 {
			t.Errorf("%s: %d items of no message", form, n)
		}
	}
}

func TestTokens(t *testing.T) {
	for _, c := range []struct {
		format content.Format
		in     string
		want   string
	}{
		{content.OpenAI, `{"role":"user","content":"Hi"}`, "Hi|"},
		{content.OpenAI, `{"role":"assistant","content":null,"tool_calls":[{"id":"c1","function":{"name":"f","arguments":"{}"}}]}`, "f|{}|"},
		{content.Anthropic, `{"role":"assistant","content":[{"type":"thinking","thinking":"Hm","signature":"s"},{"type":"redacted_thinking","data":"x"},{"type":"tool_use","id":"t","name":"f","input":{"a":1}}]}`, `Hm|f|{"a":1}|`},
		{content.Anthropic, `{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":"42"},{"type":"text","text":""}]}`, "42|"},
		{content.Acontext, `{"role":"user","parts":[{"type":"tool-call","meta":{"name":"f","arguments":{"a": [1]}}}]}`, `f|{"a":[1]}|`},
	} {
		m, err := content.Parse(c.format, []byte(c.in), nil)
		if err != nil {
			t.Fatal(err)
		}
		var counted string
		n := m.Tokens(func(s string) int {
			counted += s + "|"
			return len(s)
		})
		if want := len(c.want) - strings.Count(c.want, "|"); counted != c.want || n != want {
			t.Errorf("%s: counted %q, %d tokens, want %q, %d", c.in, counted, n, c.want, want)
		}
	}
}
