package workspace_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/bough-dev/bough/internal/testchat"
	"github.com/bough-dev/bough/internal/testsize"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/doctor"
)

// TestStress splits a conversation of thousands of messages into more than ten files, with
// branches in earlier files, branches that continue in other files, and branches of
// those. Each view has each message of its path once, in order, byte for byte.
func TestStress(t *testing.T) {
	t.Parallel()
	hundred := testsize.Of(10, 15, 100) // the unit of all sizes
	limit := 8 * hundred
	files := testchat.Chat{Messages: 100 * hundred, PerFile: limit, Text: 120, Odd: true, Seed: 1}.Files()
	if len(files) <= 10 {
		t.Fatalf("%d files", len(files))
	}
	s := openSpace(t, t.TempDir(), limit)
	if err := testchat.Write(s.Dir(), files); err != nil {
		t.Fatal(err)
	}
	all := testchat.All(files)
	root, tail := files[0].ID, files[len(files)-1].ID
	sameMessages(t, "the line", s.show(root), all)
	whole := s.checkpoint(tail)
	s.holds("a checkpoint at the end", whole, all)

	// Branches at the end of a file, at the start of the next, in the middle, requested by
	// different files of the line.
	at := []int{limit - 1, limit, 40*hundred + 3, 72*hundred + 5}
	branches := make([]*workspace.Snapshot, len(at))
	for i, n := range at {
		branches[i] = s.branch([]string{root, tail, files[3].ID, whole.ID}[i] + "@" + all[n].ID)
		s.holds(fmt.Sprint("a branch at ", n), branches[i], all[:n+1])
	}

	// Penguin continues two of the branches, over several files.
	for i, n := range []int{17 * hundred, 25 * hundred} {
		branch, start := branches[i+1], at[i+1]+1
		more := testchat.Chat{Messages: n, PerFile: limit, Text: 120, Odd: true, Seed: uint64(i) + 2, From: branch.ID}.Files()
		if err := testchat.Write(s.Dir(), more); err != nil {
			t.Fatal(err)
		}
		line, end := slices.Concat(all[:start], testchat.All(more)), more[len(more)-1].ID
		s.holds("a checkpoint of a continued branch", s.checkpoint(end), line)
		second := s.branch(branch.ID + "@" + line[start+12*hundred].ID)
		s.holds("a continued branch of a branch", second, line[:start+12*hundred+1])
		above := s.branch(end + "@" + line[limit/2].ID)
		s.holds("a branch above where the branch was copied", above, line[:limit/2+1])
		third := s.branch(s.checkpoint(second.ID).ID)
		s.holds("a branch of a checkpoint of a branch", third, line[:start+12*hundred+1])
	}
	if report, err := s.Doctor(t.Context(), doctor.Options{Fix: true}); err != nil || !report.OK {
		t.Errorf("doctor finds %+v, %v", report, err)
	}

	// An in-place branch from the second file, which is full: it goes to the last file of the
	// line.
	n := limit + 3*hundred + 1
	path := slices.Clone(all[:n+1])
	parent := all[n].ID
	var written []string
	for i := range 3 {
		out := s.append(workspace.Append{Session: root, Parent: parent, Text: fmt.Sprint("in place ", i)})
		last := s.session(out.Session).Messages
		path = append(path, testchat.Message{ID: out.Message, Raw: last[len(last)-1].Raw})
		parent = out.Message
		written = append(written, out.Session)
	}
	if slices.ContainsFunc(written, func(id string) bool { return id != tail }) {
		t.Errorf("the in-place branch is in %q", written)
	}
	s.holds("a checkpoint of an in-place branch", s.checkpoint(root+"@"+parent), path)
	s.holds("a checkpoint of the line it left", s.checkpoint(root+"@"+all[len(all)-1].ID), all)
	if c := s.show(root); len(c.Messages) != len(path) {
		t.Errorf("the newest leaf of the line has the depth %d, want %d", len(c.Messages), len(path))
	}
	healthy(t, s)

	// Alone, a snapshot is still complete.
	for _, id := range allIDs(t, s) {
		if id != whole.ID {
			if err := os.Remove(filepath.Join(s.Dir(), session.FileName(id))); err != nil {
				t.Fatal(err)
			}
		}
	}
	sameMessages(t, "alone", s.show(whole.ID), all)
}

// holds fails the test unless the file of a snapshot is complete and has the messages.
func (s *space) holds(what string, snap *workspace.Snapshot, want []testchat.Message) {
	s.t.Helper()
	file := s.session(snap.ID)
	if len(file.Messages) != len(want) || snap.MessageCount != len(want) {
		s.t.Errorf("%s has %d messages and the count %d, want %d", what, len(file.Messages), snap.MessageCount, len(want))
		return
	}
	for i, m := range file.Messages {
		if !bytes.Equal(m.Raw, want[i].Raw) {
			s.t.Errorf("%s: message %d is\n%s\nwant\n%s", what, i, m.Raw, want[i].Raw)
			return
		}
	}
	if !file.FitsSeal {
		s.t.Errorf("%s does not fit its seal", what)
	}
}
