package watch

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/fsnotify/fsnotify"
)

// A Tree is a folder that is watched with all its subfolders.
type Tree struct {
	Root string // need not exist, and may be a link to a folder

	// Holds reports whether a file is of interest, given its slash-separated path
	// relative to Root. If nil, every file is.
	Holds func(within string) bool
}

// A File is a file in a tree.
type File struct {
	Tree int         // index of its tree
	Path string      // begins with the root of the tree
	Info fs.FileInfo // as it was after the notification; nil if the file is gone
}

// A Batch lists files that may have changed.
type Batch struct {
	Files []File // in the order of their trees and paths
	All   bool   // Files are all files that exist
}

// Trees sends the files in trees that may have changed. It watches folders, not
// files, so that the number of files does not matter to the system. Links to
// folders are not followed, except for a root.
//
// The first batch has all files. So does one after notifications were lost, after
// the machine slept, and one from time to time, because some changes cause no
// notification; see [Paths]. Looking at all files takes at most one part in 200 of
// the time, and while the system reports changes, it happens at most every ten
// intervals. Batches that the caller has not received are merged. When ctx is done,
// the channel is closed and all goroutines end.
func Trees(ctx context.Context, opts *Options, trees ...Tree) <-chan Batch {
	return newForest(opts, trees).start(ctx)
}

const (
	lookShare  = 200  // all files are looked at for one part of this many of the time
	quietTicks = 10   // intervals between looks while the system reports all changes
	maxNames   = 4096 // changed files that are remembered one by one
)

type forest struct {
	Options
	trees   []Tree
	batches chan Batch
	heard   chan struct{} // receives a value for a notification

	mu    sync.Mutex
	names map[string]bool // named by notifications since the last [forest.collect]
	lost  bool            // notifications were lost

	open    func() (*fsnotify.Watcher, error)
	attach  func(*fsnotify.Watcher, string) error
	system  *fsnotify.Watcher // nil if unavailable
	hearing sync.WaitGroup
	watched map[string]bool // folders
	blind   bool            // a folder cannot be watched
	noted   bool

	looked time.Time     // when the last look at all files ended
	took   time.Duration // how long it took
	wall   time.Time     // the wall clock at the last tick

	next map[string]File // the batch to be sent, by path
	all  bool
}

func newForest(opts *Options, trees []Tree) *forest {
	f := &forest{
		Options: newWatcher(opts, nil).Options, batches: make(chan Batch), heard: make(chan struct{}, 1),
		names: map[string]bool{}, watched: map[string]bool{}, next: map[string]File{}, open: fsnotify.NewWatcher, attach: (*fsnotify.Watcher).Add,
	}
	for _, t := range trees {
		if abs, err := filepath.Abs(t.Root); err == nil {
			t.Root = abs
		}
		f.trees = append(f.trees, t)
	}
	return f
}

func (f *forest) start(ctx context.Context) <-chan Batch {
	go func() {
		defer close(f.batches)
		defer f.end()
		f.run(ctx)
	}()
	return f.batches
}

func (f *forest) run(ctx context.Context) {
	f.wall = time.Now().Round(0)
	f.look(ctx)
	loop[Batch]{
		heard: f.heard, out: f.batches,
		next: func() (b Batch, ready bool) {
			if ready = f.all || len(f.next) > 0; ready {
				b = f.batch()
			}
			return b, ready
		},
		sent: func() { f.next, f.all = map[string]File{}, false },
		tick: func() {
			if f.due(time.Now()) {
				f.look(ctx)
			}
		},
		settled: func() { f.collect(ctx) },
	}.run(ctx, &f.Options)
}

// due reports whether to look at all files: the machine slept, or enough time has
// passed since the last look.
func (f *forest) due(now time.Time) bool {
	slept := now.Round(0).Sub(f.wall) > 3*f.Interval
	f.wall = now.Round(0)
	wait := quietTicks * f.Interval
	if f.blind {
		wait = 0
	}
	return slept || now.Sub(f.looked) >= max(wait, lookShare*f.took)
}

// batch returns the files that have not been received.
func (f *forest) batch() Batch {
	b := Batch{All: f.all}
	for _, path := range slices.Sorted(maps.Keys(f.next)) {
		if file := f.next[path]; !f.all || file.Info != nil {
			b.Files = append(b.Files, file)
		}
	}
	slices.SortStableFunc(b.Files, func(a, b File) int { return a.Tree - b.Tree })
	return b
}

// look looks at all files and watches their folders.
func (f *forest) look(ctx context.Context) {
	start := time.Now()
	f.mu.Lock()
	f.names, f.lost = map[string]bool{}, false
	f.mu.Unlock()
	f.end() // the system may have lost folders that were moved
	f.blind = false
	if system, err := f.open(); err != nil {
		f.refused(err)
	} else {
		f.system = system
		f.hearing.Go(func() { f.hear(ctx, system) })
	}
	f.next, f.all = map[string]File{}, true
	for i := range f.trees {
		f.reach(ctx, i)
	}
	f.looked = time.Now()
	f.took = f.looked.Sub(start)
}

// reach walks a tree or, if its root does not exist, watches the folder in which
// it can be created.
func (f *forest) reach(ctx context.Context, tree int) {
	root := f.trees[tree].Root
	for dir, _ := nearest(root); dir != root; {
		f.watch(dir)
		now, _ := nearest(root) // it may have been created before dir was watched
		if now == dir {
			return
		}
		dir = now
	}
	f.walk(ctx, tree, root)
}

// walk adds the files below a folder of a tree, and watches its subfolders.
func (f *forest) walk(ctx context.Context, tree int, dir string) {
	from := strings.TrimRight(dir, string(filepath.Separator)) + string(filepath.Separator) // follows dir if it is a link
	filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		path = filepath.Clean(path)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			return nil // removed meanwhile, or unreadable
		case d.IsDir() || path == dir:
			f.watch(path)
		case d.Type().IsRegular() && f.holds(tree, path):
			if info, err := d.Info(); err == nil {
				f.next[path] = File{tree, path, info}
			}
		}
		return nil
	})
}

func (f *forest) holds(tree int, path string) bool {
	t := f.trees[tree]
	within, err := filepath.Rel(t.Root, path)
	return err == nil && (t.Holds == nil || t.Holds(filepath.ToSlash(within)))
}

// watch watches a folder, before its files are listed.
func (f *forest) watch(dir string) {
	if f.watched[dir] || f.system == nil {
		return
	}
	switch err := f.attach(f.system, dir); {
	case err == nil:
		f.watched[dir] = true
	case !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, fs.ErrPermission):
		f.refused(err)
	}
}

// collect looks at the files that notifications named.
func (f *forest) collect(ctx context.Context) {
	f.mu.Lock()
	names, lost := f.names, f.lost
	f.names = map[string]bool{}
	f.mu.Unlock()
	if lost {
		f.look(ctx)
		return
	}
	infos := make(map[string]fs.FileInfo, len(names))
	for name := range names {
		info, err := os.Lstat(name)
		infos[name] = info
		if err != nil || info.IsDir() {
			f.forget(name) // it may be another folder than before
		}
	}
	for name, info := range infos {
		for i, t := range f.trees {
			f.noticed(ctx, i, t, name, info)
		}
	}
}

// noticed adds a file that a notification named, or the files of a folder.
func (f *forest) noticed(ctx context.Context, tree int, t Tree, name string, info fs.FileInfo) {
	within := name != t.Root && isWithin(name, t.Root)
	switch {
	case !within && isWithin(t.Root, name): // the root or a folder above it
		f.forget(t.Root)
		f.reach(ctx, tree)
	case !within:
	case info != nil && info.IsDir():
		f.walk(ctx, tree, name)
	case (info == nil || info.Mode().IsRegular()) && f.holds(tree, name):
		f.next[name] = File{tree, name, info}
	}
}

// isWithin reports whether path is dir or below it.
func isWithin(path, dir string) bool {
	rest, ok := strings.CutPrefix(path, dir)
	return ok && (rest == "" || rest[0] == filepath.Separator || strings.HasSuffix(dir, string(filepath.Separator)))
}

// forget stops watching a folder and those below it.
func (f *forest) forget(dir string) {
	for path := range f.watched {
		if isWithin(path, dir) {
			f.system.Remove(path) // it may have ended by itself
			delete(f.watched, path)
		}
	}
}

// hear receives the system's events. It never blocks; see [watcher.hear].
func (f *forest) hear(ctx context.Context, system *fsnotify.Watcher) {
	for {
		select {
		case <-ctx.Done():
			return
		case e, ok := <-system.Events:
			if !ok {
				return
			}
			if e.Op == fsnotify.Chmod || e.Name == "" || !slices.ContainsFunc(f.trees, func(t Tree) bool {
				return isWithin(e.Name, t.Root) || isWithin(t.Root, e.Name)
			}) {
				continue
			}
			f.mu.Lock()
			if len(f.names) < maxNames {
				f.names[e.Name] = true
			} else {
				f.lost = true
			}
			f.mu.Unlock()
		case _, ok := <-system.Errors:
			if !ok {
				return
			}
			f.mu.Lock()
			f.lost = true // fsnotify.ErrEventOverflow, or worse
			f.mu.Unlock()
		}
		select {
		case f.heard <- struct{}{}:
		default:
		}
	}
}

func (f *forest) refused(err error) {
	f.blind = true
	if !f.noted {
		f.noted = true
		f.Note("the system does not report all changes; looking at all files every " + f.Interval.String() + " or less often: " + reason(err))
	}
}

// end stops watching.
func (f *forest) end() {
	if f.system != nil {
		f.system.Close()
		f.system = nil
	}
	f.watched = map[string]bool{}
	f.hearing.Wait()
}
