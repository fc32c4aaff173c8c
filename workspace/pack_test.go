package workspace_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bough-dev/bough/checkpoint"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/doctor"
	"github.com/bough-dev/bough/workspace/history"
	"github.com/bough-dev/bough/workspace/search"
)

func (s *space) packed(ref string) *workspace.Snapshot {
	s.t.Helper()
	snap, err := s.Checkpoint(s.t.Context(), ref, workspace.SnapshotOptions{Packed: true})
	if err != nil {
		s.t.Fatalf("Checkpoint(%q), packed: %v", ref, err)
	}
	if !snap.Packed || !strings.HasSuffix(snap.Path, filepath.Join("packed", snap.ID+".json")) {
		s.t.Fatalf("Checkpoint(%q), packed: %+v", ref, snap)
	}
	return snap
}

func (s *space) healthy(what string) {
	s.t.Helper()
	report, err := s.Doctor(s.t.Context(), doctor.Options{})
	if err != nil || len(report.Problems) > 0 {
		s.t.Errorf("%s: the checkup finds %+v, %v", what, report, err)
	}
}

// TestPackedBytes: a packed checkpoint has exactly the bytes of the plain one.
func TestPackedBytes(t *testing.T) {
	t.Parallel()
	plain, packed := openSpace(t, t.TempDir(), 7), openSpace(t, t.TempDir(), 7)
	var both [2][]string
	for i, s := range []*space{plain, packed} {
		take := func(ref string) {
			o := workspace.SnapshotOptions{Packed: s == packed}
			snap, err := s.Checkpoint(t.Context(), ref, o)
			if err != nil {
				t.Fatal(err)
			}
			both[i] = append(both[i], snap.ID)
		}
		root := s.new("A trip")
		take(root)
		ids := s.say("Hello", "Where to?", "Lisbon", "When?", "Now", "With whom?", "Nobody", "Fine", "Bye")
		take("@")
		take(root + "@" + ids[3])
		s.append(workspace.Append{Session: root, Parent: ids[4], Text: "Another way <&> \u2028"})
		take("@")
		b := s.branch(root + "@" + ids[7])
		s.say("In the branch")
		take(b.ID)
		take(both[i][1]) // of a checkpoint
		s.append(workspace.Append{Session: both[i][1], Text: "From the checkpoint"})
		take("@")
	}
	for k, id := range both[1] {
		if both[0][k] != id {
			t.Fatalf("the ids differ: %v, %v", both[0][k], id)
		}
		if _, err := os.Stat(filepath.Join(packed.Dir(), session.FileName(id))); err == nil {
			t.Errorf("%s has a plain file", id)
		}
		if a, b := plain.texts(id), packed.texts(id); a != b {
			t.Errorf("checkpoint %d is %q, want %q", k, b, a)
		}
		snap, err := packed.Unpack(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		want := plain.read(session.FileName(id))
		if got := packed.read(session.FileName(id)); got != want || snap.Packed || snap.Bytes != int64(len(want)) {
			t.Errorf("checkpoint %d is\n%s\nwant\n%s", k, got, want)
		}
	}
	packed.healthy("unpacked")
	if _, err := os.Stat(filepath.Join(packed.Dir(), "packed")); err != nil {
		t.Error(err)
	}
}

// TestPackedVerbs: every verb takes a packed checkpoint.
func TestPackedVerbs(t *testing.T) {
	t.Parallel()
	s := openSpace(t, t.TempDir(), 0)
	root := s.new("A trip")
	ids := s.say("Hello", "Where to?", "Lisbon")
	cp := s.packed(root)
	if strings.Contains(s.read(session.IndexPath), cp.ID) || strings.Contains(s.read(session.FileName(root)), cp.ID) {
		t.Error("the index or the session has the id of the packed checkpoint")
	}
	s.healthy("packed")
	s.say("Madeira")
	found, err := s.Sessions(t.Context(), workspace.ListOptions{})
	if err != nil || !strings.Contains(fmt.Sprintf("%+v", found), cp.ID) {
		t.Errorf("the list is %+v, %v", found, err)
	}
	b := s.branch(cp.ID + "@" + ids[1])
	if got := s.texts(b.ID); got != "Hello Where to?" {
		t.Errorf("the branch of it is %q", got)
	}
	fork := s.append(workspace.Append{Session: cp.ID, Text: "and back"})
	if got := s.texts(fork.Session); got != "Hello Where to? Lisbon and back" {
		t.Errorf("the head is at %q", got)
	}
	hits, err := s.Search(t.Context(), search.Options{Text: "Lisbon"})
	if err != nil || !strings.Contains(fmt.Sprintf("%+v", hits), cp.ID) {
		t.Errorf("the search finds %+v, %v", hits, err)
	}
	s.healthy("used")

	alone := s.packed(root)
	if _, err := s.Remove(t.Context(), alone.ID, workspace.RemoveOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Undo(t.Context(), history.UndoOptions{}); err != nil {
		t.Fatal(err)
	}
	if got := s.texts(alone.ID); got != "Hello Where to? Lisbon Madeira" {
		t.Errorf("after the undo it is %q", got)
	}
	s.healthy("undone")
}

// TestPackUndo: undo and redo of pack and unpack restore the recipe and the plain file, and
// leave an index that agrees with them.
func TestPackUndo(t *testing.T) {
	t.Parallel()
	s := openSpace(t, t.TempDir(), 0)
	root := s.new("A trip")
	s.say("Hello", "Where to?")
	cp := s.packed(root)
	plain := func(want bool, after string) {
		t.Helper()
		if _, err := os.Stat(filepath.Join(s.Dir(), session.FileName(cp.ID))); (err == nil) != want {
			t.Errorf("%s: the plain file: %v", after, err)
		}
		if _, err := os.Stat(filepath.Join(s.Dir(), "packed", cp.ID+".json")); (err == nil) == want {
			t.Errorf("%s: the recipe: %v", after, err)
		}
		if strings.Contains(s.read(session.IndexPath), cp.ID) != want {
			t.Errorf("%s: the index is %s", after, s.read(session.IndexPath))
		}
		if got := s.texts(cp.ID); got != "Hello Where to?" {
			t.Errorf("%s: it is %q", after, got)
		}
		s.healthy(after)
	}
	for _, verb := range []string{"unpack", "pack"} {
		var err error
		if verb == "pack" {
			_, err = s.Pack(t.Context(), cp.ID)
		} else {
			_, err = s.Unpack(t.Context(), cp.ID)
		}
		if err != nil {
			t.Fatal(err)
		}
		plain(verb == "unpack", verb)
		for range 2 {
			if _, err := s.Undo(t.Context(), history.UndoOptions{}); err != nil {
				t.Fatal(err)
			}
			plain(verb == "pack", "undo of "+verb)
			if _, err := s.Redo(t.Context(), history.UndoOptions{}); err != nil {
				t.Fatal(err)
			}
			plain(verb == "unpack", "redo of "+verb)
		}
	}
}

// TestPacking: the setting, the size of the messages, the dialect and the request decide
// whether a checkpoint is packed, and a note says when Penguin does not see what was asked
// for.
func TestPacking(t *testing.T) {
	t.Parallel()
	const enough = 128 << 10
	for _, c := range []struct {
		packing checkpoint.Packing
		dialect string
		size    int
		options workspace.SnapshotOptions
		packed  bool
		note    bool
	}{
		{"", "", enough, workspace.SnapshotOptions{Auto: true}, true, false},
		{"", "", enough - 1000, workspace.SnapshotOptions{Auto: true}, false, false},
		{"", "", enough, workspace.SnapshotOptions{}, false, false},
		{"", "", 1, workspace.SnapshotOptions{Packed: true}, true, false},
		{"", "penguin", enough, workspace.SnapshotOptions{Auto: true}, true, false},
		{"", "penguin", 1, workspace.SnapshotOptions{Packed: true}, true, true},
		{checkpoint.PackAuto, "", enough, workspace.SnapshotOptions{Auto: true}, true, false},
		{checkpoint.PackAll, "", 1, workspace.SnapshotOptions{}, true, false},
		{checkpoint.PackAll, "", 1, workspace.SnapshotOptions{Auto: true}, true, false},
		{checkpoint.PackAll, "penguin", 1, workspace.SnapshotOptions{}, false, false},
		{checkpoint.PackAll, "penguin", enough, workspace.SnapshotOptions{Auto: true}, true, false},
		{checkpoint.PackNone, "", enough, workspace.SnapshotOptions{Auto: true}, false, false},
		{checkpoint.PackNone, "", 1, workspace.SnapshotOptions{Packed: true}, true, false},
	} {
		var notes []string
		w, err := workspace.Open(t.Context(), t.TempDir(), &workspace.Options{Packing: c.packing, Note: func(s string) { notes = append(notes, s) }})
		if err != nil {
			t.Fatal(err)
		}
		e, err := w.NewSession(t.Context(), workspace.NewOptions{Title: "A trip", Dialect: c.dialect})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Append(t.Context(), workspace.Append{Session: e.ID, Text: strings.Repeat("x", c.size)}); err != nil {
			t.Fatal(err)
		}
		snap, err := w.Checkpoint(t.Context(), e.ID, c.options)
		if err != nil {
			t.Fatal(err)
		}
		if snap.Packed != c.packed || snap.Packed != (snap.Stored > 0) || (len(notes) > 0) != c.note {
			t.Errorf("%+v: %+v, notes %q", c, snap, notes)
		}
	}
}
