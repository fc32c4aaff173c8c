package content_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/bough-dev/bough/convert/content"
)

func TestTexts(t *testing.T) {
	for _, c := range []struct{ in, texts, tools string }{
		{`{"role":"user","content":"Hi"}`, "Hi", ""},
		{`{"role":"user","content":""}`, "", ""},
		{`{"role":"user","content":["Hi",{"type":"text","text":"you"},{"type":"image","filename":"a.png","asset":{"sha256":"x"}}]}`, "Hi|you|a.png", ""},
		{`{"role":"assistant","content":"","tool_calls":[{"id":"c1","type":"function","function":{"name":"f","arguments":"{\"a\": \"\\u00e9\\n\\\"\", \"b\":[1,\"\"]}"}}]}`,
			"f({\"a\": \"é\n\"\", \"b\":[1,\"\"]})", "call f c1"},
		{`{"role":"assistant","content":"I call.","tool_calls":[{"id":"c1","function":{"name":"f","arguments":"half a \\u00e9"}}]}`, `I call.|f(half a \u00e9)`, "call f c1"},
		{`{"role":"assistant","content":[{"type":"thinking","thinking":"Hm"},{"type":"tool_use","id":"c1","name":"f","input":{"a": "\u00e9"}}]}`, `Hm|f({"a":"é"})`, "call f c1"},
		{`{"role":"tool","content":"42","metadata":{"tool_call_id":"c1","action_type":"f"}}`, "42", "result f c1"},
		{`{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":[{"type":"text","text":"42"}]}]}`, "42", "result  c1"},
		{`{"role":"user","content":[{"type":"tool_result","content":"42"}]}`, "42", ""},
		{`{"role":"user","content":[{"type":"file","filename":"a.txt","meta":{"type":"text","media_type":"text/plain","data":"caf\u00e9"}}]}`, "a.txt|café", ""},
		{`{"role":"user","content":[{"type":"poll","body":"42"}]}`, "", ""},
	} {
		m := content.Read([]byte(c.in))
		if got := strings.Join(m.Texts(), "|"); got != c.texts {
			t.Errorf("%s says %q, want %q", c.in, got, c.texts)
		}
		var tools []string
		for _, use := range m.ToolUses() {
			kind := "call"
			if use.Result {
				kind = "result"
			}
			tools = append(tools, kind+" "+use.Name+" "+use.Call)
		}
		if got := strings.Join(tools, "|"); got != c.tools {
			t.Errorf("%s uses %q, want %q", c.in, got, c.tools)
		}
	}
}

// TestSaying: the values of Saying contain all of a message.
func TestSaying(t *testing.T) {
	for _, n := range natives {
		var parts []string
		for _, part := range content.Saying([]byte(n.in)) {
			alone := fmt.Sprintf(`{"content":%s,"tool_calls":%s}`, part, part)
			parts = append(parts, content.Read([]byte(alone)).Texts()...)
		}
		for _, said := range content.Read([]byte(n.in)).Texts() {
			for _, text := range parts {
				said = strings.Replace(said, text, "", 1)
			}
			if said != "" {
				t.Errorf("%s: %q is in no part with text", n.name, said)
			}
		}
	}
}

func TestOnlyTools(t *testing.T) {
	for _, c := range []struct {
		message string
		want    bool
	}{
		{`{"role":"user","content":"text"}`, false},
		{`{"role":"user","content":[]}`, false},
		{`{"role":"user","content":[{"type":"tool_result","tool_use_id":"1","content":"done"}]}`, true},
		{`{"role":"user","content":[{"type":"tool_result","tool_use_id":"1","content":"done"},{"type":"text","text":"go on"}]}`, false},
		{`{"role":"assistant","content":[{"type":"thinking","thinking":"so"},{"type":"text","text":" "},{"type":"tool_use","id":"1","name":"Read","input":{}}]}`, true},
		{`{"role":"assistant","content":[{"type":"thinking","thinking":"so"}]}`, false},
		{`{"role":"tool","content":"done","tool_call_id":"1"}`, true},
	} {
		if got := content.Read([]byte(c.message)).OnlyTools(); got != c.want {
			t.Errorf("OnlyTools of %s is %v", c.message, got)
		}
	}
}
