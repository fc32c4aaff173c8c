package content_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/bough-dev/bough/convert/content"
)

// natives are messages of session files of other programs, with the same message in
// Acontext's format.
var natives = []struct{ name, in, is string }{
	{"user", `{"role":"user","content":"Hi","category":"DIALOG","id":"a","metadata":{}}`,
		`{"role":"user","parts":[{"type":"text","text":"Hi"}]}`},
	{"system", `{"role":"system","content":"You are Penguin.","metadata":{"type":"system_prompt"}}`,
		`{"role":"user","parts":[{"type":"text","text":"You are Penguin."}],"meta":{"original_role":"system"}}`},
	{"developer", `{"role":"developer","content":"x"}`, `{"role":"user","parts":[{"type":"text","text":"x"}],"meta":{"original_role":"developer"}}`},
	{"a role that nobody knows", `{"role":"critic","content":"x"}`, `{"role":"user","parts":[{"type":"text","text":"x"}],"meta":{"original_role":"critic"}}`},
	{"model", `{"role":"model","content":"x"}`, `{"role":"assistant","parts":[{"type":"text","text":"x"}]}`},
	{"no role and no content", `{"id":"a"}`, `{"role":"user","parts":[]}`},
	{"null", `{"role":null,"content":null,"metadata":null,"tool_calls":null}`, `{"role":"user","parts":[]}`},
	{"a name", `{"role":"user","content":"Hi","name":"bob"}`, `{"role":"user","parts":[{"type":"text","text":"Hi"}],"meta":{"name":"bob"}}`},
	{"an empty answer", `{"role":"assistant","content":""}`, `{"role":"assistant","parts":[{"type":"text"}]}`},
	{"Penguin's call", `{"role":"assistant","content":"Hi!","metadata":{"tool_calls": [{"id": "c1", "type": "function", "function": {"name": "read_file", "arguments": "{\"path\":\"a\"}"}}]}}`,
		`{"role":"assistant","parts":[{"type":"text","text":"Hi!"},{"type":"tool-call","meta":{"id":"c1","name":"read_file","arguments":"{\"path\":\"a\"}","type":"function"}}]}`},
	{"only a call, twice", `{"role":"assistant","content":"","tool_calls":[{"id":"c1","function":{"name":"f","arguments":"{}"}}],"metadata":{"tool_calls":[{"id":"c1","function":{"name":"f","arguments":"{}"}}]}}`,
		`{"role":"assistant","parts":[{"type":"tool-call","meta":{"id":"c1","name":"f","arguments":"{}","type":"function"}}]}`},
	{"a call that is none", `{"role":"assistant","content":"x","tool_calls":[7,{"type":"retrieval","n": 1e400}]}`,
		`{"role":"assistant","parts":[{"type":"text","text":"x"},{"type":"data","meta":{"data_type":"unknown","raw":7}},{"type":"data","meta":{"data_type":"retrieval","raw":{"type":"retrieval","n":1e400}}}]}`},
	{"Penguin's result", `{"role":"tool","content":"file body","metadata":{"tool_call_id":"c1","action_type":"read_file","status":"completed"}}`,
		`{"role":"user","parts":[{"type":"tool-result","text":"file body","meta":{"tool_call_id":"c1","name":"read_file"}}]}`},
	{"OpenAI's result", `{"role":"tool","content":[{"type":"text","text":"4"},"2",{"type":"image_url","image_url":{"url":"https://x/a"}}],"tool_call_id":"c1"}`,
		`{"role":"user","parts":[{"type":"tool-result","text":"42","meta":{"tool_call_id":"c1"}},{"type":"image","meta":{"url":"https://x/a"}}]}`},
	{"a function's result", `{"role":"function","name":"f","content":"42"}`, `{"role":"user","parts":[{"type":"tool-result","text":"42","meta":{"name":"f"}}]}`},
	{"a result without a call", `{"role":"tool","content":"42"}`, `{"role":"user","parts":[{"type":"tool-result","text":"42"}]}`},
	{"images", `{"role":"user","content":[{"type":"image_url","image_path":"/tmp/a b.png"},{"type":"image_url","image_url":{"url":"https://x/a.png"}},{"type":"image_url","image_url":"https://x/b.png"}]}`,
		`{"role":"user","parts":[{"type":"image","meta":{"image_path":"/tmp/a b.png"}},{"type":"image","meta":{"url":"https://x/a.png"}},{"type":"image","meta":{"url":"https://x/b.png"}}]}`},
	{"audio and files", `{"role":"user","content":[{"type":"audio","audio_path":"/tmp/a.wav"},{"type":"file","file_path":"/tmp/a.txt"},{"type":"file","file":{"file_id":"f1"}}]}`,
		`{"role":"user","parts":[{"type":"audio","meta":{"audio_path":"/tmp/a.wav"}},{"type":"file","meta":{"file_path":"/tmp/a.txt"}},{"type":"file","meta":{"file_id":"f1"}}]}`},
	{"blocks", `{"role":"assistant","content":[{"type":"thinking","thinking":"Hm","signature":"s"},{"type":"text","text":"I look."},{"type":"tool_use","id":"t1","name":"f","input":{"a": NaN}}]}`,
		`{"role":"assistant","parts":[{"type":"thinking","text":"Hm","meta":{"signature":"s"}},{"type":"text","text":"I look."},{"type":"tool-call","meta":{"id":"t1","arguments":"{\"a\":null}","type":"tool_use","name":"f"}}]}`},
	{"blocks of results", `{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"42"},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"AAAA"}},{"type":"document","source":{"type":"url","url":"https://x"}}]}`,
		`{"role":"user","parts":[{"type":"tool-result","text":"42","meta":{"tool_call_id":"t1","is_error":false}},{"type":"image","meta":{"type":"base64","media_type":"image/png","data":"AAAA"}},{"type":"file","meta":{"type":"url","url":"https://x"}}]}`},
	{"a text with more", `{"role":"user","content":[{"type":"text","text":"Hi","cache_control":{"type": "ephemeral"}},{"text":"you","lang":"en"},{"type":"input_text","text":"there"}]}`,
		`{"role":"user","parts":[{"type":"text","text":"Hi","meta":{"cache_control":{"type":"ephemeral"}}},{"type":"text","text":"you","meta":{"lang":"en"}},{"type":"text","text":"there"}]}`},
	{"what nobody knows", `{"role":"user","content":["Hi",{"type":"poll","text":"Tea?","options":[1, NaN, -Infinity, Infinity, "NaN", -1]},null,[1],true,{}]}`,
		`{"role":"user","parts":[{"type":"text","text":"Hi"},{"type":"data","text":"Tea?","meta":{"data_type":"poll","raw":{"type":"poll","text":"Tea?","options":[1,null,null,null,"NaN",-1]}}},{"type":"data","meta":{"data_type":"unknown","raw":null}},{"type":"data","meta":{"data_type":"unknown","raw":[1]}},{"type":"data","meta":{"data_type":"unknown","raw":true}},{"type":"data","meta":{"data_type":"unknown","raw":{}}}]}`},
	{"content of another kind", `{"role":"user","content":{"type":"text","text":"Hi"}}`, `{"role":"user","parts":[{"type":"text","text":"Hi"}]}`},
	{"a number", `{"role":"user","content":12345678901234567890}`, `{"role":"user","parts":[{"type":"data","meta":{"data_type":"unknown","raw":12345678901234567890}}]}`},
	{"parts with an asset", `{"role":"user","content":[{"type":"image","filename":"a.png","asset":{"bucket":"b","s3_key":"k","etag":"e","sha256":"s","mime":"image/png","size_b":7}}]}`,
		`{"role":"user","parts":[{"type":"image","asset":{"bucket":"b","s3_key":"k","etag":"e","sha256":"s","mime":"image/png","size_b":7},"filename":"a.png"}]}`},
	{"an asset that is none", `{"role":"user","content":[{"type":"image","asset":7}]}`,
		`{"role":"user","parts":[{"type":"image","meta":{"asset":7}}]}`},
	{"a result that is none", `{"role":"user","content":[{"type":"tool-result","text":7}]}`,
		`{"role":"user","parts":[{"type":"data","meta":{"data_type":"tool-result","raw":{"type":"tool-result","text":7}}}]}`},
	{"keys twice", `{"role":"user","content":"a","content":"b","metadata":{"bough":{"name":"x","name":"y"}}}`,
		`{"role":"user","parts":[{"type":"text","text":"a"}],"meta":{"name":"x"}}`},
}

func TestRead(t *testing.T) {
	for _, c := range natives {
		t.Run(c.name, func(t *testing.T) {
			m := content.Read([]byte(c.in))
			if got := asItem(m); got != c.is {
				t.Errorf("says\n%s\nwant\n%s", got, c.is)
			}
		})
	}
}

// TestStored: the stored forms of messages.
func TestStored(t *testing.T) {
	for _, c := range []struct {
		name   string
		format content.Format
		in     string
		stored string // in the form of inFile
	}{
		{"a text", content.OpenAI, `{"role":"user","content":"Hi <b>\n"}`,
			`"user" "Hi <b>\n" format="openai"`},
		{"system", content.OpenAI, `{"role":"system","content":"x","name":"n"}`,
			`"system" "x" format="openai" name="n"`},
		{"developer", content.OpenAI, `{"role":"developer","content":"x"}`,
			`"system" "x" format="openai" original_role="developer"`},
		{"a result", content.OpenAI, `{"role":"tool","tool_call_id":"c1","content":"42"}`,
			`"tool" [{"type":"tool-result","text":"42","meta":{"tool_call_id":"c1"}}] format="openai"`},
		{"a call", content.Anthropic, `{"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"f","input":{}}]}`,
			`"assistant" [{"type":"tool-call","meta":{"id":"t1","arguments":"{}","type":"tool_use","name":"f"}}] format="anthropic"`},
		{"a result and a text", content.Anthropic, `{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"42"},{"type":"text","text":"So?"}]}`,
			`"user" [{"type":"tool-result","text":"42","meta":{"tool_call_id":"t1","is_error":false}},{"type":"text","text":"So?"}] format="anthropic"`},
		{"a text with meta", content.Acontext, `{"role":"assistant","parts":[{"type":"text","text":"x","meta":{"is_refusal":true}}],"meta":{"topic":"t"}}`,
			`"assistant" [{"type":"text","text":"x","meta":{"is_refusal":true}}] format="acontext" rest={"topic":"t"}`},
		{"nothing", content.Gemini, `{"role":"model"}`,
			`"assistant" [] format="gemini"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			m, err := content.Parse(c.format, []byte(c.in), digits())
			if err != nil {
				t.Fatal(err)
			}
			role, value, members := m.Stored()
			got := `"` + role + `" ` + string(value)
			for _, own := range members {
				got += " " + own.Name + "=" + string(own.Value)
			}
			if got != c.stored {
				t.Errorf("stored\n%s\nwant\n%s", got, c.stored)
			}
		})
	}
}

// TestStoredAsset: a part keeps its file, and invalid text is never stored.
func TestStoredAsset(t *testing.T) {
	m := &content.Message{Role: "user", Parts: []content.Part{
		{Type: "file", Filename: "a.txt", Asset: &content.Asset{Bucket: "b", S3Key: "k", ETag: "e", SHA256: "s", MIME: "text/plain", SizeB: 1 << 40}},
	}}
	if got := content.Read(inFile(m, true)); !reflect.DeepEqual(got, m) {
		t.Errorf("read %s, want %s", show(got), show(m))
	}
	m = &content.Message{Role: "user", Parts: []content.Part{{Type: "text", Text: "a\xffb"}}}
	if _, got, _ := m.Stored(); string(got) != "\"a\ufffdb\"" {
		t.Errorf("stored %q", got)
	}
}

// TestLongText: texts are read and written completely, with escapes at any
// position.
func TestLongText(t *testing.T) {
	for _, piece := range []string{"plain ", `\n`, `\"`, `\\`, `\u00e9`, `\ud83d\udc27`, `\ud83d`, `\udc27x`, `\ud83dx\u0041`, `\ud83d\ud83d\udc27`, "é🐧"} {
		for n := range 70 {
			in := `"` + strings.Repeat("x", n) + strings.Repeat(piece, 3) + `"`
			m := content.Read([]byte(`{"role":"user","content":` + in + `}`))
			if want := decoded(t, in); len(m.Parts) != 1 || m.Parts[0].Text != want {
				t.Fatalf("%s is %q, want %q", in, m.Parts[0].Text, want)
			}
			if _, got, _ := m.Stored(); !sameJSON(t, string(got), in) {
				t.Fatalf("%s is stored as %s", in, got)
			}
		}
	}
}
