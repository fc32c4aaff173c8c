package mcp_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bough-dev/bough/explore"
)

// exploredFiles explores two strategies with a command that writes plan.txt in a copy of the
// folder dir, and returns the id of the exploration.
func (r *room) exploredFiles(dir string) string {
	r.t.Helper()
	x := &explore.Explorer{Workspace: r.w}
	plan, err := x.Plan(r.t.Context(), explore.Request{
		Ref: r.first, Strategies: []explore.Strategy{{Name: "tram"}, {Name: "walk"}},
		Runner: explore.Runner{Command: "echo tried> plan.txt&& echo done", Dir: dir},
	})
	if err != nil {
		r.t.Fatal(err)
	}
	e, err := x.Run(r.t.Context(), plan)
	if err != nil {
		r.t.Fatal(err)
	}
	return e.ID
}

// TestAdoptFiles: what a branch changed comes home only after the user has seen the plan and
// confirmed it; conflicts are refused before the user is asked.
func TestAdoptFiles(t *testing.T) {
	r := newRoom(t, nil)
	dir := r.snap("HEAD", map[string]string{"flour": "rye"}, nil)
	id := r.exploredFiles(dir)
	plan := filepath.Join(dir, "plan.txt")
	read := func() string {
		data, _ := os.ReadFile(plan)
		return strings.TrimSpace(string(data))
	}
	in := args{"id": id, "branch_id": "walk", "files": true}
	if text := r.connect(nil).fails("adopt", in); !strings.Contains(text, "explore adopt "+id+" walk --files") {
		t.Errorf("without elicitation: %q", text)
	}
	var asked []string
	if text := r.connect(accepts("decline", &asked)).fails("adopt", in); !strings.Contains(text, "declined") || read() != "" {
		t.Errorf("declined: %q; the plan is %q", text, read())
	}
	if len(asked) != 1 || !strings.Contains(asked[0], "change 1 file in "+dir) || !strings.Contains(asked[0], "\nwrite plan.txt") {
		t.Errorf("the question is %q", asked)
	}
	c := r.connect(accepts("accept", &asked))
	before := r.seq()
	dry := args{"id": id, "branch_id": "walk", "files": true, "dry_run": true}
	if got := c.call("adopt", dry); got.Get("files.written.0").String() != "plan.txt" || read() != "" || len(asked) != 1 || r.seq() != before {
		t.Errorf("dry run: %s, asked %q", got, asked)
	}
	if err := os.WriteFile(plan, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	if text := c.fails("adopt", in); !strings.HasPrefix(text, "refused: ") || !strings.Contains(text, "\n- plan.txt") || !strings.Contains(text, "keep, take or merge") || len(asked) != 1 {
		t.Errorf("a conflict: %q, asked %q", text, asked)
	}
	if r.seq() != before || read() != "mine" {
		t.Errorf("what was refused made operation %d, and the plan is %q", r.seq(), read())
	}
	got := c.call("adopt", args{"id": id, "branch_id": "walk", "files": true, "conflicts": "take"})
	if got.Get("files.written.0").String() != "plan.txt" || got.Get("adopted_node_id").String() == "" || read() != "tried" {
		t.Errorf("%s; the plan is %q", got, read())
	}
	c.call("undo", nil)
	if read() != "mine" {
		t.Errorf("after undo the plan is %q", read())
	}
	for _, bad := range []args{{"id": id, "whole": true}, {"id": id, "files": true, "whole": true, "conflicts": "take"}, {"id": id, "files": true, "only": []string{"../x"}}} {
		if text := c.fails("adopt", bad); !strings.HasPrefix(text, "usage: ") {
			t.Errorf("%v: %q", bad, text)
		}
	}
	if got := c.call("adopt", args{"id": id}); got.Get("files").Exists() || read() != "mine" {
		t.Errorf("without files: %s", got)
	}
}

// TestManyLeft: of the paths that a state does not hold, an answer has the first ones and the
// number of the others.
func TestManyLeft(t *testing.T) {
	r := newRoom(t, nil)
	secrets := map[string]string{}
	for i := range 50 {
		secrets[fmt.Sprintf("%02d/.env", i)] = "KEY=1"
	}
	dir := r.snap("HEAD", secrets, nil)
	r.snapAgain(dir)
	c := r.connect(nil)
	for tool, list := range map[string][]string{"list_states": {"states.0", "states.1"}, "compare_states": {"from"}} {
		got := c.call(tool, nil)
		for _, at := range list {
			if st := got.Get(at); st.Get("left.#").Int() != 20 || st.Get("left_omitted").Int() != 30 {
				t.Errorf("%s: %s has %s", tool, at, st)
			}
		}
	}
}
