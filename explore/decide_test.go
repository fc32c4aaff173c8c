package explore_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bough-dev/bough/explore"
	"github.com/bough-dev/bough/workspace"
)

const offering = "I see three approaches: functional, imperative, and hybrid."

// TestDecide: the last several replies, and what was learned, decide whether a reply is explored.
func TestDecide(t *testing.T) {
	learned := func(strategy string, success bool, n int) (list []string) {
		for i := range n {
			list = append(list, fmt.Sprintf(`{"time":"2026-01-01","context":"How shall I write the parser?","strategy":%q,"success":%v,"branch_id":"%s%v%d"}`, strategy, success, strategy, success, i))
		}
		return list
	}
	for _, c := range []struct {
		name     string
		said     []string // user and assistant in turn
		learned  []string
		explores bool
		reason   string
		tried    string
	}{
		{"the newest reply", []string{"How shall I write the parser?", offering}, nil, true, "the reply offers functional, imperative, hybrid", "functional imperative hybrid"},
		{"an earlier reply", []string{"How shall I write the parser?", offering, "What do they cost?", "It depends.", "How shall I write the parser, functional or imperative?", "Both are fine."}, nil, true, "an earlier reply (2 before) offers functional, imperative, hybrid, and the choice is open", "functional imperative hybrid"},
		{"a choice that was made", []string{"How shall I write the parser?", offering, "Use the hybrid one.", "Done."}, nil, false, "of the choice of an earlier reply, hybrid was chosen", ""},
		{"another subject", []string{"How shall I write the parser?", offering, "What is the time?", "Noon."}, nil, false, "it does not offer several ways", ""},
		{"too long ago", []string{"?", offering, "a", "b", "c", "d", "e", "f", "functional or hybrid?", "Both."}, nil, false, "it does not offer several ways", ""},
		{"a proven strategy", []string{"How shall I write the parser?", offering}, learned("hybrid", true, 3), false, "hybrid succeeded each time", ""},
		{"strategies that failed", []string{"How shall I write the parser?", offering}, append(learned("hybrid", false, 2), learned("imperative", false, 2)...), false, "the other strategies failed", ""},
		{"one that failed", []string{"How shall I write the parser?", offering}, learned("hybrid", false, 2), true, "1 other strategy failed each time", "functional imperative"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w, err := workspace.Open(t.Context(), t.TempDir(), nil)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := w.New(t.Context(), "Parser"); err != nil {
				t.Fatal(err)
			}
			for i, text := range c.said {
				if _, err := w.Append(t.Context(), workspace.Append{Text: text, Role: []string{"user", "assistant"}[i%2]}); err != nil {
					t.Fatal(err)
				}
			}
			if err := os.WriteFile(filepath.Join(w.Dir(), ".bough", "learnings.jsonl"), []byte(strings.Join(append(c.learned, ""), "\n")), 0o600); err != nil {
				t.Fatal(err)
			}
			x := &explore.Explorer{Workspace: w}
			plan, err := x.Plan(t.Context(), explore.Request{Ref: "HEAD", Recent: 3})
			if err != nil {
				t.Fatal(err)
			}
			if plan.Explores != c.explores || !strings.Contains(plan.Reason, c.reason) {
				t.Errorf("explores %v: %q, want %v: %q", plan.Explores, plan.Reason, c.explores, c.reason)
			}
			var tried []string
			for _, s := range plan.Strategies {
				tried = append(tried, s.Name)
			}
			if got := strings.Join(tried, " "); c.explores && got != c.tried {
				t.Errorf("tries %q, want %q", got, c.tried)
			}
		})
	}
}
