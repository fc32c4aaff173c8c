// Package watch tells when files may have changed.
//
// It says only: look again. What changed the caller finds out, so that nothing
// depends on what a file system tells of a change and in which order. No change
// is lost: a [Wake] comes after the system gave notice of one, and at a fixed
// interval all the same, because there are changes of which no notice comes:
// those that other machines make on a network file system, those of a folder
// whose watching the system refuses, those of a folder that was moved with the
// one it lies in.
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

// Options are the choices of a caller. The zero value is the default, and nil is
// the zero value.
type Options struct {
	// Interval is how often a wake comes without a notice. Zero means 3 seconds.
	Interval time.Duration

	// Settle is how long there must be no further notice before a wake comes.
	// Zero means 50 ms.
	Settle time.Duration

	// Latest is how long after the first notice a wake comes although there are
	// ever more. Zero means 250 ms.
	Latest time.Duration

	// Note is told, in one sentence and once, that the system gives no notice,
	// so that only the interval is left. Nil means that nobody is told.
	Note func(string)
}

// A Wake says that something may have changed.
type Wake struct {
	Notice bool // the system said so; else the interval is over
}

// Paths wakes its caller when something may have changed in one of the folders
// or files that paths name. Of a folder that is itself and the files in it, not
// those in its folders. They need not be there, and may go, come back, and be
// replaced by others.
//
// The first wake comes at once, when the paths are watched: who looks then has
// missed nothing. Several that the caller has not taken yet are one. When ctx
// ends the channel is closed, and nothing of this runs any longer.
func Paths(ctx context.Context, opts *Options, paths ...string) <-chan Wake {
	return newWatcher(opts, paths).start(ctx)
}

type watcher struct {
	Options
	paths  []string // absolute
	wakes  chan Wake
	heard  chan struct{} // a notice came
	missed atomic.Bool   // notices were lost, also of what is watched
	noted  bool

	open    func() (*fsnotify.Watcher, error)
	system  *fsnotify.Watcher      // nil while there is none
	watched map[string]fs.FileInfo // folders, as they were found
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
	tick := time.NewTicker(w.Interval)
	defer tick.Stop()
	settled := time.NewTimer(0)
	settled.Stop()
	defer settled.Stop()
	var first time.Time // of the notices that have not settled, zero if there are none
	next, out := Wake{}, w.wakes
	for {
		select {
		case <-ctx.Done():
			return
		case out <- next:
			next, out = Wake{}, nil
		case <-tick.C:
			w.arm(ctx)
			out = w.wakes
		case <-w.heard:
			w.arm(ctx)
			if first.IsZero() {
				first = time.Now()
			}
			settled.Reset(min(w.Settle, w.Latest-time.Since(first)))
		case <-settled.C:
			first = time.Time{}
			next.Notice, out = true, w.wakes
		}
	}
}

// arm watches what is to be watched now: of each path the folder that it is, or
// the nearest above it that is there, in which it can appear.
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
	const tries = 10 // folders may come and go at the same moment
	for range tries {
		if w.missed.Swap(false) {
			w.drop(func(string) bool { return true })
		}
		if !w.rearm() {
			return
		}
	}
}

// rearm reports whether something is watched that was not.
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

// drop ends the watching of folders.
func (w *watcher) drop(which func(dir string) bool) {
	for dir := range w.watched {
		if which(dir) {
			w.system.Remove(dir) // which may have ended by itself
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

// hear takes what the system tells. It never waits for anybody: the system may
// wait for it, and those who have it watch a folder for the system.
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

// concerns reports whether e is of one of the paths, a file in it, or a folder
// that it lies in. What changes permissions and times changes no content.
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
		w.Note("the system does not tell of changes, so they are looked for every " + w.Interval.String() + ": " + err.Error())
	}
}

func (w *watcher) close() {
	if w.system != nil {
		w.system.Close()
	}
	w.hearing.Wait()
}
