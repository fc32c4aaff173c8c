//go:build unix

package workspace_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/doctor"
	"github.com/bough-dev/bough/workspace/history"
)

// TestLinkedSession: a symbolic link to a session stays a link after each verb and its
// undo.
func TestLinkedSession(t *testing.T) {
	t.Parallel()
	s := openSpace(t, t.TempDir(), 0)
	id := s.new("Bread")
	s.say("one", "two")
	name := session.FileName(id)
	link, file := filepath.Join(s.Dir(), filepath.FromSlash(name)), filepath.Join(s.Dir(), "elsewhere", "bread.json")
	for _, err := range []error{os.Mkdir(filepath.Dir(file), 0o700), os.Rename(link, file), os.Symlink("../elsewhere/bread.json", link)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	isLink := func(what string) {
		t.Helper()
		info, err := os.Lstat(link)
		if err != nil || info.Mode()&fs.ModeSymlink == 0 {
			t.Fatalf("after %s the link is %v, %v", what, info, err)
		}
		if info, err := os.Lstat(file); err != nil || !info.Mode().IsRegular() {
			t.Fatalf("after %s the file is %v, %v", what, info, err)
		}
		s.expect(doctor.Options{})
	}
	s.mend()
	before := s.read(name)
	isLink("doctor")
	undo := func(what string) {
		t.Helper()
		if _, err := s.Undo(t.Context(), history.UndoOptions{}); err != nil {
			t.Fatalf("undo of %s: %v", what, err)
		}
		isLink("undo of " + what)
		if s.read(name) != before {
			t.Errorf("undo of %s leaves another session", what)
		}
	}
	s.append(workspace.Append{Session: id, Text: "three"})
	isLink("append")
	undo("append")
	if _, err := s.Redo(t.Context(), history.UndoOptions{}); err != nil {
		t.Fatal(err)
	}
	isLink("redo")
	undo("append, redone")
	if _, err := s.Rename(t.Context(), id, "Soup"); err != nil {
		t.Fatal(err)
	}
	isLink("rename")
	undo("rename")
	if _, err := s.Remove(t.Context(), id, workspace.RemoveOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Lstat(link); !os.IsNotExist(err) {
		t.Errorf("the link still exists after rm: %v", err)
	}
	if _, err := os.Lstat(file); err != nil {
		t.Errorf("rm removes the file that the link names: %v", err)
	}
	undo("rm")
	s.write(name, before[:len(before)-150])
	s.mend()
	isLink("doctor --fix of a torn session")
	if kept := s.trash(); len(kept) == 0 {
		t.Error("the torn session is not in the trash")
	}
}
