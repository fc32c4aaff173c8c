package workspace_test

import (
	"errors"
	"maps"
	"strings"
	"testing"

	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/agents"
	"github.com/bough-dev/bough/workspace/fault"
	"github.com/bough-dev/bough/workspace/lines"
)

// TestTitles: a title that is given is one line of a limited size, and nothing changes if it is
// not; one that a file has is read as it is.
func TestTitles(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	s := openSpace(t, t.TempDir(), 0)
	long := strings.Repeat("x", workspace.MaxTitle)
	odd := long + `x\u001b[31m\nred`
	s.write("conversations/odd.json", `{"metadata":{"title":"`+odd+`"},"messages":[{"id":"a","role":"user","content":"hello"}]}`)
	if _, err := s.Agent("ada").Create(ctx, agents.Options{Model: "m"}); err != nil {
		t.Fatal(err)
	}
	before := s.files()
	for what, give := range map[string]func(title string) error{
		"new":    func(title string) error { _, err := s.New(ctx, title); return err },
		"rename": func(title string) error { _, err := s.Rename(ctx, "odd", title); return err },
		"checkpoint": func(title string) error {
			_, err := s.Checkpoint(ctx, "odd", workspace.SnapshotOptions{Name: title})
			return err
		},
		"branch": func(title string) error {
			_, err := s.Branch(ctx, "odd", workspace.SnapshotOptions{Name: title})
			return err
		},
		"line": func(title string) error { _, _, err := s.NewLine(ctx, lines.Options{Title: title}); return err },
		"tree": func(title string) error { _, err := s.Agent("ada").NewTree(ctx, title); return err },
	} {
		for _, c := range []struct{ title, problem string }{
			{long + "x", "has 1001 bytes; at most 1000 are allowed"},
			{"two\nlines", "must be one line of text"},
			{"\x1b[2J", "without control characters"},
			{"a\u2028b", "must be one line of text"},
			{"\xff", "not valid UTF-8"},
		} {
			if err := give(c.title); !errors.Is(err, fault.Usage) || !strings.Contains(err.Error(), c.problem) {
				t.Errorf("%s %.20q: %v, want %q", what, c.title, err, c.problem)
			}
		}
		if after := s.files(); !maps.Equal(before, after) {
			t.Fatalf("%s changed the files", what)
		}
		if err := give(long); err != nil {
			t.Errorf("%s: %v", what, err)
		}
		before = s.files()
	}
	s.write("conversations/other.json", `{"metadata":{"title":"`+odd+`"},"messages":[{"id":"b","role":"user","content":"hello"}]}`)
	e, err := s.Checkpoint(ctx, "other", workspace.SnapshotOptions{})
	if err != nil || !strings.Contains(e.Title, "x\x1b[31m\nred") {
		t.Fatalf("a checkpoint of a session with such a title: %+v, %v", e, err)
	}
	if _, err := s.Append(ctx, workspace.Append{Session: e.ID, Text: "on"}); err != nil {
		t.Errorf("a message below it: %v", err)
	}
}
