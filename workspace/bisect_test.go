package workspace_test

import (
	"context"
	"io/fs"
	"maps"
	"math/bits"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/bough-dev/bough/internal/testsize"
	"github.com/bough-dev/bough/workspace/origin"
)

// textsIn returns the content of the files in a folder, by their slash-separated paths.
func textsIn(t testing.TB, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := fs.WalkDir(os.DirFS(dir), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := fs.ReadFile(os.DirFS(dir), name)
		all[name] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// TestBisect: in a repository that a conversation changed in many turns, a bisection finds the one
// that wrote a file, whichever it was, in log n tests, and each test has the files of then. By
// hand, with the good and bad messages of each step, it is the same turn in as many steps.
func TestBisect(t *testing.T) {
	t.Parallel()
	turns := testsize.Of(20, 30, 200)
	r := newRepository(1, false)
	r.sessions = []string{"trip"}
	r.run(turns)
	broken := r.IntN(turns-1) + 1
	const name = "broken.txt"
	for _, step := range r.steps[2*broken+1:] { // each turn has a state before and one after
		step.files[name] = "broken"
	}
	r.files[name] = []writtenLine{{text: "broken"}}
	prompt := strings.TrimPrefix(r.steps[2*broken+1].ref, "trip@")
	s := openSpace(t, t.TempDir(), 0)
	dir := r.replay(s, true)

	then := func(tr origin.Trial) bool {
		return slices.ContainsFunc(r.steps, func(step repoStep) bool {
			return step.ref == string(tr.Session)+"@"+string(tr.Message) && maps.Equal(step.files, textsIn(t, tr.Dir))
		})
	}
	tests := 0
	found, err := s.Folder(dir).Bisect(t.Context(), "trip", origin.BisectOptions{}, func(_ context.Context, tr origin.Trial) (origin.Test, error) {
		if tr.Want == "" {
			tests++
		}
		if !then(tr) {
			t.Errorf("step %d, %s: its folder has other files than there were", tr.Number, tr.Message)
		}
		if _, err := os.Stat(tr.Dir + "/" + name); err == nil {
			return origin.Test{Verdict: origin.Bad}, nil
		}
		return origin.Test{Verdict: origin.Good}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	plan, err := s.Folder(dir).Bisection(t.Context(), "trip", origin.BisectOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d turns, %d steps, %d tests", turns, len(plan.Steps), tests)
	limit := bits.Len(uint(len(plan.Steps) - 2))
	if len(plan.Steps) < turns*9/10 || tests > min(limit, 8) {
		t.Errorf("%d tests of %d steps, want at most %d", tests, len(plan.Steps), min(limit, 8))
	}
	if len(found.Candidates) != 1 || found.Candidates[0].Turn == nil || string(found.Candidates[0].Message) != prompt || found.Flaky || len(found.Tests) != tests+4 {
		t.Errorf("it found %+v, want the turn that ends with %s", found, prompt)
	}

	var o origin.BisectOptions
	hand := 0
	for plan.Next != nil {
		step := plan.Steps[*plan.Next]
		at := string(step.Session) + "@" + string(step.Message)
		if _, err := s.Folder(dir).Show(t.Context(), step.State, name); err == nil {
			o.Bad = at
		} else {
			o.Good = at
		}
		var err error
		if plan, err = s.Folder(dir).Bisection(t.Context(), "trip", o); err != nil {
			t.Fatal(err)
		}
		hand++
	}
	if last := plan.Steps[len(plan.Steps)-1]; string(last.Message) != prompt || hand > limit {
		t.Errorf("by hand it is %s after %d steps, want %s", last.Message, hand, prompt)
	}
}
