package content_test

import (
	"encoding/json"
	"errors"
	"io"
	"reflect"
	"strings"
	"testing"

	"github.com/bough-dev/bough/convert/content"
)

// asItem returns a message in Acontext's format.
func asItem(m *content.Message) string {
	return string(content.Items(content.Acontext, []*content.Message{m}, nil)[0])
}

func TestParse(t *testing.T) {
	for _, c := range forms {
		t.Run(string(c.format)+"/"+c.name, func(t *testing.T) {
			m, err := content.Parse(c.format, []byte(c.in), digits())
			if err != nil {
				t.Fatal(err)
			}
			if got := asItem(m); got != c.is {
				t.Errorf("says\n%s\nwant\n%s", got, c.is)
			}
			want := c.out
			switch want {
			case "":
				return
			case "same":
				want = c.in
			}
			if got := string(content.Items(c.format, []*content.Message{m}, nil)[0]); !sameJSON(t, got, want) {
				t.Errorf("gives back\n%s\nwant\n%s", got, want)
			}
		})
	}
}

// TestParseRefuses: errors of a message have their path.
func TestParseRefuses(t *testing.T) {
	deep := strings.Repeat(`{"a":`, 300) + "1" + strings.Repeat("}", 300)
	for _, c := range []struct {
		format content.Format
		in     string
		want   string
	}{
		{content.OpenAI, `{"role":"user"`, "the message is not JSON"},
		{content.OpenAI, `{"role":"user","content":NaN}`, "the message is not JSON"},
		{content.OpenAI, "{\"role\":\"user\",\"content\":\"\xff\"}", "the message is not UTF-8"},
		{content.OpenAI, `"Hi"`, "the message is not a JSON object"},
		{content.OpenAI, `{"role":"user","content":"x","a":` + deep + `}`, "the message is nested more than 256 deep"},
		{content.OpenAI, `{"content":"Hi"}`, "role: missing; want user, assistant, system, developer, tool or function"},
		{content.OpenAI, `{"role":null,"content":"Hi"}`, "role: missing; want user, assistant, system, developer, tool or function"},
		{content.OpenAI, `{"role":"model","content":"Hi"}`, `role: "model" is not user, assistant, system, developer, tool or function`},
		{content.OpenAI, `{"role":7,"content":"Hi"}`, `role: 7 is not user, assistant, system, developer, tool or function`},
		{content.OpenAI, `{"role":"user"}`, "content: must be a string or an array of parts"},
		{content.OpenAI, `{"role":"user","content":null}`, "content: must be a string or an array of parts"},
		{content.OpenAI, `{"role":"user","content":[]}`, "content: must be a string or an array of parts"},
		{content.OpenAI, `{"role":"user","content":7}`, "content: must be a string or an array of parts"},
		{content.OpenAI, `{"role":"user","content":"Hi","name":7}`, "name: must be a string"},
		{content.OpenAI, `{"role":"user","content":["Hi"]}`, "content[0]: must be an object"},
		{content.OpenAI, `{"role":"user","content":[{"type":"text","text":"a"},{"type":"video_url"}]}`, `content[1].type: "video_url" is not one of text, image_url, input_audio, file and refusal`},
		{content.OpenAI, `{"role":"user","content":[{"text":"a"}]}`, "content[0].type: missing"},
		{content.OpenAI, `{"role":"user","content":[{"type":"text"}]}`, "content[0].text: missing in a part of type text"},
		{content.OpenAI, `{"role":"user","content":[{"type":"text","text":7}]}`, "content[0].text: must be a string"},
		{content.OpenAI, `{"role":"user","content":[{"type":"image_url"}]}`, "content[0].image_url: must be an object"},
		{content.OpenAI, `{"role":"user","content":[{"type":"image_url","image_url":{"detail":"low"}}]}`, "content[0].image_url.url: must be a string"},
		{content.OpenAI, `{"role":"user","content":[{"type":"input_audio","input_audio":{}}]}`, "content[0].input_audio.data: must be a string"},
		{content.OpenAI, `{"role":"system","content":[{"type":"file","file":{}}]}`, "content[0].type: only text is allowed here"},
		{content.OpenAI, `{"role":"assistant","content":7}`, "content: must be a string or an array of parts"},
		{content.OpenAI, `{"role":"assistant","refusal":7}`, "refusal: must be a string"},
		{content.OpenAI, `{"role":"assistant","tool_calls":{}}`, "tool_calls: must be an array"},
		{content.OpenAI, `{"role":"assistant","tool_calls":[7]}`, "tool_calls[0]: must be an object"},
		{content.OpenAI, `{"role":"assistant","tool_calls":[{"id":"a"}]}`, "tool_calls[0].function: must be an object"},
		{content.OpenAI, `{"role":"assistant","tool_calls":[{"id":7,"function":{"name":"f"}}]}`, "tool_calls[0].id: must be a string"},
		{content.OpenAI, `{"role":"assistant","tool_calls":[{"id":"a","function":{}}]}`, "tool_calls[0].function.name: must be a string that is not empty"},
		{content.OpenAI, `{"role":"assistant","function_call":"f"}`, "function_call: must be an object"},
		{content.OpenAI, `{"role":"tool","tool_call_id":7,"content":"x"}`, "tool_call_id: must be a string"},
		{content.OpenAI, `{"role":"tool","tool_call_id":"a","content":7}`, "content: must be a string or an array of parts"},

		{content.Acontext, `{"parts":[]}`, "role: missing; want user or assistant"},
		{content.Acontext, `{"role":"system"}`, `role: "system" is not user or assistant`},
		{content.Acontext, `{"role":"user","parts":{}}`, "parts: must be an array"},
		{content.Acontext, `{"role":"user","meta":[]}`, "meta: must be an object"},
		{content.Acontext, `{"role":"user","parts":["Hi"]}`, "parts[0]: must be an object"},
		{content.Acontext, `{"role":"user","parts":[{"text":"Hi"}]}`, "parts[0].type: missing"},
		{content.Acontext, `{"role":"user","parts":[{"type":"poem"}]}`, `parts[0].type: unknown part type "poem"`},
		{content.Acontext, `{"role":"user","parts":[{"type":"text"}]}`, "parts[0].text: must not be empty in a part of type text"},
		{content.Acontext, `{"role":"user","parts":[{"type":"thinking","text":""}]}`, "parts[0].text: must not be empty in a part of type thinking"},
		{content.Acontext, `{"role":"user","parts":[{"type":"text","text":7}]}`, "parts[0].text: must be a string"},
		{content.Acontext, `{"role":"user","parts":[{"type":"file","file_field":7}]}`, "parts[0].file_field: must be a string"},
		{content.Acontext, `{"role":"user","parts":[{"type":"file","meta":7}]}`, "parts[0].meta: must be an object"},
		{content.Acontext, `{"role":"user","parts":[{"type":"tool-call"}]}`, "parts[0].meta.name: a part of type tool-call needs it"},
		{content.Acontext, `{"role":"user","parts":[{"type":"tool-call","meta":{"name":"f"}}]}`, "parts[0].meta.arguments: a part of type tool-call needs it"},
		{content.Acontext, `{"role":"user","parts":[{"type":"tool-result","text":"x","meta":{"tool_call_id":null}}]}`, "parts[0].meta.tool_call_id: a part of type tool-result needs it"},
		{content.Acontext, `{"role":"user","parts":[{"type":"data","meta":{}}]}`, "parts[0].meta.data_type: a part of type data needs it"},

		{content.Anthropic, `{"content":"Hi"}`, "role: missing; want user or assistant"},
		{content.Anthropic, `{"role":"system","content":"Hi"}`, `role: "system" is not user or assistant`},
		{content.Anthropic, `{"role":"user"}`, "content: must be a string or an array of blocks"},
		{content.Anthropic, `{"role":"user","content":["Hi"]}`, "content[0]: must be an object"},
		{content.Anthropic, `{"role":"user","content":[{"text":"Hi"}]}`, "content[0].type: missing"},
		{content.Anthropic, `{"role":"user","content":[{"type":"text"}]}`, "content[0].text: must be a string"},
		{content.Anthropic, `{"role":"user","content":[{"type":"image","source":"x"}]}`, "content[0].source: must be an object"},
		{content.Anthropic, `{"role":"user","content":[{"type":"tool_use","name":"f"}]}`, "content[0].id: must be a string"},
		{content.Anthropic, `{"role":"user","content":[{"type":"tool_use","id":"a"}]}`, "content[0].name: must be a string"},
		{content.Anthropic, `{"role":"user","content":[{"type":"tool_result"}]}`, "content[0].tool_use_id: must be a string"},

		{content.Gemini, `{"parts":[]}`, "role: missing; want user or model"},
		{content.Gemini, `{"role":"assistant"}`, `role: "assistant" is not user or model`},
		{content.Gemini, `{"role":"user","parts":"Hi"}`, "parts: must be an array"},
		{content.Gemini, `{"role":"user","parts":["Hi"]}`, "parts[0]: must be an object"},
		{content.Gemini, `{"role":"user","parts":[{}]}`, "parts[0]: must have text, inlineData, fileData, functionCall or functionResponse"},
		{content.Gemini, `{"role":"user","parts":[{"text":7}]}`, "parts[0].text: must be a string"},
		{content.Gemini, `{"role":"user","parts":[{"inlineData":{}}]}`, "parts[0].inlineData: has no file"},
		{content.Gemini, `{"role":"user","parts":[{"fileData":7}]}`, "parts[0].fileData: must be an object"},
		{content.Gemini, `{"role":"model","parts":[{"functionCall":7}]}`, "parts[0].functionCall: must be an object"},
		{content.Gemini, `{"role":"model","parts":[{"functionCall":{}}]}`, "parts[0].functionCall.name: must be a string that is not empty"},
		{content.Gemini, `{"role":"model","parts":[{"functionCall":{"name":"f","args":[]}}]}`, "parts[0].functionCall.args: must be an object"},
		{content.Gemini, `{"role":"user","parts":[{"functionResponse":7}]}`, "parts[0].functionResponse: must be an object"},
		{content.Gemini, `{"role":"user","parts":[{"functionResponse":{}}]}`, "parts[0].functionResponse.name: must be a string that is not empty"},
		{content.Gemini, `{"role":"user","parts":[{"functionResponse":{"name":"f","response":"x"}}]}`, "parts[0].functionResponse.response: must be an object"},
	} {
		_, err := content.Parse(c.format, []byte(c.in), digits())
		if _, ok := err.(*content.Error); !ok || err.Error() != c.want {
			t.Errorf("%s %s: %v, want %s", c.format, c.in, err, c.want)
		}
	}
}

// TestParseRandom: if random fails, Parse returns its error, which is not an
// *Error.
func TestParseRandom(t *testing.T) {
	_, err := content.Parse(content.Gemini, []byte(`{"role":"model","parts":[{"functionCall":{"name":"f"}}]}`), strings.NewReader("123"))
	if err != io.ErrUnexpectedEOF {
		t.Errorf("the error is %v", err)
	}
}

func TestParseFileField(t *testing.T) {
	m, err := content.Parse(content.Acontext, []byte(`{"role":"user","parts":[{"type":"text","text":"Hi"},{"type":"file","file_field":"f1"}]}`), nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := m.Parts[1].FileField; got != "f1" {
		t.Errorf("the field is %q", got)
	}
	if b, err := json.Marshal(m.Parts); err != nil || string(b) != `[{"type":"text","text":"Hi"},{"type":"file"}]` {
		t.Errorf("the parts are %s, %v", b, err)
	}
}

func TestParseFormat(t *testing.T) {
	for name, want := range map[string]content.Format{"": content.OpenAI, "openai": content.OpenAI, "acontext": content.Acontext, "anthropic": content.Anthropic, "gemini": content.Gemini} {
		if f, err := content.ParseFormat(name); f != want || err != nil {
			t.Errorf("ParseFormat(%q) = %q, %v", name, f, err)
		}
	}
	var wrong *content.Error
	if _, err := content.ParseFormat("OpenAI"); !errors.As(err, &wrong) || !strings.Contains(err.Error(), `"OpenAI"`) {
		t.Errorf("the error is %v", err)
	}
}

// sameJSON reports whether two documents are equal, ignoring the order of members
// and the escapes of strings. Numbers must have the same text.
func sameJSON(t *testing.T, a, b string) bool {
	t.Helper()
	return reflect.DeepEqual(decoded(t, a), decoded(t, b))
}

func decoded(t *testing.T, s string) (v any) {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(s))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		t.Fatalf("%v: %s", err, s)
	}
	return v
}

// TestParseValid: input that is invalid for encoding/json is invalid for Parse, and
// any other input is decoded completely, with any escapes.
func TestParseValid(t *testing.T) {
	for _, said := range []string{
		`""`, `"a\"b"`, `"a\\"`, `"\\\""`, `"a\\\"b\\\\"`, `"{\"a\":[1]}"`, `"NaN"`, `"Infinity -Infinity"`, `"\ud800"`,
		`"` + strings.Repeat(`line\n`, 1000) + `"`,
		`NaN`, `Infinity`, `-Infinity`, `"\x"`, "\"\t\"", `"a`, `01`, `1.`, `{"a":1,}`, `[1,]`, `tru`,
	} {
		for _, blob := range []string{`{"role":"user","content":` + said + `}`, ` { "role" : "user" , "content" : ` + said + ` } `, `{"role":"user","content":` + said + `}}`, "\ufeff" + said} {
			m, err := content.Parse(content.Anthropic, []byte(blob), nil)
			refused := err != nil && err.Error() == "the message is not JSON"
			if valid := json.Valid([]byte(blob)); refused == valid {
				t.Errorf("Parse(%s): %v, valid is %v", blob, err, valid)
			}
			var want struct{ Content string }
			if err != nil || json.Unmarshal([]byte(blob), &want) != nil || want.Content == "" {
				continue
			}
			if len(m.Parts) != 1 || m.Parts[0].Text != want.Content {
				t.Errorf("Parse(%s) says %+v", blob, m.Parts)
			}
		}
	}
}
