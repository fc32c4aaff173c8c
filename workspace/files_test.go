package workspace_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/bough-dev/bough/checkpoint"
	"github.com/bough-dev/bough/session"
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

// TestConfined: a client names only folders that have states, by their path. The folder at the
// path must still be the same one.
func TestConfined(t *testing.T) {
	t.Parallel()
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	w, err := workspace.Open(t.Context(), t.TempDir(), nil)
	if err != nil {
		t.Fatal(err)
	}
	parent, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	dir, other := filepath.Join(parent, "bread"), filepath.Join(parent, "other")
	for _, d := range []string{dir, other} {
		if err := os.Mkdir(d, 0o700); err != nil {
			t.Fatal(err)
		}
		write(filepath.Join(d, "flour"), "rye")
	}
	st, err := w.Folder(dir).Snap(t.Context(), "", files.SnapOptions{})
	if err != nil {
		t.Fatal(err)
	}
	confined := w.Confined()
	diff := func(dir, to string) (string, error) {
		d, err := confined.Folder(dir).Diff(t.Context(), st.ID, to, files.DiffOptions{})
		if err != nil {
			return "", err
		}
		kinds := ""
		for _, c := range d.Changes {
			kinds += c.Kind + " " + c.Path + ";"
		}
		return kinds, nil
	}
	write(filepath.Join(dir, "flour"), "wheat")
	for _, name := range []string{"", dir} {
		if got, err := diff(name, files.Now); got != "changed flour;" || err != nil {
			t.Errorf("%q: %q, %v", name, got, err)
		}
	}
	for _, name := range []string{other, parent, "/", "..", ".", dir + "/", filepath.Join(dir, "none"), filepath.Join(parent, "none")} {
		for _, to := range []string{files.Now, st.ID} {
			if got, err := diff(name, to); !errors.Is(err, fault.Refused) {
				t.Errorf("%q to %s: %q, %v", name, to, got, err)
			}
		}
		if _, err := confined.Folder(name).Snap(t.Context(), "", files.SnapOptions{}); !errors.Is(err, fault.Refused) {
			t.Errorf("a state of %q: %v", name, err)
		}
	}
	if _, err := confined.Folder("").Coverage(t.Context()); !errors.Is(err, fault.Usage) {
		t.Errorf("no folder: %v", err)
	}
	if _, err := confined.Folder(dir).Export(t.Context(), st.ID, filepath.Join(parent, "new"), files.ExportOptions{}); !errors.Is(err, fault.Refused) {
		t.Errorf("an export: %v", err)
	}
	if _, err := confined.Folder(dir).Snap(t.Context(), "", files.SnapOptions{}); err != nil {
		t.Errorf("a state of the folder: %v", err)
	}
	// Another directory took the path: its files are not read, the states are.
	if err := os.Rename(dir, filepath.Join(parent, "moved")); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(other, dir); err != nil {
		t.Fatal(err)
	}
	if got, err := diff(dir, files.Now); !errors.Is(err, fault.NotFound) {
		t.Errorf("another directory: %q, %v", got, err)
	}
	if e, err := confined.Folder(dir).Show(t.Context(), st.ID, "flour"); err != nil || string(e.Content) != "rye" {
		t.Errorf("%+v, %v", e, err)
	}
}

// TestFileMarks: the messages of a path have their states, the newest first, also in a branch and
// a checkpoint that copied them, and a later message of the original has none there.
func TestFileMarks(t *testing.T) {
	t.Parallel()
	w, err := workspace.Open(t.Context(), t.TempDir(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.New(t.Context(), "Bread"); err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, text := range []string{"one", "two", "three"} {
		m, err := w.Append(t.Context(), workspace.Append{Session: "Bread", Text: text})
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, m.Message)
	}
	a, b := t.TempDir(), t.TempDir()
	snap := func(dir, ref string) string {
		st, err := w.Folder(dir).Snap(t.Context(), ref, files.SnapOptions{})
		if err != nil {
			t.Fatal(err)
		}
		return st.ID
	}
	names := map[string]string{snap(a, ids[0]): "old", snap(a, ids[0]): "a0", snap(b, ids[0]): "b0", snap(a, ids[2]): "a2"}
	branch, err := w.Branch(t.Context(), ids[1], workspace.SnapshotOptions{Name: "Rolls"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Checkpoint(t.Context(), "Bread", workspace.SnapshotOptions{Name: "Before"}); err != nil {
		t.Fatal(err)
	}
	more, err := w.Append(t.Context(), workspace.Append{Session: branch.ID, Text: "four"})
	if err != nil {
		t.Fatal(err)
	}
	names[snap(a, more.Message)] = "a4"
	for ref, want := range map[string]string{
		"Bread": "one b0, one a0, one old, three a2, ", "Bread@" + ids[1]: "one b0, one a0, one old, ", "Before": "one b0, one a0, one old, three a2, ", "Rolls": "one b0, one a0, one old, four a4, ",
	} {
		words := map[session.ID]string{session.ID(ids[0]): "one", session.ID(ids[1]): "two", session.ID(ids[2]): "three", session.ID(more.Message): "four"}
		shown, err := w.Show(t.Context(), ref, session.ReadOptions{})
		if err != nil {
			t.Fatal(err)
		}
		marks, err := w.FileMarks(t.Context(), shown)
		got := ""
		for _, m := range marks {
			got += words[m.Message] + " " + names[m.State.ID] + ", "
		}
		if got != want || err != nil {
			t.Errorf("%s: %q, %v, want %q", ref, got, err, want)
		}
	}
}
