package workspace_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/events"
	"github.com/bough-dev/bough/workspace/fault"
	"github.com/bough-dev/bough/workspace/files"
)

// A watchedFolder is a folder whose states are taken as it changes.
type watchedFolder struct {
	*filesTest
	w      *workspace.Workspace
	taken  chan *files.State
	events chan events.Event
}

func watchFolder(t *testing.T) *watchedFolder {
	f := &watchedFolder{newFilesTest(t), nil, make(chan *files.State, 100), make(chan events.Event)}
	f.w = f.open(nil)
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error)
	go func() {
		done <- f.w.Folder(f.dir).Watch(ctx, workspace.FolderWatch{Events: f.events, Taken: func(st *files.State) { f.taken <- st }})
	}()
	t.Cleanup(func() {
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return f
}

// wants waits for a state that a condition holds for.
func (f *watchedFolder) wants(what string, ok func(*files.State) bool) *files.State {
	f.Helper()
	for end := time.After(20 * time.Second); ; {
		select {
		case st := <-f.taken:
			if ok(st) {
				return st
			}
		case <-end:
			f.Fatalf("%s: no such state", what)
		}
	}
}

// isNow reports whether a state is what the folder holds.
func (f *watchedFolder) isNow(st *files.State) bool {
	f.Helper()
	d, err := f.w.Folder(f.dir).Diff(f.Context(), st.ID, files.Now, files.DiffOptions{})
	if err != nil {
		f.Fatal(err)
	}
	return len(d.Changes) == 0
}

// TestWatchFolder: after each change of the folder there is a state of it, which has what a scan
// of all files finds.
func TestWatchFolder(t *testing.T) {
	t.Parallel()
	f := watchFolder(t)
	f.wants("at once", f.isNow)
	at := func(name string) string { return filepath.Join(f.dir, filepath.FromSlash(name)) }
	for _, step := range []struct {
		name string
		do   func() error
	}{
		{"a file changes", func() error { return os.WriteFile(at("flour"), []byte("wheat"), 0o600) }},
		{"folders are made", func() error { return os.MkdirAll(at("a/b/c"), 0o700) }},
		{"a file in them", func() error { return os.WriteFile(at("a/b/c/1"), []byte("1"), 0o600) }},
		{"rules", func() error { return os.WriteFile(at("a/.gitignore"), []byte("c\n"), 0o600) }},
		{"no rules", func() error { return os.Remove(at("a/.gitignore")) }},
		{"in what was ignored", func() error { return os.WriteFile(at("a/b/c/2"), []byte("2"), 0o600) }},
		{"a folder is renamed", func() error {
			if runtime.GOOS == "windows" { // the system refuses that for a folder that is watched
				return os.MkdirAll(at("d/c"), 0o700)
			}
			return os.Rename(at("a/b"), at("d"))
		}},
		{"in it", func() error { return os.WriteFile(at("d/c/3"), []byte("3"), 0o600) }},
		{"a folder becomes a file", func() error {
			if err := os.RemoveAll(at("d/c")); err != nil {
				return err
			}
			return os.WriteFile(at("d/c"), []byte("file"), 0o600)
		}},
	} {
		if err := step.do(); err != nil {
			t.Fatal(err)
		}
		f.wants(step.name, f.isNow)
	}
	if report, err := f.w.States(t.Context(), ""); err != nil || len(report.States) < 10 {
		t.Errorf("%d states, %v", len(report.States), err)
	}
}

// TestWatchFolderMessages: a message of the user has a state although nothing changed, and so has
// the end of a turn of an agent; a change belongs to the newest message.
func TestWatchFolderMessages(t *testing.T) {
	t.Parallel()
	f := watchFolder(t)
	f.wants("at once", func(st *files.State) bool { return st.At == "checkpoint" && st.Message == "" })
	for _, e := range []events.Event{
		{Type: events.SessionChanged, Session: "s"},
		{Type: events.MessageAdded, Session: "s", Message: "m0", Role: "user", Behind: 1},
		{Type: events.MessageAdded, Session: "s", Message: "m1", Role: "user"},
		{Type: events.MessageAdded, Session: "s", Message: "m2", Role: "assistant"},
		{Type: events.ChatComplete, Session: "s", Message: "m2"},
	} {
		f.events <- e
	}
	f.wants("a prompt", func(st *files.State) bool { return st.At == "prompt" && st.Message == "m1" && st.NewBytes == 0 })
	f.wants("an end", func(st *files.State) bool { return st.At == "end" && st.Message == "m2" })
	f.events <- events.Event{Type: events.MessageAdded, Session: "s", Message: "m3", Role: "assistant"}
	f.write("flour", "spelt")
	f.wants("a change", func(st *files.State) bool { return st.At == "checkpoint" && st.Message == "m3" })
}

// TestWatchFolderLocked: while another process has the lock, Watch waits, and misses nothing.
func TestWatchFolderLocked(t *testing.T) {
	t.Parallel()
	f := watchFolder(t)
	f.wants("at once", f.isNow)
	changed := false
	other, err := workspace.Open(t.Context(), t.TempDir(), &workspace.Options{UserState: f.state, Progress: func(string, int64, int64) {
		if changed {
			return
		}
		changed = true
		f.write("salt", "sea")
		f.events <- events.Event{Type: events.MessageAdded, Session: "s", Message: "m1", Role: "user"}
		f.events <- events.Event{Type: events.SessionChanged} // the first one was received
	}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := other.Folder(f.dir).Snap(t.Context(), "", files.SnapOptions{}); err != nil {
		t.Fatal(err)
	}
	f.wants("afterwards", func(st *files.State) bool { return st.Message == "m1" && f.isNow(st) })
}

// TestWatchFolderRenamed: when the folder is renamed, Watch ends, and says so.
func TestWatchFolderRenamed(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("the system refuses to rename a folder that is watched")
	}
	f := newFilesTest(t)
	f.write("flour", "rye")
	w := f.open(nil)
	taken := make(chan *files.State, 10)
	done := make(chan error)
	go func() {
		done <- w.Folder(f.dir).Watch(t.Context(), workspace.FolderWatch{Taken: func(st *files.State) { taken <- st }})
	}()
	<-taken
	if err := os.Rename(f.dir, f.dir+"-renamed"); err != nil {
		t.Fatal(err)
	}
	if err := <-done; !errors.Is(err, fault.NotFound) || !strings.Contains(err.Error(), "is no longer there: it was renamed, removed or replaced") {
		t.Errorf("Watch: %v", err)
	}
}

// TestWatchFolderIndex: an ignored file that git was made to track is in the state after the next
// change.
func TestWatchFolderIndex(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	f := watchFolder(t)
	git := func(args ...string) {
		t.Helper()
		if out, err := exec.Command("git", append([]string{"-C", f.dir}, args...)...).CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v, %s", args, err, out)
		}
	}
	git("init", "--quiet")
	f.write(".gitignore", "*.log\n")
	f.write("a.log", "1")
	f.wants("it is ignored", func(st *files.State) bool { return st.Files == 2 })
	git("add", "--force", "a.log")
	f.write("flour", "spelt")
	f.wants("it is tracked", func(st *files.State) bool { return st.Files == 3 })
}
