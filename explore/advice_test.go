package explore_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/bough-dev/bough/explore"
	"github.com/bough-dev/bough/workspace"
)

// TestAdvice: a model gets the outcomes of each strategy for similar questions, and of no others.
func TestAdvice(t *testing.T) {
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
	x := &explore.Explorer{Workspace: w}
	for question, want := range map[string]string{
		"How should I write this parser?": "For similar questions, these ways were tried before:\n- imperative: it worked 0 of 1 times\n- Hybrid: it worked 1 of 2 times; Tokens first.",
		"What is the time?":               "",
		"":                                "",
	} {
		if got, err := x.Advice(t.Context(), question); got != want || err != nil {
			t.Errorf("the advice for %q is %q, %v; want %q", question, got, err, want)
		}
	}
}
