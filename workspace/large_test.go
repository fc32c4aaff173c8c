package workspace_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/fault"
)

// TestLarge runs all verbs in a workspace whose index has a journal, once with and once
// without the cache: the results are the same, and after each verb the index agrees with
// the files.
func TestLarge(t *testing.T) {
	t.Parallel()
	t.Run("bytes", func(t *testing.T) { testLarge(t, 120, 2000) })
	t.Run("sessions", func(t *testing.T) { testLarge(t, 500, 1) })
}

// testLarge runs TestLarge with a number of sessions whose titles have so many words.
func testLarge(t *testing.T, sessions, words int) {
	t.Parallel()
	var answers [2][]string
	for i, forget := range []bool{false, true} {
		s := openSpace(t, t.TempDir(), 3)
		for n := range sessions {
			s.messages(fmt.Sprint("s", n), fmt.Sprintf(`"title":"%d %s","continued_from":[],"continued_to":[]`, n, strings.Repeat("long ", words)), `{"id":"m","role":"user","content":"hello"}`)
		}
		cache := filepath.Join(s.Dir(), ".bough", "cache")
		step := func(verb string, answer any, err error) {
			t.Helper()
			if err != nil {
				t.Fatalf("%s: %v", verb, err)
			}
			answers[i] = append(answers[i], fmt.Sprintf("%s: %+v", verb, answer))
			if _, err := os.Stat(cache); err != nil && !forget {
				t.Errorf("after %s there is no cache", verb)
			}
			if forget {
				if err := os.RemoveAll(cache); err != nil {
					t.Fatal(err)
				}
			}
		}
		ctx := t.Context()
		old := time.Now().Add(-time.Hour)
		if err := os.Chtimes(filepath.Join(s.Dir(), session.Dir), old, old); err != nil {
			t.Fatal(err)
		}
		lineage, err := s.Lineage(ctx, "s1", session.ReadOptions{})
		step("lineage", lineage, err)
		renamed, err := s.Rename(ctx, "s1", "Short")
		step("rename", renamed.Title, err)
		branch, err := s.Branch(ctx, "Short", workspace.SnapshotOptions{})
		step("branch", branch.Title, err)
		point, err := s.Checkpoint(ctx, branch.ID, workspace.SnapshotOptions{})
		step("checkpoint", point.Title, err)
		for n := range 4 {
			out, err := s.Append(ctx, workspace.Append{Session: branch.ID, Text: fmt.Sprint("text ", n)})
			step("append", out.Session == branch.ID, err)
		}
		line, err := s.Lineage(ctx, point.ID, session.ReadOptions{})
		step("lineage", len(line.IDs), err)
		removed, err := s.Remove(ctx, point.ID, workspace.RemoveOptions{})
		step("rm", removed.Title, err)
		if _, err := s.Lineage(ctx, point.ID, session.ReadOptions{}); workspace.Explain(err) == nil || workspace.Explain(err).Code != fault.NotFound {
			t.Errorf("lineage of a removed session: %v", err)
		}
		listing, err := s.List(ctx, "")
		titles := []string{}
		for _, e := range listing.Sessions {
			titles = append(titles, fmt.Sprint(e.Title, e.Kind, e.MessageCount))
		}
		slices.Sort(titles)
		step("ls", titles, err)
		conversation, err := s.Show(ctx, branch.ID, session.ReadOptions{})
		step("show", len(conversation.Messages), err)
		if journal := s.read(session.Dir + "/session_index.journal"); !strings.Contains(journal, point.ID) {
			t.Errorf("the journal is %.200q", journal)
		}
		healthy(t, s)
	}
	for n, answer := range answers[0] {
		if answer != answers[1][n] {
			t.Errorf("%s, without the cache %s", answer, answers[1][n])
		}
	}
}
