package watch

import (
	"context"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/fsnotify/fsnotify"
)

// TestDirs: each directory in which something changed is named, also new and moved ones; those
// that are not entered are not.
func TestDirs(t *testing.T) {
	t.Parallel()
	notOnWindows(t)
	root := t.TempDir()
	at := func(name string) string { return filepath.Join(root, filepath.FromSlash(name)) }
	for _, dir := range []string{"a/b", "c", "skip/x"} {
		mkdir(t, at(dir))
	}
	ctx, stop := context.WithCancel(t.Context())
	changes := Dirs(ctx, &Options{Interval: time.Hour, Settle: 5 * time.Millisecond}, root, func(within string) bool { return path.Base(within) != "skip" },
		func(name string) bool { return name == "rules" })
	t.Cleanup(func() {
		stop()
		for range changes {
		}
	})
	if c := <-changes; !c.All {
		t.Fatalf("the first change is %+v", c)
	}
	for _, step := range []struct {
		name string
		do   func() error
		want []string
	}{
		{"a file", func() error { return os.WriteFile(at("a/b/1"), nil, 0o600) }, []string{"a/b"}},
		{"in the root", func() error { return os.WriteFile(at("1"), nil, 0o600) }, []string{""}},
		{"permissions", func() error { return os.Chmod(at("a/b/1"), 0o400) }, []string{"a/b"}},
		{"a link", func() error { return os.Symlink("1", at("c/link")) }, []string{"c"}},
		{"an empty directory", func() error { return os.Mkdir(at("c/new"), 0o700) }, []string{"c", "c/new"}},
		{"in it", func() error { return os.WriteFile(at("c/new/1"), nil, 0o600) }, []string{"c/new"}},
		{"a directory is moved", func() error { return os.Rename(at("a/b"), at("c/b")) }, []string{"a", "c", "c/b"}},
		{"in it", func() error { return os.WriteFile(at("c/b/2"), nil, 0o600) }, []string{"c/b"}},
		{"a directory is removed", func() error { return os.RemoveAll(at("c/b")) }, []string{"c"}},
		{"rules", func() error { return os.WriteFile(at("a/rules"), nil, 0o600) }, []string{"all"}},
		{"nothing of interest, and a file", func() error {
			if err := os.WriteFile(at("skip/x/1"), nil, 0o600); err != nil {
				return err
			}
			return os.WriteFile(at("a/2"), nil, 0o600)
		}, []string{"a"}},
	} {
		if err := step.do(); err != nil {
			t.Fatal(err)
		}
		left := slices.Clone(step.want)
		for end := time.After(soon); len(left) > 0; {
			select {
			case c := <-changes:
				if c.All {
					left = slices.DeleteFunc(left, func(dir string) bool { return dir == "all" })
					if step.want[0] != "all" {
						t.Errorf("%s: all", step.name)
					}
				}
				left = slices.DeleteFunc(left, func(dir string) bool { return slices.Contains(c.Dirs, dir) })
				if slices.ContainsFunc(c.Dirs, func(dir string) bool { return path.Base(dir) == "skip" || path.Base(dir) == "x" }) {
					t.Errorf("%s: %v", step.name, c.Dirs)
				}
			case <-end:
				t.Fatalf("%s: no change has %v", step.name, left)
			}
		}
	}
}

// TestDirsLost: after notifications were lost, anything may have changed.
func TestDirsLost(t *testing.T) {
	t.Parallel()
	notOnWindows(t)
	root := t.TempDir()
	d := &dirs{forest: newForest(&Options{Interval: time.Hour}, []Tree{{Root: root}}), enters: func(string) bool { return true }, rules: func(string) bool { return false }, next: map[string]bool{}, root: root}
	d.look(t.Context())
	defer d.end()
	d.all, d.lost = false, true
	d.collect(t.Context())
	if !d.all {
		t.Error("not all")
	}
}

// TestDirsLimit: if the system watches only some of the directories, or none, the note says
// which limit is reached, and changes in the others are found from time to time.
func TestDirsLimit(t *testing.T) {
	t.Parallel()
	for _, none := range []bool{false, true} {
		root := t.TempDir()
		mkdir(t, filepath.Join(root, "a"))
		notes := make(chan string, 1)
		d := newDirs(&Options{Interval: 10 * time.Millisecond, Note: func(s string) { notes <- s }}, root, func(string) bool { return true }, func(string) bool { return false })
		want := "fs.inotify.max_user_watches"
		d.attach = func(w *fsnotify.Watcher, dir string) error {
			if dir != d.root {
				return os.NewSyscallError("inotify_add_watch", syscall.ENOSPC)
			}
			return w.Add(dir)
		}
		if none {
			want = "fs.inotify.max_user_instances"
			d.open = func() (*fsnotify.Watcher, error) { return nil, syscall.EMFILE }
		}
		ctx, stop := context.WithCancel(t.Context())
		changes := d.start(ctx)
		t.Cleanup(func() {
			stop()
			for range changes {
			}
		})
		if c := <-changes; !c.All {
			t.Fatalf("the first change is %+v", c)
		}
		if note := <-notes; !strings.Contains(note, "every 10ms") || !strings.Contains(note, want) {
			t.Errorf("the note is %q", note)
		}
		for range 2 { // there is always another look
			select {
			case c := <-changes:
				if !c.All {
					t.Errorf("%+v", c)
				}
			case <-time.After(soon):
				t.Fatal("no change is reported")
			}
		}
	}
}
