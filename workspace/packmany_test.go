package workspace_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"testing"

	"github.com/bough-dev/bough/internal/testsize"
	"github.com/bough-dev/bough/workspace"
)

// takePacked takes packed checkpoints of a line, appends to it, and prunes.
func (o *order) takePacked(w *workspace.Workspace, out io.Writer) error {
	line := o.Shared[0]
	var points []string
	tell := json.NewEncoder(out)
	for n := range o.Each {
		if (n+o.Writer)%4 == 0 {
			if _, err := w.Append(context.Background(), workspace.Append{Session: line, Text: fmt.Sprint(o.Writer, "/", n, " ", noise(n))}); err != nil {
				return err
			}
		}
		if n%32 == 31 {
			if _, err := w.Prune(context.Background(), workspace.PruneOptions{}); err != nil {
				return err
			}
		}
		m := made{Verb: "checkpoint", Writer: o.Writer, N: n, Line: line}
		ref := line
		if n%5 == 4 {
			m.Asked = points[n/2]
			ref += "@" + m.Asked
		}
		s, err := w.Checkpoint(context.Background(), ref, workspace.SnapshotOptions{Name: m.text(), Packed: true})
		if err != nil {
			return err
		}
		m.Session, m.Message, m.Count = s.ID, string(s.BranchPoint), s.MessageCount
		points = append(points, m.Message)
		if err := tell.Encode(m); err != nil {
			return err
		}
	}
	return nil
}

// TestPackedProcesses: 16 processes take packed checkpoints of one line, whose messages they
// append. Each acknowledged one has the messages of the line up to its own, byte for byte.
func TestPackedProcesses(t *testing.T) {
	t.Parallel()
	writers := testsize.Of(3, 5, 16)
	each := cmp.Or(*many, testsize.Of(2, 4, 10))
	s := openSpace(t, t.TempDir(), manyLimit)
	line := s.new("Bread")
	s.say("a", "b")
	list := carriedOut(t, writers, order{Dir: s.Dir(), Each: each, Shared: []string{line}, Packs: true})
	if len(list) != writers*each {
		t.Fatalf("%d checkpoints, want %d", len(list), writers*each)
	}
	all := s.show(line).Messages
	place := map[string]int{}
	for i, m := range all {
		place[m.ID] = i + 1
	}
	listing, err := s.List(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	entries := map[string]workspace.Entry{}
	for _, e := range listing.Sessions {
		entries[e.ID] = e
	}
	for _, m := range list {
		n := place[m.Message]
		got := s.show(m.Session).Messages
		if n == 0 || m.Count != n || len(got) != n || m.Asked != "" && m.Asked != m.Message {
			t.Errorf("%+v has %d messages, want %d", m, len(got), n)
			continue
		}
		for i := range got {
			if !bytes.Equal(got[i].Raw, all[i].Raw) {
				t.Errorf("%+v: message %d is %.300q, want %.300q", m, i, got[i].Raw, all[i].Raw)
				break
			}
		}
		if e := entries[m.Session]; !e.Packed || e.Title != m.text() {
			t.Errorf("%+v is %+v", m, e)
		}
	}
	s.packFile() // all messages are in one pack
	s.healthy("after all processes")
}
