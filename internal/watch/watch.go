// Package watch reports when files may have changed.
//
// A report only asks the caller to look again. The caller determines the changes,
// so that nothing depends on the events of a file system and their order. No change
// is lost: a [Wake] is sent after the system's notification of a change, and also
// at a fixed interval, because some changes cause no notification: those that other
// machines make on a network file system, those in a folder that the system cannot
// watch, and those in a folder whose parent was moved.
package watch

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/fsnotify/fsnotify"
)

// Options configure a watcher. The zero value and nil are the default.
type Options struct {
	// Interval is the time between wakes without a notification. Zero means 3
	// seconds.
	Interval time.Duration

	// Settle is the time without further notifications before a wake. Zero means 50
	// ms.
	Settle time.Duration

	// Latest is the maximum time from the first notification to a wake, even if
	// more notifications arrive. Zero means 250 ms.
	Latest time.Duration

	// Note, if not nil, is called once with a sentence if the system sends no
	// notifications, so that only the interval is left.
	Note func(string)
}

// A Wake reports that something may have changed.
type Wake struct {
	Notice bool // caused by a notification, not by the interval
}

// Paths sends a Wake when something may have changed in the folders or files that
// paths name. For a folder this includes the files in it, but not those in its
// subfolders. The paths need not exist, and may be removed, created again and
// replaced.
//
// The first wake is sent as soon as the paths are watched: a caller that looks then
// misses nothing. Wakes that the caller has not received are merged. When ctx is
// done, the channel is closed and all goroutines end.
func Paths(ctx context.Context, opts *Options, paths ...string) <-chan Wake {
	return newWatcher(opts, paths).start(ctx)
}

type watcher struct {
	Options
	paths  []string // absolute
	wakes  chan Wake
	heard  chan struct{} // receives a value for a notification
	missed atomic.Bool   // notifications were lost, possibly about the watched folders
	noted  bool

	open    func() (*fsnotify.Watcher, error)
	system  *fsnotify.Watcher      // nil if unavailable
	watched map[string]fs.FileInfo // folders at the time when they were added
	hearing sync.WaitGroup
}

func newWatcher(opts *Options, paths []string) *watcher {
	w := &watcher{
		wakes:   make(chan Wake),
		heard:   make(chan struct{}, 1),
		open:    fsnotify.NewWatcher,
		watched: map[string]fs.FileInfo{},
	}
	if opts != nil {
		w.Options = *opts
	}
	if w.Interval <= 0 {
		w.Interval = 3 * time.Second
	}
	if w.Settle <= 0 {
		w.Settle = 50 * time.Millisecond
	}
	if w.Latest <= 0 {
		w.Latest = 250 * time.Millisecond
	}
	if w.Note == nil {
		w.Note = func(string) {}
	}
	for _, p := range paths {
		if abs, err := filepath.Abs(p); err == nil {
			p = abs
		}
		w.paths = append(w.paths, filepath.Clean(p))
	}
	return w
}

func (w *watcher) start(ctx context.Context) <-chan Wake {
	go func() {
		defer close(w.wakes)
		defer w.close()
		w.arm(ctx)
		w.run(ctx)
	}()
	return w.wakes
}

func (w *watcher) run(ctx context.Context) {
	next, wakes := Wake{}, true // the first one is sent as soon as the paths are watched
	loop[Wake]{
		heard: w.heard, out: w.wakes,
		next: func() (Wake, bool) { return next, wakes },
		sent: func() { next, wakes = Wake{}, false },
		tick: func() {
			w.arm(ctx)
			wakes = true
		},
		hear:    func() { w.arm(ctx) },
		settled: func() { next.Notice, wakes = true, true },
	}.run(ctx, &w.Options)
}

// arm watches the current folders: for each path the folder itself, or its nearest
// existing parent, in which it can be created.
func (w *watcher) arm(ctx context.Context) {
	if w.system == nil {
		system, err := w.open()
		if err != nil {
			w.refused(err)
			return
		}
		w.system = system
		w.hearing.Go(func() { w.hear(ctx, system) })
	}
	const tries = 10 // folders may be created and removed concurrently
	for range tries {
		if w.missed.Swap(false) {
			w.drop(func(string) bool { return true })
		}
		if !w.rearm() {
			return
		}
	}
}

// rearm reports whether it added a folder to the watched ones.
func (w *watcher) rearm() (more bool) {
	want := map[string]fs.FileInfo{}
	for _, p := range w.paths {
		dir, info := nearest(p)
		want[dir] = info
	}
	alive := w.system.WatchList()
	w.drop(func(dir string) bool {
		return !slices.Contains(alive, dir) || !os.SameFile(w.watched[dir], want[dir])
	})
	for dir, info := range want {
		if w.watched[dir] != nil || info == nil {
			continue
		}
		switch err := w.system.Add(dir); {
		case err == nil:
			w.watched[dir] = info
			more = true
		case errors.Is(err, fs.ErrNotExist):
			more = true
		default:
			w.refused(err)
		}
	}
	return more
}

// drop stops watching folders.
func (w *watcher) drop(which func(dir string) bool) {
	for dir := range w.watched {
		if which(dir) {
			w.system.Remove(dir) // it may have ended by itself
			delete(w.watched, dir)
		}
	}
}

// nearest returns path if it is a folder, else the nearest folder above it.
func nearest(path string) (string, fs.FileInfo) {
	for {
		info, err := os.Stat(path)
		if err == nil && info.IsDir() {
			return path, info
		}
		above := filepath.Dir(path)
		if above == path {
			return path, nil
		}
		path = above
	}
}

// hear receives the system's events. It never blocks, because the system may block
// on it, and so may goroutines that add a folder.
func (w *watcher) hear(ctx context.Context, system *fsnotify.Watcher) {
	for {
		select {
		case <-ctx.Done():
			return
		case e, ok := <-system.Events:
			if !ok {
				return
			}
			if !w.concerns(e) {
				continue
			}
		case _, ok := <-system.Errors:
			if !ok {
				return
			}
			w.missed.Store(true) // fsnotify.ErrEventOverflow, or worse
		}
		select {
		case w.heard <- struct{}{}:
		default:
		}
	}
}

// concerns reports whether e is about one of the paths, a file in it, or one of its
// parents. Changes of permissions and times only do not count.
func (w *watcher) concerns(e fsnotify.Event) bool {
	if e.Op == fsnotify.Chmod || e.Name == "" {
		return false
	}
	return slices.ContainsFunc(w.paths, func(p string) bool {
		return e.Name == p || filepath.Dir(e.Name) == p || strings.HasPrefix(p, e.Name+string(filepath.Separator))
	})
}

func (w *watcher) refused(err error) {
	if !w.noted {
		w.noted = true
		w.Note("the system does not report changes; checking every " + w.Interval.String() + ": " + reason(err))
	}
}

func (w *watcher) close() {
	if w.system != nil {
		w.system.Close()
	}
	w.hearing.Wait()
}
