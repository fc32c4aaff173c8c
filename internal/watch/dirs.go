package watch

import (
	"context"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/fsnotify/fsnotify"
)

// A Change lists directories in which names, contents, types or permissions may have changed.
type Change struct {
	Dirs []string // slash-separated paths relative to the root, "" for the root itself; sorted
	All  bool     // anything may have changed
}

// Dirs sends the directories of a tree in which something may have changed. The root must exist.
// Only subdirectories for which enters returns true are watched; it is called with their path
// relative to the root, also again after changes. It is not called concurrently. A change of a name
// for which rules returns true is one of all, because enters may depend on it. Links are not followed.
//
// The first change has All set, and is sent as soon as the tree is watched. So is one after
// notifications were lost, and one from time to time; see [Trees]. Changes that the caller has not
// received are merged. When ctx is done, the channel is closed and all goroutines end.
func Dirs(ctx context.Context, opts *Options, root string, enters func(within string) bool, rules func(name string) bool) <-chan Change {
	return newDirs(opts, root, enters, rules).start(ctx)
}

type dirs struct {
	*forest
	root    string
	changes chan Change
	enters  func(within string) bool
	rules   func(name string) bool
	next    map[string]bool // the change to be sent, by path
	all     bool
}

func newDirs(opts *Options, root string, enters func(within string) bool, rules func(name string) bool) *dirs {
	d := &dirs{
		forest: newForest(opts, []Tree{{Root: root}}), changes: make(chan Change), enters: enters, rules: rules, next: map[string]bool{},
	}
	d.root = d.trees[0].Root
	return d
}

func (d *dirs) start(ctx context.Context) <-chan Change {
	go func() {
		defer close(d.changes)
		defer d.end()
		d.run(ctx)
	}()
	return d.changes
}

func (d *dirs) run(ctx context.Context) {
	d.wall = time.Now().Round(0)
	d.look(ctx)
	loop[Change]{
		heard: d.heard, out: d.changes,
		next: func() (Change, bool) {
			if d.all {
				return Change{All: true}, true
			}
			return Change{Dirs: slices.Sorted(maps.Keys(d.next))}, len(d.next) > 0
		},
		sent: func() { d.next, d.all = map[string]bool{}, false },
		tick: func() {
			if d.due(time.Now()) {
				d.look(ctx)
			}
		},
		settled: func() { d.collect(ctx) },
	}.run(ctx, &d.Options)
}

// look watches the whole tree anew.
func (d *dirs) look(ctx context.Context) {
	start := time.Now()
	d.mu.Lock()
	d.names, d.lost = map[string]bool{}, false
	d.mu.Unlock()
	d.end() // the system may have lost directories that were moved
	d.blind = false
	if system, err := d.open(); err != nil {
		d.refused(err)
	} else {
		d.system = system
		d.hearing.Go(func() { d.hear(ctx, system) })
	}
	d.all = true
	d.add(ctx, d.root)
	d.looked = time.Now()
	d.took = d.looked.Sub(start)
}

// add watches a directory and those below it, and notes that anything in them may have changed.
func (d *dirs) add(ctx context.Context, dir string) {
	filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		switch within, ok := d.within(path); {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil && e != nil && e.IsDir():
			return fs.SkipDir // removed meanwhile, or unreadable
		case err != nil, !e.IsDir():
			return nil
		case !ok, within != "" && !d.enters(within):
			return fs.SkipDir
		default:
			d.watch(path)
			d.next[within] = true
			return nil
		}
	})
}

// within returns the path of a directory relative to the root.
func (d *dirs) within(path string) (within string, ok bool) {
	rel, err := filepath.Rel(d.root, path)
	if err != nil || rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
		return "", false
	}
	if rel == "." {
		rel = ""
	}
	return filepath.ToSlash(rel), true
}

// collect notes the directories of the names in notifications.
func (d *dirs) collect(ctx context.Context) {
	d.mu.Lock()
	names, lost := d.names, d.lost
	d.names = map[string]bool{}
	d.mu.Unlock()
	for name := range names {
		lost = lost || d.rules(filepath.Base(name))
	}
	if lost {
		d.look(ctx)
		return
	}
	var found []string // directories that were created or moved, or may be others than before
	for name := range names {
		info, err := os.Lstat(name)
		if name == d.root {
			d.next[""] = true
			d.all = d.all || err != nil
			continue
		}
		if within, ok := d.within(filepath.Dir(name)); ok {
			d.next[within] = true
		}
		if err != nil || info.IsDir() {
			d.forget(name) // before it is watched with another name: the system knows it by its number
		}
		if err == nil && info.IsDir() {
			found = append(found, name)
		}
	}
	for _, name := range found {
		if within, ok := d.within(name); ok && d.enters(within) {
			d.add(ctx, name)
		}
	}
}

// hear receives the system's events. It never blocks; see [watcher.hear].
func (d *dirs) hear(ctx context.Context, system *fsnotify.Watcher) {
	for {
		lost, name := false, ""
		select {
		case <-ctx.Done():
			return
		case e, ok := <-system.Events:
			if !ok {
				return
			}
			name = e.Name
		case _, ok := <-system.Errors:
			if !ok {
				return
			}
			lost = true // fsnotify.ErrEventOverflow, or worse
		}
		d.mu.Lock()
		switch {
		case lost || len(d.names) >= maxNames:
			d.lost = true
		case name != "":
			d.names[name] = true
		}
		d.mu.Unlock()
		select {
		case d.heard <- struct{}{}:
		default:
		}
	}
}
