package watch

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/bough-dev/bough/internal/testsize"

	"github.com/fsnotify/fsnotify"
)

// soon is longer than any wake takes, and shorter than the timeouts of the tests
// below.
const soon = 10 * time.Second

// A sight is the state of one watcher in a test.
type sight struct {
	t     *testing.T
	wakes <-chan Wake
	stop  context.CancelFunc
}

// look watches paths, by default without an interval, and receives the first wake.
func look(t *testing.T, opts Options, paths ...string) *sight {
	t.Helper()
	if opts.Interval == 0 {
		opts.Interval = time.Hour
	}
	return see(t, newWatcher(&opts, paths))
}

func see(t *testing.T, w *watcher) *sight {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	s := &sight{t, w.start(ctx), stop}
	t.Cleanup(s.end)
	s.wants("the beginning", false)
	return s
}

// end stops the watcher, and waits until its goroutines have ended.
func (s *sight) end() {
	s.stop()
	for range s.wakes {
	}
}

func (s *sight) wants(what string, notice bool) {
	s.t.Helper()
	select {
	case wake, ok := <-s.wakes:
		if !ok || wake.Notice != notice {
			s.t.Fatalf("%s: %+v, %v", what, wake, ok)
		}
	case <-time.After(soon):
		s.t.Fatalf("%s: no wake", what)
	}
}

// wantsNone verifies that there is no wake. Systems other than Linux may report
// more changes than requested, which is harmless.
func (s *sight) wantsNone(what string) {
	s.t.Helper()
	for quiet := time.After(150 * time.Millisecond); ; {
		select {
		case wake, ok := <-s.wakes:
			if !ok || runtime.GOOS == "linux" {
				s.t.Fatalf("%s: %+v, %v", what, wake, ok)
			}
		case <-quiet:
			return
		}
	}
}

func notOnWindows(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows does not move a watched folder")
	}
}

func write(t *testing.T, name string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(time.Now().String()), 0o600); err != nil {
		t.Fatal(err)
	}
}

func mkdir(t *testing.T, name string) {
	t.Helper()
	if err := os.MkdirAll(name, 0o700); err != nil {
		t.Fatal(err)
	}
}

func rename(t *testing.T, from, to string) {
	t.Helper()
	if err := os.Rename(from, to); err != nil {
		t.Fatal(err)
	}
}

func remove(t *testing.T, name string) {
	t.Helper()
	if err := os.RemoveAll(name); err != nil {
		t.Fatal(err)
	}
}

func TestFolder(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	conversations := filepath.Join(dir, "conversations")
	a, b := filepath.Join(conversations, "a.json"), filepath.Join(conversations, "b.json")
	mkdir(t, filepath.Join(conversations, "sub"))
	s := look(t, Options{}, conversations)
	s.wantsNone("nothing")
	write(t, a)
	s.wants("a new file", true)
	write(t, a)
	s.wants("a file is written", true)
	rename(t, a, b)
	s.wants("a file has another name", true)
	write(t, filepath.Join(dir, "temp"))
	s.wantsNone("a file beside the folder")
	rename(t, filepath.Join(dir, "temp"), b)
	s.wants("a file is replaced", true)
	write(t, filepath.Join(conversations, "sub", "c.json"))
	s.wantsNone("a file in a folder of the folder")
	if err := os.Chmod(b, 0o400); err != nil {
		t.Fatal(err)
	}
	s.wantsNone("permissions")
	remove(t, b)
	s.wants("a file is removed", true)
}

func TestFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	head, other := filepath.Join(dir, "head.json"), filepath.Join(dir, "bookmarks.json")
	s := look(t, Options{}, head, other)
	for range testsize.Of(1, 3, 3) {
		write(t, filepath.Join(dir, "temp"))
		s.wantsNone("another file")
		rename(t, filepath.Join(dir, "temp"), head)
		s.wants("a file is replaced", true)
		write(t, other)
		s.wants("the other file", true)
		remove(t, head)
		s.wants("a file is removed", true)
	}
}

// TestComesAndGoes: a folder that does not exist yet, is removed, created again,
// moved, and replaced.
func TestComesAndGoes(t *testing.T) {
	t.Parallel()
	notOnWindows(t)
	above := filepath.Join(t.TempDir(), "above")
	dir := filepath.Join(above, "workspace", "conversations")
	file := filepath.Join(dir, "a.json")
	s := look(t, Options{}, dir)
	works := func(what string) {
		t.Helper()
		s.wants(what, true)
		write(t, file)
		s.wants(what+", then a file", true)
	}
	mkdir(t, dir)
	works("a folder that was not there")
	for range testsize.Of(1, 5, 5) {
		remove(t, dir)
		s.wants("removed", true)
		mkdir(t, dir)
		works("made again")
	}
	remove(t, above)
	s.wants("removed with what is above", true)
	mkdir(t, dir)
	works("made again with what is above")
	remove(t, dir)
	mkdir(t, dir)
	works("removed and made again at once")
	rename(t, dir, dir+"2")
	s.wants("moved away", true)
	write(t, filepath.Join(dir+"2", "b.json"))
	s.wantsNone("a file in what was moved away")
	rename(t, dir+"2", dir)
	works("moved back")
	mkdir(t, dir+"3")
	rename(t, dir, dir+"4")
	rename(t, dir+"3", dir)
	works("replaced by another")
}

// TestMovedAbove: a folder whose parent is moved causes no notification. The
// interval detects that, and a new folder in its place is watched.
func TestMovedAbove(t *testing.T) {
	t.Parallel()
	notOnWindows(t)
	above := filepath.Join(t.TempDir(), "above")
	dir := filepath.Join(above, "conversations")
	mkdir(t, dir)
	mkdir(t, filepath.Join(above+"2", "conversations"))
	s := look(t, Options{Interval: 200 * time.Millisecond}, dir)
	rename(t, above, above+"1")
	rename(t, above+"2", above)
	s.wants("moved", false)
	write(t, filepath.Join(dir, "a.json"))
	for {
		select {
		case wake := <-s.wakes:
			if wake.Notice {
				return
			}
		case <-time.After(soon):
			t.Fatal("no wake")
		}
	}
}

// TestSettle: many notifications at once cause one wake, and a steady stream of
// them still causes wakes.
func TestSettle(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := look(t, Options{Settle: 200 * time.Millisecond, Latest: time.Minute}, dir)
	for i := range 200 {
		write(t, filepath.Join(dir, fmt.Sprint(i)))
	}
	s.wants("200 files", true)
	s.wantsNone("200 files, again")
	s.end()

	part := testsize.Of[time.Duration](2, 1, 1)
	s = look(t, Options{Settle: 100 * time.Millisecond / part, Latest: 250 * time.Millisecond / part}, dir)
	stop := make(chan bool)
	go func() {
		defer close(stop)
		for range testsize.Of(150, 300, 300) {
			os.WriteFile(filepath.Join(dir, "steady"), nil, 0o600)
			time.Sleep(5 * time.Millisecond) // a stream that never settles
		}
	}()
	wakes := 0
	for {
		select {
		case <-s.wakes:
			wakes++
		case <-stop:
			if wakes < 2 || wakes > 12 {
				t.Errorf("%d wakes in %v of changes", wakes, 1500*time.Millisecond/part)
			}
			return
		}
	}
}

// TestSlowCaller: wakes that were not received are merged, and Notice is set if any
// had it.
func TestSlowCaller(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := look(t, Options{Interval: 20 * time.Millisecond, Settle: time.Millisecond}, dir)
	write(t, filepath.Join(dir, "a"))
	time.Sleep(200 * time.Millisecond) // several intervals, in which no wake is received
	s.wants("a file, long ago", true)
	s.wants("the interval", false)
}

func TestInterval(t *testing.T) {
	t.Parallel()
	s := look(t, Options{Interval: 10 * time.Millisecond}, t.TempDir())
	for range 5 {
		s.wants("the interval", false)
	}
}

// TestRefused: if the system cannot watch, the interval is used, and Note is called
// once. Notifications are used again when possible.
func TestRefused(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	notes := make(chan string, 100)
	w := newWatcher(&Options{Interval: 10 * time.Millisecond, Note: func(s string) { notes <- s }}, []string{dir})
	open, refusals := w.open, 0
	w.open = func() (*fsnotify.Watcher, error) {
		if refusals++; refusals < 20 {
			return nil, errors.New("too many of them")
		}
		return open()
	}
	s := see(t, w)
	for range 5 {
		s.wants("the interval", false)
	}
	if note := <-notes; !strings.HasSuffix(note, "every 10ms: too many of them") {
		t.Errorf("the note is %q", note)
	}
	for end := time.Now().Add(soon); ; {
		write(t, filepath.Join(dir, "a"))
		if wake := <-s.wakes; wake.Notice {
			break
		}
		if time.Now().After(end) {
			t.Fatal("no notice")
		}
	}
	if len(notes) > 0 {
		t.Errorf("another note: %q", <-notes)
	}
}

// TestOverflow: when the system reports lost events, a wake is sent and the folders are
// watched again.
func TestOverflow(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	w := newWatcher(&Options{Interval: time.Hour}, []string{dir})
	var system *fsnotify.Watcher
	open := w.open
	w.open = func() (*fsnotify.Watcher, error) {
		var err error
		system, err = open()
		return system, err
	}
	s := see(t, w)
	if err := system.Remove(dir); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "a"))
	s.wantsNone("a file in what is not watched")
	system.Errors <- fsnotify.ErrEventOverflow
	s.wants("an overflow", true)
	write(t, filepath.Join(dir, "b"))
	s.wants("a file after it", true)
}

// TestCleanup: when the context ends, the channel is closed and all goroutines
// end, whether wakes were received or not.
func TestCleanup(t *testing.T) {
	dir := t.TempDir()
	for range 20 {
		ctx, stop := context.WithCancel(t.Context())
		wakes := Paths(ctx, &Options{Interval: time.Millisecond}, dir, filepath.Join(dir, "a", "b"))
		<-wakes
		write(t, filepath.Join(dir, "c"))
		stop()
		for range wakes {
		}
	}
	ended, stop := context.WithCancel(t.Context())
	stop()
	Paths(ended, nil, dir) // wakes are not received
	for end := time.Now().Add(soon); ; time.Sleep(time.Millisecond) {
		stacks := make([]byte, 1<<20)
		stacks = stacks[:runtime.Stack(stacks, true)]
		if !strings.Contains(string(stacks), "(*watcher)") && !strings.Contains(string(stacks), "fsnotify.") {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("still there:\n%s", stacks)
		}
	}
}
