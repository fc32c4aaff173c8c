package spoken_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/bough-dev/bough/internal/spoken"
	"github.com/bough-dev/bough/session"
)

func TestSpoken(t *testing.T) {
	long := strings.Repeat("ä", 100)
	for _, c := range []struct {
		message, words string
		person, tool   bool
	}{
		{`{"role":"user","content":"Hello\nthere"}`, "Hello", true, false},
		{`{"role":"user","content":""}`, "", true, false},
		{`{"role":"user","content":"# The *plan*\nof [May](https://example.com)"}`, "The plan", true, false},
		{`{"role":"user","content":"---\n\n\u0060\u0060\u0060go\nfunc main() {}\n\u0060\u0060\u0060"}`, "func main() {}", true, false},
		{`{"role":"user","content":"***"}`, "***", true, false},
		{`{"role":"user","content":"- [ ] **buy** \u0060a_b*\u0060 \\* 2 < 3 snake_case <b>x</b> ![map](a.png)"}`, "[ ] buy a_b* * 2 < 3 snake_case <b>x</b> map", true, false},
		{`{"role":"user","content":[{"type":"tool_result","tool_use_id":"1","content":"done"}]}`, "done", false, true},
		{`{"role":"assistant","content":"I look."}`, "I look.", false, false},
		{`{"role":"assistant","content":"","tool_calls":[{"id":"1","function":{"name":"Read","arguments":"{\"path\":\"` + long + `\"}"}}]}`,
			`Read({"path":"` + strings.Repeat("ä", 66) + "…", false, true},
		{`{"role":"tool","content":"done","tool_call_id":"1"}`, "done", false, true},
		{`{"role":"system","content":"You help."}`, "You help.", false, false},
	} {
		m := session.Message{ID: "1", Raw: []byte(c.message)}
		if got := spoken.Words(m); got != c.words {
			t.Errorf("the words of %s are %q, want %q", c.message, got, c.words)
		}
		if spoken.ByPerson(m) != c.person || spoken.ByTool(m) != c.tool {
			t.Errorf("%s: by a person %v, by a tool %v", c.message, spoken.ByPerson(m), spoken.ByTool(m))
		}
	}
}

// TestPlain: the spans select the same words as before.
func TestPlain(t *testing.T) {
	for _, c := range []struct{ line, find, want string }{
		{"plain words", "words", "plain words"},
		{"…é **bold _both_** end", "both", "…é bold both end"},
		{"see [the sea](https://example.com/sea) now", "sea", "see the sea now"},
		{"## Ünder `code` <https://example.com>", "example", "Ünder code https://example.com"},
		{"> - quoted *item*", "item", "quoted item"},
		{"a * b * c_d_e", "c_d", "a * b * c_d_e"},
		{"**half", "half", "**half"},
		{"one ## Two # three #4 ## ", "Two", "one Two # three #4 ##"},
		{`a \\* b \# \x`, "b", `a \* b # \x`},
		{"*", "*", "*"},
	} {
		at := utf8.RuneCountInString(c.line[:strings.Index(c.line, c.find)])
		got, spans := spoken.Plain(c.line, [][2]int{{at, at + utf8.RuneCountInString(c.find)}})
		if got != c.want || len(spans) != 1 || string([]rune(got)[spans[0][0]:spans[0][1]]) != c.find {
			t.Errorf("%q: %q, %v", c.line, got, spans)
		}
	}
	if got, spans := spoken.Plain("[a](https://example.com)", [][2]int{{4, 9}}); got != "a" || len(spans) > 0 {
		t.Errorf("%q, %v", got, spans)
	}
}
