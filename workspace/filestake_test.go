package workspace_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/doctor"
	"github.com/bough-dev/bough/workspace/fault"
	"github.com/bough-dev/bough/workspace/files"
	"github.com/bough-dev/bough/workspace/imports"
)

// A filesTest is a workspace, and a folder with a file.
type filesTest struct {
	*testing.T
	ws, state, dir string
}

func newFilesTest(t *testing.T) *filesTest {
	f := &filesTest{t, t.TempDir(), t.TempDir(), t.TempDir()}
	f.write("flour", "rye")
	return f
}

func (f *filesTest) write(name, content string) {
	f.Helper()
	if err := os.WriteFile(filepath.Join(f.dir, name), []byte(content), 0o600); err != nil {
		f.Fatal(err)
	}
}

// open opens the workspace as a process that waits for no other one.
func (f *filesTest) open(progress func(string, int64, int64)) *workspace.Workspace {
	f.Helper()
	w, err := workspace.Open(f.Context(), f.ws, &workspace.Options{UserState: f.state, Wait: -1, Progress: progress})
	if err != nil {
		f.Fatal(err)
	}
	return w
}

// TestReadingNeedsNoLock: while a folder is read for a state, its coverage or a comparison,
// another process can change the workspace.
func TestReadingNeedsNoLock(t *testing.T) {
	t.Parallel()
	f := newFilesTest(t)
	other := f.open(nil)
	if _, err := other.New(t.Context(), "Bread"); err != nil {
		t.Fatal(err)
	}
	n := 0
	w := f.open(func(doing string, _, _ int64) {
		if !strings.HasPrefix(doing, "reading") {
			return
		}
		n++
		if _, err := other.Append(context.Background(), workspace.Append{Text: "while it is read"}); err != nil {
			t.Error(err)
		}
	})
	for what, read := range map[string]func() error{
		"snap":     func() error { _, err := w.Folder(f.dir).Snap(t.Context(), "", files.SnapOptions{}); return err },
		"coverage": func() error { _, err := w.Folder(f.dir).Coverage(t.Context()); return err },
		"diff": func() error {
			_, err := w.Folder(f.dir).Diff(t.Context(), files.Now, files.Now, files.DiffOptions{})
			return err
		},
	} {
		f.write("flour", what)
		before := n
		if err := read(); err != nil || n == before {
			t.Errorf("%s: %v; %d calls", what, err, n-before)
		}
	}
}

// TestStaleDraft: a folder is read again if its content was forgotten meanwhile, and under
// the lock if that does not end. What was forgotten is not stored.
func TestStaleDraft(t *testing.T) {
	t.Parallel()
	f := newFilesTest(t)
	other := f.open(nil)
	elsewhere := t.TempDir()
	n := 0
	w := f.open(func(doing string, _, _ int64) {
		if !strings.HasPrefix(doing, "reading") {
			return
		}
		n++
		if err := os.WriteFile(filepath.Join(elsewhere, "secret"), []byte(strings.Repeat("x", n)), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := other.Folder(elsewhere).Snap(context.Background(), "", files.SnapOptions{})
		if err == nil {
			_, err = other.Folder(elsewhere).Forget(context.Background(), "secret", files.ForgetOptions{})
		}
		if n <= 3 && err != nil || n > 3 && !errors.Is(err, fault.Locked) {
			t.Errorf("attempt %d: %v", n, err)
		}
	})
	f.write("copy", "x")
	st, err := w.Folder(f.dir).Snap(t.Context(), "", files.SnapOptions{})
	if err != nil || n != 4 {
		t.Fatalf("%v after %d attempts", err, n)
	}
	if len(st.Left) != 1 || st.Left[0].Path != "copy" || st.Left[0].Why != "secret" {
		t.Errorf("left: %+v", st.Left)
	}
	if report, err := w.Doctor(t.Context(), doctor.Options{}); err != nil || !report.OK {
		t.Errorf("%+v, %v", report, err)
	}
}

const promptLines = `{"parentUuid":null,"promptId":"p1","type":"user","message":{"role":"user","content":"one"},"uuid":"00000000-0000-4000-8000-000000000001","timestamp":"2026-11-23T14:00:00.000Z","sessionId":"a80a0468-2367-4799-85a8-64f1d225a6e5"}
{"parentUuid":"00000000-0000-4000-8000-000000000001","type":"assistant","message":{"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"Bash","input":{}}]},"uuid":"00000000-0000-4000-8000-000000000002","timestamp":"2026-11-23T14:00:01.000Z","sessionId":"a80a0468-2367-4799-85a8-64f1d225a6e5"}
{"parentUuid":"00000000-0000-4000-8000-000000000002","promptId":"p1","type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"done"}]},"uuid":"00000000-0000-4000-8000-000000000003","timestamp":"2026-11-23T14:00:02.000Z","sessionId":"a80a0468-2367-4799-85a8-64f1d225a6e5"}
{"parentUuid":"00000000-0000-4000-8000-000000000003","promptId":"p2","type":"user","message":{"role":"user","content":"two"},"uuid":"00000000-0000-4000-8000-000000000004","timestamp":"2026-11-23T14:00:03.000Z","sessionId":"a80a0468-2367-4799-85a8-64f1d225a6e5"}
`

// TestSnapPrompt: a state that was taken for a prompt belongs to the first message with it,
// as soon as the transcript is imported, and to no other one.
func TestSnapPrompt(t *testing.T) {
	t.Parallel()
	f := newFilesTest(t)
	w := f.open(nil)
	sub := filepath.Join(f.dir, "sub")
	if err := os.Mkdir(sub, 0o700); err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, prompt := range []string{"p1", "p2"} {
		f.write("flour", prompt)
		dir := f.dir
		if len(ids) > 0 {
			dir = sub // the folder is that around it
		}
		st, err := w.Folder(dir).Snap(t.Context(), "", files.SnapOptions{At: "prompt", Prompt: prompt, Within: true, Late: true})
		if err != nil || st.At != "prompt" || st.Message != "" || !st.Late {
			t.Fatalf("%+v, %v", st, err)
		}
		ids = append(ids, st.ID)
	}
	transcript := filepath.Join(t.TempDir(), "a80a0468-2367-4799-85a8-64f1d225a6e5.jsonl")
	if err := os.WriteFile(transcript, []byte(promptLines), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Import(t.Context(), []string{transcript}, imports.Options{}); err != nil {
		t.Fatal(err)
	}
	for ref, want := range map[string]struct {
		id    string
		exact bool
	}{
		"00000000-0000-4000-8000-000000000001": {ids[0], true}, "00000000-0000-4000-8000-000000000003": {ids[0], false},
		"00000000-0000-4000-8000-000000000004": {ids[1], true},
	} {
		e, err := w.Folder(f.dir).Show(t.Context(), ref, ".")
		if err != nil || e.State.ID != want.id || e.State.Exact != want.exact {
			t.Errorf("%s: %+v, %v", ref, e, err)
		}
	}
	sessions, err := w.List(t.Context(), "")
	if err != nil || len(sessions.Sessions) != 1 {
		t.Fatalf("%v, %v", sessions, err)
	}
	if list, err := w.States(t.Context(), string(sessions.Sessions[0].ID)); err != nil || len(list.States) != 2 {
		t.Errorf("%+v, %v", list, err)
	}
	if _, err := w.Folder(f.dir).Snap(t.Context(), "", files.SnapOptions{At: "never"}); !errors.Is(err, fault.Usage) {
		t.Error(err)
	}
}

// TestPacksStayFew: the packs of many small states are merged, and all states are whole.
func TestPacksStayFew(t *testing.T) {
	t.Parallel()
	f := newFilesTest(t)
	w := f.open(nil)
	const n = 66
	for i := range n {
		f.write("flour", fmt.Sprint(i))
		if _, err := w.Folder(f.dir).Snap(t.Context(), "", files.SnapOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	packs, err := filepath.Glob(filepath.Join(f.ws, "states", "*.zst"))
	if err != nil || len(packs) > 5 {
		t.Errorf("%d packs, %v", len(packs), err)
	}
	list, err := w.States(t.Context(), "")
	if err != nil || len(list.States) != n {
		t.Fatalf("%d states, %v", len(list.States), err)
	}
	for i, st := range list.States {
		if e, err := w.Folder(f.dir).Show(t.Context(), st.ID, "flour"); err != nil || string(e.Content) != fmt.Sprint(i) {
			t.Errorf("state %d: %+v, %v", i, e, err)
		}
	}
	if report, err := w.Doctor(t.Context(), doctor.Options{}); err != nil || !report.OK {
		t.Errorf("%+v, %v", report, err)
	}
}
