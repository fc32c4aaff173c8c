package sessions_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/bough-dev/bough/internal/sessions"
	"github.com/bough-dev/bough/session"
)

func TestConflictOf(t *testing.T) {
	const id = "session_20260314_093003_f3ff4d45"
	const uuid = "0a550000-0000-7000-8000-000000000001"
	for _, c := range []struct {
		stem, want string
		sure       bool
	}{
		{id + " (conflicted copy 2026-03-14 101500)", id, true},
		{id + " (Ann's conflicted copy 2026-03-14)", id, true},
		{id + " (Ann's MacBook (Pro)'s conflicted copy 2026-03-14 (2))", id, true},
		{id + " (conflicted copy 1) (conflicted copy 2)", id, true},
		{id + " (Case Conflict)", id, true},
		{id + " (conflict 1)", id, false},
		{id + ".sync-conflict-20260314-101500-ABCDEFG", id, true},
		{"trip.sync-conflict-20260314-101500-ABCDEFG", "trip", true},
		{id + ".sync-conflict-later", "", false},
		{id + "_conflict-20260314-101500", id, true},
		{id + "-DESKTOP-AB12CD3", id, true},
		{id + "-LAPTOP-AB12CD34-2", id, true},
		{id + "-DESKTOP-abc", "", false},
		{"trip-DESKTOP-AB12CD3", "", false},
		{id + " 2", id, false},
		{uuid + " 3", uuid, false},
		{id + " (1)", id, false},
		{"trip 2", "", false},
		{"trip (1)", "", false},
		{"talk (conflict of interest)", "talk", false},
		{id + " (conflicted copy 2026-03-14).sync-conflict-20260314-101500-ABCDEFG", id, true},
		{id + " (conflicted copy 2026-03-14) 2", "", false},
		{"session_index (conflicted copy 2026-03-14)", "session_index", true},
		{"session_index 2", "session_index", false},
		{id, "", false}, {uuid, "", false}, {"", "", false}, {" (conflicted copy)", "", false},
		{"a*b (conflicted copy)", "", false}, {id + "-backup", "", false}, {"conflict", "", false},
	} {
		if got, sure := sessions.ConflictOf(c.stem); got != c.want || got != "" && sure != c.sure {
			t.Errorf("ConflictOf(%q) = %q, %v; want %q, %v", c.stem, got, sure, c.want, c.sure)
		}
	}
}

// TestConflictCopies verifies that a conflict copy is not listed as a session, and
// that one named by number counts only beside its session.
func TestConflictCopies(t *testing.T) {
	dir := t.TempDir()
	const id, other = "session_20260314_093003_f3ff4d45", "session_20260314_093003_00000000"
	for _, name := range []string{id, id + " 2", id + " (Bo's conflicted copy 2026-03-14)", other + " 2", "gone.sync-conflict-20260314-101500-ABCDEFG"} {
		path := filepath.Join(dir, session.Dir, name+".json")
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte("{}"), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	folder := sessions.New(root, nil)
	stats, _, err := folder.List()
	var ids []string
	for _, st := range stats {
		ids = append(ids, st.ID)
	}
	slices.Sort(ids)
	if want := []string{other + " 2", id}; err != nil || !slices.Equal(ids, want) {
		t.Errorf("the sessions are %q, %v; want %q", ids, err, want)
	}
	copies, err := folder.ConflictCopies()
	var of []string
	for _, c := range copies {
		of = append(of, c.ID)
	}
	if want := []string{"gone", id, id}; err != nil || !slices.Equal(of, want) {
		t.Errorf("the copies are %v, %v; want those of %q", copies, err, want)
	}
}
