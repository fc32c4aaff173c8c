package workspace_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/bough-dev/bough/internal/testsize"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/events"
	"github.com/bough-dev/bough/workspace/history"
)

// TestEmbeddedConcurrently uses one Workspace from many goroutines, and a second one on the
// same folder: each appends to a conversation, takes checkpoints, renames and undoes the
// rename, while others read everything and follow the events. Every acknowledged message is
// in its conversation and in the events, once and in order, and every rename is undone.
func TestEmbeddedConcurrently(t *testing.T) {
	t.Parallel()
	const speakers = 4
	rounds := testsize.Of(2, 3, 12)
	dir := t.TempDir()
	var spaces [2]*workspace.Workspace
	for i := range spaces {
		var err error
		if spaces[i], err = workspace.Open(t.Context(), dir, nil); err != nil {
			t.Fatal(err)
		}
	}
	var ids [speakers]string
	for i := range ids {
		e, err := spaces[0].New(t.Context(), fmt.Sprint("Talk ", i))
		if err != nil {
			t.Fatal(err)
		}
		ids[i] = e.ID
	}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()

	var followed [len(spaces)]map[string][]string // ids of the added messages, by session
	var followers, readers, writers sync.WaitGroup
	for i, w := range spaces {
		followers.Go(func() { followed[i] = addedMessages(t, ctx, w, speakers*rounds) })
	}
	done := make(chan struct{})
	for _, w := range spaces {
		readers.Go(func() {
			for last := 0; ; {
				select {
				case <-done:
					return
				default:
				}
				if last = readAll(t, w, ids[:], last); last < 0 {
					return
				}
			}
		})
	}
	said := make([][]string, speakers) // ids of the acknowledged messages
	for i := range speakers {
		writers.Go(func() { said[i] = speak(t, spaces[i%len(spaces)], ids[i], rounds) })
	}
	writers.Wait()
	close(done)
	readers.Wait()
	followers.Wait()

	s := openSpace(t, dir, 0)
	for i, id := range ids {
		var stored []string
		for _, m := range s.show(id).Messages {
			stored = append(stored, m.ID)
		}
		if len(said[i]) != rounds || !slices.Equal(stored, said[i]) {
			t.Errorf("%s has the messages %q, acknowledged were %q", id, stored, said[i])
		}
		for n := range followed {
			if !slices.Equal(followed[n][id], said[i]) {
				t.Errorf("reader %d of the events saw %q in %s, acknowledged were %q", n, followed[n][id], id, said[i])
			}
		}
		if title := s.entry(id).Title; title != fmt.Sprint("Talk ", i) {
			t.Errorf("after its renames were undone, the title is %q", title)
		}
	}
	if n := len(allIDs(t, s)); n != speakers+speakers*rounds {
		t.Errorf("%d sessions, want %d and a checkpoint of each of their %d messages", n, speakers, rounds)
	}
	healthy(t, s)
}

// speak adds messages to a session, each with a checkpoint and an undone rename, and returns
// their ids.
func speak(t *testing.T, w *workspace.Workspace, id string, rounds int) (said []string) {
	ctx := t.Context()
	for n := range rounds {
		added, err := w.Append(ctx, workspace.Append{Session: id, Text: fmt.Sprint("message ", n)})
		if err != nil {
			t.Error(err)
			return said
		}
		said = append(said, added.Message)
		if _, err := w.Checkpoint(ctx, id, workspace.SnapshotOptions{Name: fmt.Sprint(id, " ", n)}); err != nil {
			t.Error(err)
		}
		if _, err := w.Rename(ctx, id, "Other"); err != nil {
			t.Error(err)
		}
		undone, err := w.Undo(ctx, history.UndoOptions{In: id})
		if err != nil || len(undone.Operations) != 1 || undone.Operations[0].Original.Verb != "rename" {
			t.Errorf("undo of a rename: %+v, %v", undone, err)
		}
	}
	return said
}

// readAll calls methods that read, and returns how many messages the conversations have, -1
// if that is less than before or an error occurred.
func readAll(t *testing.T, w *workspace.Workspace, ids []string, before int) (messages int) {
	ctx := t.Context()
	for _, id := range ids {
		c, err := w.Show(ctx, id, session.ReadOptions{})
		if err != nil {
			t.Error(err)
			return -1
		}
		for i, m := range c.Messages {
			if m.Text() != fmt.Sprint("message ", i) {
				t.Errorf("message %d of %s is %q", i, id, m.Text())
			}
		}
		messages += len(c.Messages)
		if _, err := w.Dependents(ctx, id, workspace.RemoveOptions{}); err != nil {
			t.Error(err)
		}
	}
	forest, err := w.Tree(ctx, "")
	if err != nil || len(forest.Roots) != len(ids) {
		t.Errorf("the tree is %+v, %v", forest, err)
		return -1
	}
	for _, e := range forest.Roots {
		if !strings.HasPrefix(e.Title, "Talk ") && e.Title != "Other" {
			t.Errorf("a root has the title %q", e.Title)
		}
	}
	if _, err := w.Status(ctx); err != nil {
		t.Error(err)
	}
	if messages < before {
		t.Errorf("a reader sees %d messages after %d", messages, before)
		return -1
	}
	return messages
}

// addedMessages returns the ids of the messages in the events of a workspace, by session,
// until there are n. It fails the test if the numbers of the events decrease.
func addedMessages(t *testing.T, ctx context.Context, w *workspace.Workspace, n int) map[string][]string {
	added := map[string][]string{}
	last := events.Seq(0)
	for e, err := range w.Events(ctx, 0) {
		if err != nil {
			t.Error(err)
			break
		}
		if e.Seq < last {
			t.Errorf("event %d came after event %d", e.Seq, last)
		}
		last = e.Seq
		if e.Type != events.MessageAdded {
			continue
		}
		added[string(e.Session)] = append(added[string(e.Session)], string(e.Message))
		if n--; n == 0 {
			break
		}
	}
	return added
}
