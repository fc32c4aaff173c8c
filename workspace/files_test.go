package workspace_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/bough-dev/bough/checkpoint"
	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/fault"
	"github.com/bough-dev/bough/workspace/files"
)

// TestFolderLock: while one process takes a state of a folder, another one cannot, also in
// another workspace and under another name of the folder; and it leaves nothing behind.
func TestFolderLock(t *testing.T) {
	t.Parallel()
	state, dir := t.TempDir(), t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "flour"), []byte("rye"), 0o600); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(dir, link); err != nil {
		t.Fatal(err)
	}
	open := func(o workspace.Options) *workspace.Workspace {
		o.UserState, o.Wait = state, -1
		w, err := workspace.Open(t.Context(), t.TempDir(), &o)
		if err != nil {
			t.Fatal(err)
		}
		return w
	}
	other := open(workspace.Options{})
	snap := func(w *workspace.Workspace, dir string) error {
		_, err := w.Folder(dir).Snap(context.Background(), "", files.SnapOptions{})
		return err
	}
	var inside error
	tried := 0
	first := open(workspace.Options{Progress: func(string, int64, int64) {
		tried++
		inside = snap(other, link)
	}})
	if err := snap(first, dir); err != nil {
		t.Fatal(err)
	}
	if tried == 0 || !errors.Is(inside, fault.Locked) {
		t.Errorf("%d times: %v", tried, inside)
	}
	if list, err := other.States(t.Context(), ""); err != nil || len(list.States) > 0 {
		t.Errorf("%v, %v", list, err)
	}
	if err := snap(other, link); err != nil {
		t.Error(err)
	}
}

// TestSnapHead: without a REF, a state belongs to the message at the head, also if the head is
// not at the end.
func TestSnapHead(t *testing.T) {
	t.Parallel()
	w, err := workspace.Open(t.Context(), t.TempDir(), &workspace.Options{Now: func() time.Time { return time.Unix(1e9, 0) }})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.New(t.Context(), "Bread"); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	empty, err := w.Folder(dir).Snap(t.Context(), "", files.SnapOptions{})
	if err != nil || empty.Message != "" {
		t.Errorf("%+v, %v", empty, err)
	}
	one, err := w.Append(t.Context(), workspace.Append{Text: "one"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Append(t.Context(), workspace.Append{Text: "two"}); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Rewind(t.Context(), "HEAD^", checkpoint.CutOptions{}); err != nil {
		t.Fatal(err)
	}
	st, err := w.Folder(dir).Snap(t.Context(), "", files.SnapOptions{})
	if err != nil || string(st.Message) != one.Message || string(st.Session) != one.Session || !st.Exact {
		t.Errorf("%+v, %v", st, err)
	}
	d, err := w.Folder(dir).Diff(t.Context(), "Bread@last", st.ID, files.DiffOptions{})
	if err != nil || d.From.ID != st.ID || d.From.Exact || len(d.Changes) > 0 {
		t.Errorf("%+v, %v", d, err)
	}
}
