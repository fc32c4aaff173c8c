package explore_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/bough-dev/bough/explore"
	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/agents"
)

// TestAdvise: the system prompt gets the outcomes of each strategy for similar questions, and of no
// others, below what the agent has.
func TestAdvise(t *testing.T) {
	w, err := workspace.Open(t.Context(), t.TempDir(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.New(t.Context(), "Parser"); err != nil {
		t.Fatal(err)
	}
	const learnings = `{"context":"How shall I write the parser?","strategy":"hybrid","success":true,"branch_id":"1","insights":["Tokens\nfirst."]}
{"context":"How shall I write the parser?","strategy":"Hybrid","success":false,"branch_id":"2"}
{"context":"How shall I write the parser?","strategy":"imperative","success":false,"branch_id":"3"}
{"context":"What grows in the shade?","strategy":"ferns","success":true,"branch_id":"4"}
`
	if err := os.WriteFile(filepath.Join(w.Dir(), ".bough", "learnings.jsonl"), []byte(learnings), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, system := range map[string]string{"ada": "", "bob": "Be brief."} {
		if _, err := w.Agent(name).Create(t.Context(), agents.Options{Model: "command:cat", System: system}); err != nil {
			t.Fatal(err)
		}
	}
	x := &explore.Explorer{Workspace: w}
	const advice = "For similar questions, these ways were tried before:\n- imperative: it worked 0 of 1 times\n- Hybrid: it worked 1 of 2 times; Tokens first."
	for _, c := range []struct{ agent, question, want string }{
		{"ada", "How should I write this parser?", advice},
		{"bob", "How should I write this parser?", "Be brief.\n\n" + advice},
		{"bob", "What is the time?", ""},
		{"bob", "", ""},
	} {
		got, err := x.Advise(t.Context(), c.agent, c.question)
		if err != nil || (got == nil) != (c.want == "") || got != nil && *got != c.want {
			t.Errorf("for %q, %s reads %v, %v; want %q", c.question, c.agent, got, err, c.want)
		}
	}
	if _, err := x.Advise(t.Context(), "nobody", "How should I write this parser?"); err == nil {
		t.Error("there is advice for an agent that does not exist")
	}
}
