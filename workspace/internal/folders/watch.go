package folders

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/bough-dev/bough/internal/coverage"
	"github.com/bough-dev/bough/internal/durable"
	"github.com/bough-dev/bough/internal/states"
	"github.com/bough-dev/bough/internal/watch"
	"github.com/bough-dev/bough/workspace/fault"
	"github.com/bough-dev/bough/workspace/files"
	"github.com/bough-dev/bough/workspace/internal/store"
)

const (
	settling  = 200 * time.Millisecond // without changes before a state is taken
	latest    = 2 * time.Second        // from the first change to the state
	lookAgain = 30 * time.Second       // between looks at all files if the system reports no changes
	retrying  = time.Second            // after another process had a lock
)

// A following is a folder that is watched.
type following struct {
	folder *Folder
	memo   *states.Memo

	changed []string // directories, nil if anything may have changed
	always  bool     // the next state is taken although nothing changed

	mu      sync.Mutex // for the goroutine that watches
	rules   *coverage.Coverage
	judge   *coverage.Judge
	sources map[string]durable.Identity // files outside of the folder that the rules depend on
}

// Watch takes a state of the folder dir whenever something in it changed and settled, and for each
// wish that it receives, until ctx ends. A state that is not wished for is one at a checkpoint, so
// that it may be pruned, and belongs to the message of the last wish. A wish without At takes no state. taken is called with each state.
func Watch(ctx context.Context, w *store.Store, dir string, wishes <-chan Wish, taken func(*files.State)) error {
	f, err := Find(ctx, w, dir)
	if err != nil {
		return err
	}
	if err := f.check(); err != nil {
		return err
	}
	quiet := *w
	quiet.Opts.Progress = func(string, int64, int64) {}
	fo := &following{folder: f}
	fo.coverage()
	ctx, stop := context.WithCancel(ctx)
	changes := watch.Dirs(ctx, &watch.Options{Interval: lookAgain, Settle: settling, Latest: latest, Note: w.Opts.Note}, f.Path, fo.enters, fo.isSource)
	defer func() {
		stop()
		for range changes {
		}
	}()
	var todo []Wish
	var newest Wish
	retry := time.NewTimer(0)
	retry.Stop()
	defer retry.Stop()
	for {
		select {
		case c, ok := <-changes:
			if !ok {
				return nil
			}
			fo.add(c)
			if n := len(todo); n == 0 || todo[n-1].At != "" {
				todo = append(todo, Wish{})
			}
		case want := <-wishes:
			newest = want
			if want.At != "" {
				todo = append(todo, want)
			}
		case <-retry.C:
		}
		for len(todo) > 0 {
			st, err := fo.take(ctx, &quiet, todo[0], newest)
			if errors.Is(err, fault.Locked) || errors.Is(err, fault.Busy) {
				retry.Reset(retrying)
				break
			}
			if ctx.Err() != nil {
				return nil
			}
			if err != nil {
				return err
			}
			if todo = todo[1:]; st != nil {
				taken(st)
			}
		}
	}
}

// take takes a state, and returns nil if nothing changed and none was wished for.
func (fo *following) take(ctx context.Context, w *store.Store, want, newest Wish) (*files.State, error) {
	if fo.always = want.At != ""; !fo.always {
		want = Wish{At: states.Checkpoint, Session: newest.Session, Message: newest.Message}
	}
	want.Link, want.follow = true, fo
	if fo.changed == nil || fo.isOutdated() {
		fo.changed = nil
		fo.renew()
	}
	if err := fo.folder.isThere(); err != nil {
		return nil, err
	}
	taken, err := fo.folder.take(ctx, w, "watch", want)
	if err != nil || taken == nil {
		return nil, err
	}
	return taken.State, nil
}

// isThere returns an error if f is no longer at its path.
func (f *Folder) isThere() error {
	real, identity, err := states.IdentityOf(f.Path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) || err == nil && real == f.Path && identity.File == f.Identity.File {
		return err
	}
	return &fault.Error{
		Code: fault.NotFound, Message: f.Path + " is no longer there: it was renamed, removed or replaced", Err: err,
		Hint: "if it was renamed, its new path continues its states",
	}
}

// add notes what changed.
func (fo *following) add(c watch.Change) {
	switch {
	case c.All:
		fo.changed = nil
	case fo.changed != nil:
		for _, dir := range c.Dirs {
			if !slices.Contains(fo.changed, dir) {
				fo.changed = append(fo.changed, dir)
			}
		}
	}
}

// skips reports whether no state is needed, because nothing changed.
func (fo *following) skips(d *states.Draft) bool {
	if fo == nil || fo.always || !d.Unchanged() {
		return false
	}
	fo.took(d, nil)
	return true
}

// took records a draft that was committed or is not needed. After an error, everything is read
// again.
func (fo *following) took(d *states.Draft, err error) {
	if fo == nil {
		return
	}
	fo.changed, fo.memo = nil, nil
	if err == nil {
		if fo.memo = d.Memo(); fo.memo != nil {
			fo.changed = []string{}
		}
	}
}

// coverage returns the rules of the folder.
func (fo *following) coverage() *coverage.Coverage {
	fo.mu.Lock()
	defer fo.mu.Unlock()
	if fo.rules == nil {
		fo.rules = coverage.Look(fo.folder.Path, coverage.Options{Env: os.Getenv})
		fo.judge = coverage.NewJudge(fo.rules, fo.folder.sources)
		fo.sources = outside(fo.rules)
	}
	return fo.rules
}

// isOutdated reports whether the index or the patterns of the repository changed since the rules
// were made, or a file in the folder that they depend on.
func (fo *following) isOutdated() bool {
	fo.mu.Lock()
	defer fo.mu.Unlock()
	return fo.rules == nil || !maps.Equal(outside(fo.rules), fo.sources)
}

// renew lets the rules be made anew.
func (fo *following) renew() {
	fo.mu.Lock()
	defer fo.mu.Unlock()
	fo.rules = nil
}

// outside returns the identities of the files of a repository that rules depend on.
func outside(rules *coverage.Coverage) map[string]durable.Identity {
	list := map[string]durable.Identity{}
	if r := rules.Repository; r != nil {
		for _, name := range []string{filepath.Join(r.Dir, "index"), filepath.Join(r.Common, "info", "exclude")} {
			list[name] = durable.Identity{}
			if info, err := os.Stat(name); err == nil {
				list[name] = durable.Identify(info)
			}
		}
	}
	return list
}

// enters reports whether a directory can have files of a state.
func (fo *following) enters(dir string) bool {
	fo.coverage()
	fo.mu.Lock()
	defer fo.mu.Unlock()
	return fo.judge.Enters(dir)
}

// isSource reports whether the rules depend on files with a name, of which one changed. Then they
// are made anew.
func (fo *following) isSource(name string) bool {
	if !fo.coverage().IsSource(name) {
		return false
	}
	fo.renew()
	return true
}
