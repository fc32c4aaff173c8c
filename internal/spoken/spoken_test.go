package spoken_test

import (
	"strings"
	"testing"

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
