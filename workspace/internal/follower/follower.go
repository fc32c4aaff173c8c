package follower

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/bough-dev/bough/internal/durable"
	"github.com/bough-dev/bough/internal/watch"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace/fault"
	"github.com/bough-dev/bough/workspace/imports"
	"github.com/bough-dev/bough/workspace/internal/importer"
	"github.com/bough-dev/bough/workspace/internal/store"
)

// presence is how often the follower checks that the workspace exists.
const presence = 2 * time.Second

// Follow imports the files of the sources, and then what changes there, until ctx
// ends. See workspace.Follow.
func Follow(ctx context.Context, w *store.Store, sources []imports.Source, o imports.Options) error {
	o.Live, o.DryRun = true, false
	quiet := *w
	quiet.Opts.Progress = func(string, int64, int64) {}
	w = &quiet
	f := &follower{ctx: ctx, store: w, sources: sources, each: o.Each, o: o, files: map[string]*file{}, failed: map[string]string{}}
	f.o.Each = f.row
	var trees []watch.Tree
	for n, source := range sources {
		for _, root := range source.Paths {
			trees = append(trees, watch.Tree{Root: root, Holds: func(within string) bool {
				return source.Holds == nil || source.Holds(databaseOf(within))
			}})
			f.source = append(f.source, n)
		}
	}
	ctx, stop := context.WithCancel(ctx)
	batches := watch.Trees(ctx, &watch.Options{Note: w.Opts.Note}, trees...)
	defer func() {
		stop()
		for range batches {
		}
	}()
	return f.run(batches)
}

type follower struct {
	ctx     context.Context
	store   *store.Store
	sources []imports.Source
	source  []int // of each tree
	each    func(imports.Transcript)
	o       imports.Options

	files    map[string]*file  // by path
	failed   map[string]string // damage in the files of the current import, by path
	tails    importer.Tails
	failures int       // of imports in a row
	free     time.Time // nothing is imported before
	made     bool      // the workspace has existed
	existed  bool      // its sessions folder has existed
	away     bool      // it was reported missing
}

func (f *follower) run(batches <-chan watch.Batch) error {
	present := time.NewTicker(presence)
	defer present.Stop()
	wake := time.NewTimer(0)
	defer wake.Stop()
	if _, err := f.present(); err != nil {
		return err
	}
	for {
		wake.Stop()
		if at, ok := nextWake(f.files, f.free); ok {
			wake.Reset(time.Until(at))
		}
		select {
		case b, open := <-batches:
			if !open {
				return nil
			}
			f.take(b, time.Now())
			continue // more of them may be due at the same time
		case <-present.C:
		case <-wake.C:
		}
		if there, err := f.present(); err != nil {
			return err
		} else if !there {
			f.free = time.Now().Add(presence)
			continue
		}
		f.report(time.Now())
		f.importDue(time.Now())
	}
}

// present reports whether the workspace can be written to. While its sessions
// folder is missing, nothing is written: it would be created again. The error is
// [fault.NotFound] if the workspace is gone.
func (f *follower) present() (bool, error) {
	if _, err := os.Stat(f.store.Dir); errors.Is(err, fs.ErrNotExist) && f.made {
		return false, &fault.Error{Code: fault.NotFound, Message: "the workspace " + f.store.Dir + " is gone", Err: err}
	}
	f.made = f.made || store.Is(f.store.Dir)
	there := f.hasSessions()
	gone := f.existed && !there
	f.existed = f.existed || there
	if gone != f.away {
		f.away = gone
		if gone {
			f.store.Opts.Note(filepath.Join(f.store.Dir, session.Dir) + " is missing; imports resume when it is restored")
		}
	}
	return !gone, nil
}

// hasSessions reports whether the sessions folder of the workspace exists.
func (f *follower) hasSessions() bool {
	_, err := os.Stat(filepath.Join(f.store.Dir, session.Dir))
	return !errors.Is(err, fs.ErrNotExist)
}

// take records the files of a batch.
func (f *follower) take(b watch.Batch, now time.Time) {
	there := map[string]bool{}
	for _, changed := range b.Files {
		path := databaseOf(changed.Path)
		there[path] = true
		known := f.files[path]
		if changed.Info == nil && path == changed.Path {
			delete(f.files, path)
			continue
		}
		id := state{log: durable.Identify(changed.Info)}
		if path == changed.Path {
			id = state{file: durable.Identify(changed.Info)}
		}
		if known != nil && path == changed.Path {
			id.log = known.seen.log
		} else if known != nil {
			id.file = known.seen.file
		}
		switch {
		case known == nil:
			f.files[path] = &file{path: path, tree: changed.Tree, seen: id, changed: now}
		case known.seen != id:
			known.seen, known.changed = id, now
		}
	}
	if b.All {
		maps.DeleteFunc(f.files, func(path string, _ *file) bool { return !there[path] })
	}
}

// importDue imports the files that changed and are due.
func (f *follower) importDue(now time.Time) {
	if now.Before(f.free) {
		return
	}
	var due []*file
	for _, file := range f.files {
		if file.waits() && !now.Before(file.free) {
			due = append(due, file)
		}
	}
	if len(due) == 0 {
		return
	}
	slices.SortFunc(due, func(a, b *file) int { return cmp.Or(a.tree-b.tree, strings.Compare(a.path, b.path)) })
	clear(f.failed)
	if due = f.grow(due); len(due) == 0 {
		return
	}
	err := f.importFiles(due, time.Now())
	if len(due) > 1 && err != nil && !errors.Is(err, fault.Locked) {
		err = f.importEach(due)
	}
	switch {
	case f.ctx.Err() != nil:
	case err == nil:
		f.failures = 0
	default:
		f.failures++
		f.free = time.Now().Add(backoff(f.failures))
		f.store.Opts.Note("importing failed; trying again: " + err.Error())
	}
}

// importEach imports files one by one, because one of them may be what fails. It returns the
// error if several fail in a row.
func (f *follower) importEach(due []*file) error {
	const most = 3
	row := 0
	for i, file := range due {
		err := f.importFiles(due[i:i+1], time.Now())
		if err == nil {
			row = 0
			continue
		}
		if row++; f.ctx.Err() != nil || row == most {
			return err
		}
		f.store.Opts.Note("importing " + file.path + " failed; trying again: " + err.Error())
		file.failed(time.Now())
	}
	return nil
}

// importFiles imports whole files.
func (f *follower) importFiles(due []*file, now time.Time) error {
	list := f.sourcesOf(due)
	as := make([]state, len(due))
	for i, file := range due {
		as[i] = file.seen
	}
	_, err := importer.ImportTails(f.ctx, f.store, list, f.o, &f.tails)
	f.made, f.existed = f.made || store.Is(f.store.Dir), f.existed || f.hasSessions()
	end := time.Now()
	if err != nil {
		return err
	}
	for i, file := range due {
		file.imported(as[i], end, end.Sub(now))
		file.damage = f.failed[file.path]
	}
	return nil
}

// grow imports the new part of the files of which that is certain to suffice, and returns the
// others.
func (f *follower) grow(due []*file) (others []*file) {
	for _, file := range due {
		start, as := time.Now(), file.seen
		r, ok := f.tails.Grow(f.ctx, f.store, file.path)
		if !ok {
			others = append(others, file)
			continue
		}
		f.row(r)
		end := time.Now()
		file.imported(as, end, end.Sub(start))
		file.damage = ""
	}
	return others
}

// sourcesOf returns the sources with files that are due, which are in the order of
// their trees.
func (f *follower) sourcesOf(due []*file) (list []imports.Source) {
	for len(due) > 0 {
		n := f.source[due[0].tree]
		source := f.sources[n]
		source.Paths, source.Holds, source.Found = nil, nil, true
		for len(due) > 0 && f.source[due[0].tree] == n {
			source.Paths = append(source.Paths, due[0].path)
			due = due[1:]
		}
		list = append(list, source)
	}
	return list
}

// row passes on the result for a conversation that changed, without damage, which
// is reported when the file has not changed for a while.
func (f *follower) row(r imports.Transcript) {
	damage := strings.Join(r.Problems, "; ")
	if r.Status == imports.Failed {
		damage = cmp.Or(r.Detail, damage)
	}
	if damage != "" {
		f.failed[r.Path] = damage
	}
	r.Problems = nil
	if r.Status != imports.New && r.Status != imports.Updated {
		return
	}
	f.made, f.existed = true, true // even if the workspace is removed before the import ends
	if f.each != nil {
		f.each(r)
	}
}

// report reports damage of files that do not change, once.
func (f *follower) report(now time.Time) {
	for _, path := range slices.Sorted(maps.Keys(f.files)) {
		file := f.files[path]
		at, ok := file.unreported()
		if !ok || file.waits() || now.Before(at) {
			continue
		}
		file.reported = file.damage
		if f.each != nil {
			f.each(imports.Transcript{Path: path, Status: imports.Failed, Detail: file.damage})
		}
	}
}
