package durable_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/bough-dev/bough/internal/durable"
)

func stage(t *testing.T, b *durable.Batch, name, content string) fs.FileInfo {
	t.Helper()
	info, err := b.Replace(name, durable.Bytes([]byte(content)))
	if err != nil {
		t.Fatal(err)
	}
	return info
}

// TestBatch: no change of a batch is visible before the commit, and all are after
// it.
func TestBatch(t *testing.T) {
	root, dir := open(t)
	put(t, filepath.Join(dir, "b"), "old", 0o640)
	if err := root.Mkdir("sub", 0o700); err != nil {
		t.Fatal(err)
	}
	b := durable.NewBatch(root)
	for _, name := range []string{"sub/a", "b", "c"} {
		if info := stage(t, b, name, name); info.Size() != int64(len(name)) {
			t.Errorf("%s is reported with %d bytes", name, info.Size())
		}
	}
	then := time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
	if err := b.Touch(then); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Create("d", durable.Bytes(nil)); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Replace("c", durable.Bytes(nil)); err == nil {
		t.Error("a file changes twice at once")
	}
	if got := content(t, filepath.Join(dir, "b")); got != "old" || b.Len() != 4 {
		t.Errorf("before the commit of %d files b holds %q", b.Len(), got)
	}
	if _, err := root.Stat("c"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("c exists before the commit: %v", err)
	}
	infos, later, err := b.Commit(t.Context())
	if err != nil || later != nil || len(infos) != 4 {
		t.Fatalf("Commit = %v, %v, %v", infos, later, err)
	}
	for i, name := range []string{"sub/a", "b", "c", "d"} {
		there, err := root.Stat(name)
		if err != nil || durable.Identify(there) != durable.Identify(infos[i]) {
			t.Errorf("%s is reported as %v, is %v, %v", name, infos[i], there, err)
		}
		if got := content(t, filepath.Join(dir, filepath.FromSlash(name))); name != "d" && got != name {
			t.Errorf("%s holds %q", name, got)
		}
	}
	if !infos[2].ModTime().Equal(then) {
		t.Errorf("c has the time %v, want %v", infos[2].ModTime(), then)
	}
	wantMode(t, filepath.Join(dir, "b"), 0o640)
	if got := names(t, dir); !slices.Equal(got, []string{"b", "c", "d", "sub"}) {
		t.Errorf("the folder holds %q", got)
	}
}

// TestBatchDiscard: a discarded batch leaves nothing.
func TestBatchDiscard(t *testing.T) {
	root, dir := open(t)
	put(t, filepath.Join(dir, "b"), "old", 0o600)
	b := durable.NewBatch(root)
	stage(t, b, "a", "a")
	stage(t, b, "b", "b")
	broken := errors.New("broken")
	if _, err := b.Create("c", func(*durable.Writer) error { return broken }); !errors.Is(err, broken) {
		t.Errorf("Create = %v, want %v", err, broken)
	}
	b.Discard()
	if got := names(t, dir); !slices.Equal(got, []string{"b"}) || content(t, filepath.Join(dir, "b")) != "old" {
		t.Errorf("the folder holds %q", got)
	}
}

// TestBatchFails: if the first change fails, none is made; if another one fails,
// the rest is made.
func TestBatchFails(t *testing.T) {
	block := func(t *testing.T, dir, name string) { // a folder that is not empty cannot be replaced
		t.Helper()
		if err := os.MkdirAll(filepath.Join(dir, name, "inner"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	root, dir := open(t)
	b := durable.NewBatch(root)
	for _, name := range []string{"a", "b", "c"} {
		stage(t, b, name, name)
	}
	block(t, dir, "a")
	if _, _, err := b.Commit(t.Context()); err == nil {
		t.Error("Commit over a folder succeeds")
	}
	if got := names(t, dir); !slices.Equal(got, []string{"a"}) {
		t.Errorf("the folder has %q, want it unchanged", got)
	}
	b = durable.NewBatch(root)
	for _, name := range []string{"x", "y", "z"} {
		stage(t, b, name, name)
	}
	block(t, dir, "y")
	infos, later, err := b.Commit(t.Context())
	if err != nil || later == nil || infos[0] == nil || infos[1] != nil || infos[2] == nil {
		t.Errorf("Commit = %v, %v, %v", infos, later, err)
	}
	if got := names(t, dir); !slices.Equal(got, []string{"a", "x", "y", "z"}) {
		t.Errorf("the folder holds %q", got)
	}
}

// TestBatchStopped: a commit with a canceled context changes nothing.
func TestBatchStopped(t *testing.T) {
	root, dir := open(t)
	b := durable.NewBatch(root)
	stage(t, b, "a", "a")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := b.Commit(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("Commit = %v", err)
	}
	if got := names(t, dir); len(got) > 0 {
		t.Errorf("the folder holds %q", got)
	}
}

// TestBatchMove: a move is committed with the other changes and never replaces a
// file.
func TestBatchMove(t *testing.T) {
	root, dir := open(t)
	put(t, filepath.Join(dir, "a"), "a", 0o600)
	put(t, filepath.Join(dir, "b"), "b", 0o600)
	b := durable.NewBatch(root)
	if err := b.Move("a", "b"); !errors.Is(err, fs.ErrExist) {
		t.Errorf("Move over a file = %v", err)
	}
	if err := b.Move("c", "d"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Move of a missing file = %v", err)
	}
	if err := b.Move("a", "c"); err != nil {
		t.Fatal(err)
	}
	stage(t, b, "b", "new")
	if _, later, err := b.Commit(t.Context()); err != nil || later != nil {
		t.Fatal(err, later)
	}
	if got := names(t, dir); !slices.Equal(got, []string{"b", "c"}) || content(t, filepath.Join(dir, "c")) != "a" {
		t.Errorf("the folder holds %q", got)
	}
	if err := b.Move("c", "d"); err != nil {
		t.Fatal(err)
	}
	b.Discard()
	if got := names(t, dir); !slices.Equal(got, []string{"b", "c"}) {
		t.Errorf("after a move that is discarded the folder holds %q", got)
	}
}

// TestBatchLog: the line of a batch is appended if and only if the batch is
// committed.
func TestBatchLog(t *testing.T) {
	root, dir := open(t)
	log := filepath.Join(dir, "log")
	put(t, log, "one\ntor", 0o600)
	b := durable.NewBatch(root)
	stage(t, b, "a", "a")
	if err := b.Log("log", []byte("two\n")); err != nil {
		t.Fatal(err)
	}
	b.Discard()
	if got := content(t, log); got != "one\n" {
		t.Errorf("after a batch that is discarded the log is %q", got)
	}
	stage(t, b, "a", "a")
	if err := b.Log("log", []byte("two\n")); err != nil {
		t.Fatal(err)
	}
	if _, _, err := b.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := content(t, log); got != "one\ntwo\n\n" {
		t.Errorf("after the commit the log is %q", got)
	}
	if err := durable.CutLog(root, "log", 4); err != nil || content(t, log) != "one\n" {
		t.Errorf("CutLog = %v, the log is %q", err, content(t, log))
	}
}

// TestBatchExpect: a file that another program wrote is never replaced, at whatever moment
// it was written, and nothing else is changed.
func TestBatchExpect(t *testing.T) {
	for _, when := range []durable.Action{durable.Sync, durable.Swap} {
		root, dir := open(t)
		name := filepath.Join(dir, "a")
		put(t, name, "ours", 0o600)
		info, err := root.Stat("a")
		if err != nil {
			t.Fatal(err)
		}
		b := durable.NewBatch(root)
		stage(t, b, "a", "new")
		b.Expect(durable.Identify(info))
		stage(t, b, "c", "new")
		other := false
		restore := durable.Interpose(func(_ *os.Root, s durable.Step) error {
			if s.Do == when && !other {
				other = true
				put(t, name+".other", "theirs", 0o600)
				return os.Rename(name+".other", name)
			}
			return nil
		})
		_, _, err = b.Commit(t.Context())
		restore()
		if when == durable.Swap && !other {
			t.Skip("this system cannot exchange files")
		}
		if !errors.Is(err, durable.ErrChanged) {
			t.Errorf("at %s: Commit = %v", when, err)
		}
		if got := names(t, dir); !slices.Equal(got, []string{"a"}) || content(t, name) != "theirs" {
			t.Errorf("at %s: the folder holds %q, the file %q", when, got, content(t, name))
		}
	}
}

// TestAround: Around is called with the functions that change names in the folder, and with no
// others.
func TestAround(t *testing.T) {
	root, _ := open(t)
	for _, dir := range []string{"watched", "other"} {
		if err := durable.MakeDir(root, dir); err != nil {
			t.Fatal(err)
		}
	}
	for name, want := range map[string]int{"watched/a": 2, "other/a": 0} { // its creation, and its rename
		b, calls := durable.NewBatch(root), 0
		b.Folder, b.Around = "watched", func(f func() error) error {
			calls++
			return f()
		}
		if _, err := b.Create(name, durable.Bytes([]byte("a"))); err != nil {
			t.Fatal(err)
		}
		if err := b.Extend("other/pack", 0, false, durable.Bytes([]byte("a"))); err != nil {
			t.Fatal(err)
		}
		if _, later, err := b.Commit(t.Context()); err != nil || later != nil {
			t.Fatal(err, later)
		}
		b.Discard()
		if calls != want {
			t.Errorf("%s: %d calls, want %d", name, calls, want)
		}
	}
}
