package workspace_test

import (
	"fmt"
	"sync"
	"testing"

	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace"
)

// TestConcurrent: many concurrent writers of one workspace lose no message, across
// continuations and with readers.
func TestConcurrent(t *testing.T) {
	t.Parallel()
	const writers, each, limit = 8, 6, 10
	dir := t.TempDir()
	first, err := workspace.Open(t.Context(), dir, &workspace.Options{Limit: limit})
	if err != nil {
		t.Fatal(err)
	}
	e, err := first.New(t.Context(), "Busy")
	if err != nil {
		t.Fatal(err)
	}
	var wg, reader sync.WaitGroup
	done := make(chan bool)
	reader.Go(func() {
		for last := 0; ; {
			select {
			case <-done:
				return
			default:
			}
			c, err := first.Show(t.Context(), e.ID, session.ReadOptions{})
			if err != nil || len(c.Messages) < last {
				t.Errorf("a reader sees %d messages after %d: %v", len(c.Messages), last, err)
				return
			}
			last = len(c.Messages)
		}
	})
	for n := range writers {
		wg.Go(func() {
			w := first
			if n%2 == 1 { // as another process does
				var err error
				if w, err = workspace.Open(t.Context(), dir, &workspace.Options{Limit: limit}); err != nil {
					t.Error(err)
					return
				}
			}
			for i := range each {
				if _, err := w.Append(t.Context(), workspace.Append{Session: e.ID, Text: fmt.Sprint(n, "/", i)}); err != nil {
					t.Error(err)
				}
				if i == each/2 {
					if _, err := w.Checkpoint(t.Context(), e.ID, workspace.SnapshotOptions{}); err != nil {
						t.Error(err)
					}
				}
			}
		})
	}
	wg.Wait()
	close(done)
	reader.Wait()
	s := openSpace(t, dir, limit)
	c := s.show(e.ID)
	texts, ids := map[string]bool{}, map[string]bool{}
	for _, m := range c.Messages {
		texts[m.Text()] = true
		ids[m.ID] = true
	}
	if len(c.Messages) != writers*each || len(texts) != writers*each || len(ids) != writers*each {
		t.Errorf("%d messages with %d texts and %d ids, want %d of each", len(c.Messages), len(texts), len(ids), writers*each)
	}
	next := map[byte]byte{}
	for _, m := range c.Messages {
		if m.Text()[2] != '0'+next[m.Text()[0]] {
			t.Errorf("%q comes after %d others of its writer", m.Text(), next[m.Text()[0]])
		}
		next[m.Text()[0]]++
	}
	if got := len(allIDs(t, s)); got != 5+writers {
		t.Errorf("%d sessions, want 5 files and %d checkpoints", got, writers)
	}
	healthy(t, s)
	if len(s.notes) > 0 {
		t.Errorf("notes are %q", s.notes)
	}
}
