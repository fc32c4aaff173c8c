package scan

import (
	"cmp"
	"context"
	"path"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/bough-dev/bough/internal/pack"
)

const (
	maxDepth  = 2048      // of directories; a path has at most 4,096 bytes on most systems
	maxSource = 100 << 20 // maximum size of a source of rules in bytes; git reads no larger ones
)

// A dir is a directory that is being listed, or was.
type dir struct {
	parent *dir // nil for the folder itself
	name   string
	path   string // "" of the folder itself
	depth  int
	rules  Rules
	mode   uint32
	old    record // in the cache
	cached bool   // there is old
	before uint32 // mode in the cache
	was    flag   // in the cache
	known  bool   // the cache has its name

	same    bool    // it is as the cache has it
	entries []entry // what it holds, in the order of the listing; nil if same
	subs    []*dir  // in that order
	absent  bool    // it is no part of the state
	kept    bool    // it was not read, because nothing changed in it
	left    []Left

	handle *folder
	users  atomic.Int32 // directories that still need handle
	open   atomic.Int32 // this listing and subdirectories that are not finished

	large    atomic.Bool
	held     totals // in it and below
	everyone totals // held and in directories that are too large
}

// totals count files and their bytes.
type totals struct{ files, bytes atomic.Int64 }

func (t *totals) add(files, bytes int64) {
	t.files.Add(files)
	t.bytes.Add(bytes)
}

// An entry is a name that a directory holds.
type entry struct {
	name   string
	stat   stat
	id     pack.ID
	size   int64 // of the object
	known  bool  // id and size are those of the present content
	flag   flag  // for the next cache
	absent bool  // it is no part of the state
	sub    *dir  // of a directory
}

// A walk lists directories concurrently, those first that were found last, so that few are
// open at a time.
type walk struct {
	*Scan
	ctx     context.Context
	sources map[string]bool
	changed map[string]bool // directories that must be read, nil for all
	over    atomic.Bool     // there are more files than the limit

	mu    sync.Mutex
	more  sync.Cond
	stack []*dir
	busy  int // number of directories that are being listed
	err   error
}

func (s *Scan) walk(ctx context.Context) error {
	handle, err := openFolder(s.dir)
	if err != nil {
		return err
	}
	w := &walk{Scan: s, ctx: ctx, sources: map[string]bool{}}
	w.more.L = &w.mu
	for _, name := range s.opts.Rules.Sources() {
		w.sources[name] = true
	}
	w.changed = s.changed()
	s.root = &dir{handle: handle}
	if s.cache != nil {
		s.root.old, s.root.cached = s.cache.record(s.cache.root)
	}
	w.stack = []*dir{s.root}
	var working sync.WaitGroup
	for range min(2*runtime.GOMAXPROCS(0), 16) {
		working.Go(func() {
			l := &listing{walk: w}
			for d := w.pop(); d != nil; d = w.pop() {
				w.push(d, l.list(d))
			}
		})
	}
	working.Wait()
	return w.failed()
}

// pop returns the next directory, nil at the end.
func (w *walk) pop() *dir {
	w.mu.Lock()
	defer w.mu.Unlock()
	for len(w.stack) == 0 && w.busy > 0 {
		w.more.Wait()
	}
	n := len(w.stack)
	if n == 0 {
		w.more.Broadcast()
		return nil
	}
	d := w.stack[n-1]
	w.stack = w.stack[:n-1]
	w.busy++
	return d
}

// push ends the listing of d, and makes its subdirectories the next ones.
func (w *walk) push(d *dir, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err == nil {
		w.err = err
	}
	w.stack = append(w.stack, d.subs...)
	w.busy--
	if len(d.subs) > 1 || w.busy == 0 {
		w.more.Broadcast()
	}
	if d.handle != nil {
		d.release()
	}
	w.finish(d)
}

// failed returns the error that ends the walk. The directories that were found are closed.
func (w *walk) failed() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err == nil && w.over.Load() {
		w.err = &CountError{w.opts.Files}
	}
	return cmp.Or(w.err, w.ctx.Err())
}

// release closes the handle of d if no directory needs it any more.
func (d *dir) release() {
	if d.users.Add(-1) == 0 {
		d.handle.close()
	}
}

// finish is called when d, or a subdirectory of it, is finished.
func (w *walk) finish(d *dir) {
	for ; d != nil && d.open.Add(-1) == 0; d = d.parent {
		w.conclude(d)
	}
}

// conclude decides about d, of which all subdirectories are finished.
func (w *walk) conclude(d *dir) {
	for _, sub := range d.subs {
		if sub.absent != (sub.was == left) || !sub.absent && (!sub.same || sub.mode != sub.before) {
			d.differ(d.old.entries)
		}
	}
	files, bytes := d.everyone.files.Load(), d.everyone.bytes.Load()
	if d.large.Load() {
		d.absent, d.entries, d.subs = true, nil, nil
		d.left = []Left{{d.path, FolderLarge, int(files), bytes}}
	}
	if d.rules != nil && d.rules.Hollow() && d.held.files.Load() == 0 {
		d.absent, d.entries = true, nil
	}
	if d.parent == nil {
		return
	}
	d.parent.everyone.add(files, bytes)
	if !d.absent {
		w.hold(d.parent, d.held.files.Load(), d.held.bytes.Load())
	}
}

// hold counts files that d holds.
func (w *walk) hold(d *dir, files, bytes int64) {
	d.held.add(files, bytes)
	n := d.held.files.Load()
	switch {
	case d.parent != nil && !d.rules.Tracked():
		if n > int64(w.opts.FolderFiles) || d.held.bytes.Load() > w.opts.FolderBytes {
			d.large.Store(true)
		}
	case n > int64(w.opts.Files):
		w.over.Store(true)
	}
}

// hidden reports whether d is in a directory that is too large.
func (d *dir) hidden() bool {
	for ; d != nil; d = d.parent {
		if d.large.Load() {
			return true
		}
	}
	return false
}

// leave leaves a name out of d.
func (d *dir) leave(name string, why Reason, files int, bytes int64) {
	d.left = append(d.left, Left{path.Join(d.path, name), why, files, bytes})
}

// remove omits d itself.
func (d *dir) remove(why Reason) {
	d.absent, d.left, d.entries, d.subs = true, nil, nil, nil
	if why != "" {
		d.left = []Left{{d.path, why, 0, 0}}
	}
}

// differ makes entries of the first n ones of the cache, which d has too. The others may
// differ.
func (d *dir) differ(n int) {
	if !d.same {
		return
	}
	d.same = false
	subs := d.subs
	at := d.old.at
	for range n {
		e, next, ok := d.old.entry(at)
		if !ok {
			return
		}
		at = next
		held := entry{name: string(e.name), stat: e.stat, id: e.id, size: e.stat.size, known: true, flag: settled}
		if e.stat.kind() == typeDir {
			held.sub, subs = subs[0], subs[1:]
		}
		d.entries = append(d.entries, held)
	}
}
