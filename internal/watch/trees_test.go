package watch

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/fsnotify/fsnotify"
)

// A treeSight is the state of a watcher of trees in a test.
type treeSight struct {
	t       *testing.T
	dir     string
	batches <-chan Batch
}

func isText(within string) bool { return filepath.Ext(within) == ".txt" }

// lookAt watches the trees a and b of a folder, of which a exists.
func lookAt(t *testing.T, opts Options) *treeSight {
	t.Helper()
	dir := t.TempDir()
	mkdir(t, filepath.Join(dir, "a", "old"))
	write(t, filepath.Join(dir, "a", "old", "1.txt"))
	write(t, filepath.Join(dir, "a", "old", "1.log"))
	f := newForest(&opts, []Tree{{filepath.Join(dir, "a"), isText}, {filepath.Join(dir, "b"), nil}})
	return seeTrees(t, dir, f)
}

func seeTrees(t *testing.T, dir string, f *forest) *treeSight {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	s := &treeSight{t, dir, f.start(ctx)}
	t.Cleanup(func() {
		stop()
		for range s.batches {
		}
	})
	s.wants("the beginning", true, "a/old/1.txt")
	return s
}

func (s *treeSight) path(name string) string { return filepath.Join(s.dir, filepath.FromSlash(name)) }

// wants receives batches until all files were named. A file that is gone has a minus.
func (s *treeSight) wants(what string, all bool, names ...string) {
	s.t.Helper()
	left := map[string]bool{}
	for _, name := range names {
		left[name] = true
	}
	for end := time.After(soon); ; {
		select {
		case b := <-s.batches:
			for _, f := range b.Files {
				name, _ := filepath.Rel(s.dir, f.Path)
				name = filepath.ToSlash(name)
				if f.Info == nil {
					name = "-" + name
				}
				if strings.HasSuffix(name, ".log") && f.Tree == 0 || strings.Contains(name, "link") {
					s.t.Errorf("%s: %s is not wanted", what, name)
				}
				delete(left, name)
			}
			if len(left) == 0 && (b.All || !all) {
				return
			}
		case <-end:
			s.t.Fatalf("%s: no batch has %v", what, left)
		}
	}
}

func TestTrees(t *testing.T) {
	t.Parallel()
	notOnWindows(t)
	s := lookAt(t, Options{Interval: time.Hour})
	write(t, s.path("a/old/1.txt"))
	s.wants("a file grows", false, "a/old/1.txt")
	mkdir(t, s.path("a/2026/11"))
	write(t, s.path("a/2026/11/2.txt"))
	s.wants("a file in a new folder", false, "a/2026/11/2.txt")
	write(t, s.path("a/2026/11/2.log"))
	write(t, s.path("a/2026/11/3.txt"))
	s.wants("another one", false, "a/2026/11/3.txt")
	rename(t, s.path("a/2026/11/3.txt"), s.path("a/2026/11/4.txt"))
	s.wants("a file has another name", false, "-a/2026/11/3.txt", "a/2026/11/4.txt")
	rename(t, s.path("a/2026"), s.path("a/2027"))
	s.wants("a folder has another name", false, "a/2027/11/4.txt")
	write(t, s.path("a/2027/11/4.txt"))
	s.wants("a file in it", false, "a/2027/11/4.txt")
	remove(t, s.path("a/2027/11/4.txt"))
	s.wants("a file is removed", false, "-a/2027/11/4.txt")
	mkdir(t, s.path("b/x"))
	write(t, s.path("b/x/5.log"))
	s.wants("a tree that was missing", false, "b/x/5.log")
	rename(t, s.path("b"), s.path("c"))
	mkdir(t, s.path("b"))
	write(t, s.path("b/6.txt"))
	s.wants("a tree that is replaced", false, "b/6.txt")
	write(t, s.path("b/6.txt"))
	s.wants("a file in it", false, "b/6.txt")
}

// TestTreesInterval: changes without notifications are found by looking at all files.
func TestTreesInterval(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	mkdir(t, filepath.Join(dir, "a", "old"))
	write(t, filepath.Join(dir, "a", "old", "1.txt"))
	notes := make(chan string, 10)
	f := newForest(&Options{Interval: 10 * time.Millisecond, Note: func(s string) { notes <- s }}, []Tree{{filepath.Join(dir, "a"), isText}})
	f.open = func() (*fsnotify.Watcher, error) { return nil, errors.New("too many of them") }
	s := seeTrees(t, dir, f)
	if note := <-notes; !strings.HasSuffix(note, "every 10ms or less often: too many of them") {
		t.Errorf("the note is %q", note)
	}
	for i := range 3 {
		name := fmt.Sprintf("a/new%d/2.txt", i)
		mkdir(t, filepath.Dir(s.path(name)))
		write(t, s.path(name))
		s.wants("a new file", true, name)
	}
	if len(notes) > 0 {
		t.Errorf("another note: %q", <-notes)
	}
}

// TestTreesOverflow: when notifications were lost, all files are looked at, and the folders are
// watched again.
func TestTreesOverflow(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	mkdir(t, filepath.Join(dir, "a", "old"))
	write(t, filepath.Join(dir, "a", "old", "1.txt"))
	f := newForest(&Options{Interval: time.Hour}, []Tree{{filepath.Join(dir, "a"), isText}})
	var system *fsnotify.Watcher
	open := f.open
	f.open = func() (*fsnotify.Watcher, error) {
		opened, err := open()
		if system == nil {
			system = opened
		}
		return opened, err
	}
	s := seeTrees(t, dir, f)
	if err := system.Remove(s.path("a/old")); err != nil {
		t.Fatal(err)
	}
	write(t, s.path("a/old/2.txt"))
	system.Errors <- fsnotify.ErrEventOverflow
	s.wants("an overflow", true, "a/old/1.txt", "a/old/2.txt")
	write(t, s.path("a/old/2.txt"))
	s.wants("a file after it", false, "a/old/2.txt")
}

// TestTreesDue: all files are looked at after the machine slept, after ten intervals, and more
// often if the system does not report all changes, but for a small part of the time.
func TestTreesDue(t *testing.T) {
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		what  string
		blind bool
		took  time.Duration
		last  time.Duration // from the last tick
		now   time.Duration // from the last look
		want  bool
	}{
		{"one tick", false, time.Millisecond, 3 * time.Second, 3 * time.Second, false},
		{"ten ticks", false, time.Millisecond, 3 * time.Second, 30 * time.Second, true},
		{"slept", false, time.Millisecond, time.Hour, time.Hour, true},
		{"blind", true, 10 * time.Millisecond, 3 * time.Second, 3 * time.Second, true},
		{"blind and slow", true, 50 * time.Millisecond, 3 * time.Second, 9 * time.Second, false},
		{"slow", false, 200 * time.Millisecond, 3 * time.Second, 30 * time.Second, false},
	} {
		f := newForest(nil, nil)
		f.blind, f.took, f.looked, f.wall = c.blind, c.took, start, start.Add(c.now-c.last)
		if got := f.due(start.Add(c.now)); got != c.want {
			t.Errorf("%s: due is %v, want %v", c.what, got, c.want)
		}
	}
}

// TestTreesLink: a root that is a link is followed, links in a tree are not.
func TestTreesLink(t *testing.T) {
	t.Parallel()
	notOnWindows(t)
	dir := t.TempDir()
	mkdir(t, filepath.Join(dir, "real", "old"))
	mkdir(t, filepath.Join(dir, "other"))
	for _, link := range [][2]string{{"real", "a"}, {filepath.Join("..", "other"), filepath.Join("real", "link")}} {
		if err := os.Symlink(link[0], filepath.Join(dir, link[1])); err != nil {
			t.Fatal(err)
		}
	}
	write(t, filepath.Join(dir, "a", "old", "1.txt"))
	write(t, filepath.Join(dir, "other", "2.txt"))
	f := newForest(&Options{Interval: time.Hour}, []Tree{{filepath.Join(dir, "a"), isText}})
	s := seeTrees(t, dir, f)
	write(t, filepath.Join(dir, "other", "2.txt"))
	write(t, filepath.Join(dir, "real", "old", "3.txt"))
	s.wants("a file behind the link", false, "a/old/3.txt")
}
