package workspace_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bough-dev/bough/workspace"
)

func writeFile(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func importOne(t *testing.T, s *space, path string, o workspace.ImportOptions) workspace.Imported {
	t.Helper()
	got, err := s.Import(t.Context(), []string{path}, o)
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Imported) != 1 {
		t.Fatalf("%d rows: %+v", len(got.Imported), got)
	}
	return got.Imported[0]
}

// Two transcripts of one conversation, the second of which went on.
const (
	askedTwice  = `[{"role":"user","content":"What is 2 + 2?"},{"role":"assistant","content":"4"},{"role":"user","content":"And 3 + 3?"}]`
	askedThrice = `[{"role":"user","content":"What is 2 + 2?"},{"role":"assistant","content":"4"},{"role":"user","content":"And 3 + 3?"},{"role":"assistant","content":"6"},{"role":"user","content":"And 4 + 4?"}]`
)

// take imports a transcript.
func take(s *space, text string) error {
	list, err := s.Import(context.Background(), []string{"-"}, workspace.ImportOptions{Stdin: strings.NewReader(text)})
	if err == nil {
		for _, r := range list.Imported {
			if r.Status == workspace.ImportFailed {
				return errors.New(r.Detail)
			}
		}
	}
	return err
}

func TestImport(t *testing.T) {
	s := openSpace(t, t.TempDir(), 0)
	short := writeFile(t, "a.json", `[{"role":"system","content":"Be brief."},{"role":"user","content":"What is 2 + 2?"},{"role":"assistant","content":"4"}]`)
	long := writeFile(t, "b.json", `[{"role":"system","content":"Be brief."},{"role":"user","content":"What is 2 + 2?"},{"role":"assistant","content":"4"},{"role":"user","content":"And 3 + 3?"}]`)
	other := writeFile(t, "c.json", `[{"role":"system","content":"Be brief."},{"role":"user","content":"Who are you?"}]`)
	fork := writeFile(t, "d.json", `[{"role":"system","content":"Be brief."},{"role":"user","content":"What is 2 + 2?"},{"role":"assistant","content":"Four."}]`)
	session := workspace.ID("")
	for _, step := range []struct {
		path    string
		dry     bool
		status  workspace.ImportStatus
		added   int
		another bool // it is another session
	}{
		{short, true, workspace.ImportNew, 3, true},
		{short, false, workspace.ImportNew, 3, true},
		{short, false, workspace.ImportUnchanged, 0, false},
		{long, true, workspace.ImportUpdated, 1, false},
		{long, false, workspace.ImportUpdated, 1, false},
		{short, false, workspace.ImportUnchanged, 0, false},
		{other, false, workspace.ImportNew, 2, true},
		{fork, false, workspace.ImportUpdated, 1, false},
		{fork, false, workspace.ImportUnchanged, 0, false},
	} {
		got := importOne(t, s, step.path, workspace.ImportOptions{DryRun: step.dry})
		if got.Status != step.status || got.Added != step.added {
			t.Errorf("%s: %+v, want %s, %d added", filepath.Base(step.path), got, step.status, step.added)
		}
		if session == "" {
			session = got.Session
		}
		if !step.dry && (got.Session != session) != (step.another && step.path != short) {
			t.Errorf("%s is in %s", filepath.Base(step.path), got.Session)
		}
	}
	b, err := s.Branches(t.Context(), string(session), workspace.BranchesOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if len(b.Leaves) != 2 {
		t.Errorf("%d ends, want 2", len(b.Leaves))
	}
	healthy(t, s)
}
