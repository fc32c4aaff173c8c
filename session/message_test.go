package session_test

import (
	"slices"
	"testing"

	"github.com/bough-dev/bough/session"
)

// one decodes a session of one message and returns it.
func one(t *testing.T, raw string) session.Message {
	t.Helper()
	return decode(t, "s", []byte(`{"messages":[`+raw+`]}`)).Messages[0]
}

func TestMessage(t *testing.T) {
	inZone(t, -5)
	m := one(t, `{"id":"a","role":"tool","category":"SYSTEM_OUTPUT","timestamp":"2026-11-20T07:29:04.980213","content":{"role":"no"}}`)
	at, ok := m.Time()
	if m.Role() != "tool" || m.Category() != "SYSTEM_OUTPUT" || !ok || session.Bough.Time(at) != "2026-11-20T12:29:04.980213+00:00" {
		t.Errorf("the message is %s, %s, %v %v", m.Role(), m.Category(), at, ok)
	}
	m = one(t, `{"id":"a","role":7,"timestamp":1795165602,"content":{"category":"no"}}`)
	if at, ok := m.Time(); m.Role() != "" || m.Category() != "" || ok {
		t.Errorf("the message is %q, %q, %v", m.Role(), m.Category(), at)
	}
}

func TestText(t *testing.T) {
	for _, c := range []struct{ content, want string }{
		{`"plain"`, "plain"},
		{`""`, ""},
		{`"\u5206\n\ud83c\udf3f \"q\" \u2028"`, "分\n🌿 \"q\" \u2028"},
		{`[{"type":"text","text":"one"},{"type":"text","text":"two"}]`, "one\ntwo"},
		{`["one",{"type":"image_url","image_path":"/a.png"},{"type":"text","text":"two"}]`, "one\n[image_url]\ntwo"},
		{`[{"type":"tool_use","id":"c1","name":"ls","input":{"dir":"/"}}]`, `ls({"dir":"/"})`},
		{`[{"type":"tool-call","meta":{"id":"c1","name":"ls","arguments":"{}"}}]`, "ls({})"},
		{`[{"type":"tool_result","content":[{"type":"text","text":"a"},"b"]}]`, "a\nb"},
		{`[{"type":"tool_result"},{"type":"image","filename":"a.png"}]`, "[tool_result]\n[image a.png]"},
		{`[]`, ""},
		{`null`, "null"},
		{`{"a":1.0}`, `{"a":1.0}`},
		{`12345678901234567890`, "12345678901234567890"},
		{`NaN`, "NaN"},
	} {
		if got := one(t, `{"id":"a","content":`+c.content+`}`).Text(); got != c.want {
			t.Errorf("the text of %s is %q, want %q", c.content, got, c.want)
		}
	}
	if got := one(t, `{"id":"a"}`).Text(); got != "" {
		t.Errorf("the text of a message without content is %q", got)
	}
}

// TestTextAfterLoneSurrogate: an unpaired surrogate does not swallow the escape
// after it.
func TestTextAfterLoneSurrogate(t *testing.T) {
	for _, c := range []struct{ content, want string }{
		{`"\ud83d!"`, "\ufffd!"},
		{`"\ud83d\u4f60\u597d"`, "\ufffd你好"},
		{`"\ude00\ud83d\ude00"`, "\ufffd😀"},
	} {
		if got := one(t, `{"id":"a","content":`+c.content+`}`).Text(); got != c.want {
			t.Errorf("the text of %s is %q, want %q", c.content, got, c.want)
		}
	}
}

func TestCallsAndResults(t *testing.T) {
	for _, c := range []struct {
		name, members  string
		calls, results []string
	}{
		{"nothing", `"content":"x","metadata":{}`, nil, nil},
		{"Penguin's call", `"metadata":{"tool_calls":[{"id":"c1","type":"function","function":{"name":"ls"}},{"id":"c2"}]}`, []string{"c1", "c2"}, nil},
		{"Penguin's result", `"metadata":{"tool_call_id":"c1","status":"completed"}`, nil, []string{"c1"}},
		{"OpenAI's call", `"content":null,"tool_calls":[{"id":"c1","type":"function"}]`, []string{"c1"}, nil},
		{"OpenAI's result", `"role":"tool","tool_call_id":"c1","content":"x"`, nil, []string{"c1"}},
		{"Anthropic's call", `"content":[{"type":"text","text":"x"},{"type":"tool_use","id":"c1","input":{}},{"type":"tool_use","id":"c2"}]`, []string{"c1", "c2"}, nil},
		{"Anthropic's results", `"content":[{"type":"tool_result","tool_use_id":"c1","content":[]},{"type":"tool_result","tool_use_id":"c2"}]`, nil, []string{"c1", "c2"}},
		{"Acontext's call", `"content":[{"type":"tool-call","meta":{"id":"c1","name":"ls"}}]`, []string{"c1"}, nil},
		{"Acontext's result", `"content":[{"type":"tool-result","text":"x","meta":{"tool_call_id":"c1"}}]`, nil, []string{"c1"}},
		{"both in one", `"content":[{"type":"tool_use","id":"c1"},{"type":"tool_result","tool_use_id":"c1"}]`, []string{"c1"}, []string{"c1"}},
		{"the same in two forms", `"metadata":{"tool_calls":[{"id":"c1"}]},"tool_calls":[{"id":"c1"}],"content":[{"type":"tool_use","id":"c1"}]`, []string{"c1"}, nil},
		{"other types", `"metadata":{"tool_calls":7,"tool_call_id":7},"tool_calls":[{"id":null},7,"c1"],"content":[7,"tool_use",{"type":7,"id":"c1"}]`, nil, nil},
		{"empty ids", `"metadata":{"tool_calls":[{"id":""}],"tool_call_id":""}`, nil, nil},
	} {
		calls, results := decode(t, "s", []byte(`{"messages":[{"id":"a",`+c.members+`}]}`)).Tools(0)
		if !slices.Equal(calls, c.calls) {
			t.Errorf("%s: calls are %q, want %q", c.name, calls, c.calls)
		}
		if !slices.Equal(results, c.results) {
			t.Errorf("%s: results are %q, want %q", c.name, results, c.results)
		}
	}
}

func TestIsMarker(t *testing.T) {
	for metadata, want := range map[string]bool{
		`"type":"session_transition","previous_session":"p"`: true,
		`"type":"session\u005ftransition"`:                   true,
		`"type":"system_prompt"`:                             false,
		`"other":"session_transition"`:                       false,
		`"deeper":{"type":"session_transition"}`:             false,
		``:                                                   false,
	} {
		if got := one(t, message("a", metadata)).IsMarker(); got != want {
			t.Errorf("with {%s} the message is a marker: %v, want %v", metadata, got, want)
		}
	}
}

// TestSurrogateIDs: ids that are different halves of surrogate pairs are different,
// and can be named as parents.
func TestSurrogateIDs(t *testing.T) {
	s, err := session.Decode("s", []byte(`{"messages":[{"id":"\ud83d"},{"id":"\ud83e"},{"id":"c","metadata":{"parent_id":"\ud83d"}}]}`))
	if err != nil {
		t.Fatal(err)
	}
	tr, err := newTree(s)
	if err != nil || tr.Parent(2) != 0 {
		t.Errorf("the tree is %+v, %v", tr, err)
	}
}
