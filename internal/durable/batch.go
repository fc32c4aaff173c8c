package durable

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"slices"
	"sync"
	"time"
)

// ErrChanged is the error for a file that differs from [Batch.Expect]: another
// program changed it, and the file of that program is kept.
var ErrChanged = errors.New("another program changed it meanwhile")

// A PartialError reports that a [Batch] was committed up to an operation that
// failed. The failed operation and all later ones changed nothing.
type PartialError struct {
	Made int // number of committed operations
	Err  error
}

func (e *PartialError) Error() string { return e.Err.Error() }
func (e *PartialError) Unwrap() error { return e.Err }

// A Batch is a set of file changes that are committed together. None of them is
// visible before [Batch.Commit]. A batch that is not committed must be discarded.
//
// A batch holds one or more operations, see [Batch.Begin]. The first file of an
// operation decides whether the operation happens; its other files follow.
type Batch struct {
	// Around, if not nil, is called with every function that creates, renames or
	// removes a file in Folder, and must call it.
	Around func(func() error) error
	Folder string

	// Named, if not nil, is called with the FileInfo of the first file after its
	// rename, while the folder is being fsynced.
	Named func(fs.FileInfo)

	root    *os.Root
	changes []*change
	ops     int  // number of operations with a change
	sameOp  bool // the next change belongs to the last operation
	log     *logLines

	extensions []*extension
}

// NewBatch returns an empty batch for files in root.
func NewBatch(root *os.Root) *Batch { return &Batch{root: root} }

// Len returns the number of files in the batch.
func (b *Batch) Len() int { return len(b.changes) }

// Begin begins another operation: the next file that is added decides whether it
// happens. It does nothing if the current operation has no file.
func (b *Batch) Begin() { b.sameOp = false }

// Touches reports whether the batch changes or moves the file name, or moves a file
// to it.
func (b *Batch) Touches(name string) bool {
	return slices.ContainsFunc(b.changes, func(c *change) bool {
		return c.name == name || c.target == name || c.moves() && c.from == name
	})
}

// Replace adds a file that replaces name, or creates it. It returns the FileInfo of
// the temporary file. The new file has the owner, permissions and extended
// attributes of the replaced one, or fewer permissions if the system refuses those.
// If name is a symbolic link, its target is replaced.
func (b *Batch) Replace(name string, write func(*Writer) error) (fs.FileInfo, error) {
	target, err := resolve(b.root, name)
	if err != nil {
		return nil, err
	}
	access := newAccess(b.root, target)
	switch info, err := b.root.Lstat(target); {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, &NotRegularError{Op: "replace", Path: name, Mode: info.Mode()}
	default:
		access = accessOf(b.root, target, info)
	}
	return b.stage(&change{name: name, target: target}, access, write)
}

// Create adds a new file. The error is [fs.ErrExist] if the name is in use.
func (b *Batch) Create(name string, write func(*Writer) error) (fs.FileInfo, error) {
	if err := absent(b.root, "create", name); err != nil {
		return nil, err
	}
	info, err := b.stage(&change{name: name, target: name}, newAccess(b.root, name), write)
	if err == nil {
		b.last().created = true
	}
	return info, err
}

// absent returns an error if the name is in use, [fs.ErrExist] if it exists.
func absent(root *os.Root, op, name string) error {
	_, err := root.Lstat(name)
	switch {
	case err == nil:
		return &fs.PathError{Op: op, Path: name, Err: fs.ErrExist}
	case errors.Is(err, fs.ErrNotExist):
		return nil
	}
	return err
}

// Derive adds a file as Replace does, one whose content follows from the files of
// all operations and that may be out of date after a crash. So its rename does not
// wait until the others are durable. It is not changed if an operation fails.
func (b *Batch) Derive(name string, write func(*Writer) error) (fs.FileInfo, error) {
	info, err := b.Replace(name, write)
	if c := b.changes; err == nil && len(c) > 1 {
		b.forgetOperation(b.last())
		b.last().rank, b.last().op = derived, 0
	}
	return info, err
}

// Move adds a rename of the file from to the name to, which must not exist, in an
// existing folder.
func (b *Batch) Move(from, to string) error {
	if _, err := b.root.Lstat(from); err != nil {
		return err
	}
	if err := absent(b.root, "move", to); err != nil {
		return err
	}
	return b.add(&change{name: to, target: to, from: from, created: true})
}

// Expect makes the commit fail with [ErrChanged] unless the last added file
// replaces exactly the file that id identifies; the zero Identity means that no
// file exists.
func (b *Batch) Expect(id Identity) { b.last().expect = &id }

// Touch sets the modification time of the last added file.
func (b *Batch) Touch(t time.Time) error { return Touch(b.root, b.last().from, t) }

// Log appends lines to the file name as [Append] does: one for each operation of
// the batch, in their order. They are durable before any file is renamed. Lines of
// failed operations are removed, but after a crash a line may exist although its
// operation did not happen. After the commit an empty line is appended, without
// fsync. Log may be called once per batch.
func (b *Batch) Log(name string, lines ...[]byte) error {
	l, err := openLog(b.root, name)
	if err == nil {
		b.log = l
		err = l.add(lines...)
	}
	return err
}

func (b *Batch) last() *change { return b.changes[len(b.changes)-1] }

func (b *Batch) add(c *change) error {
	for _, name := range []string{c.name, c.target, c.from} {
		if name != "" && b.Touches(name) {
			return &fs.PathError{Op: "replace", Path: name, Err: errors.New("two changes of one file in a batch")}
		}
	}
	if c.rank = follows; !b.sameOp {
		c.rank = decides
		b.ops++
	}
	b.sameOp = true
	c.op = b.ops - 1
	b.changes = append(b.changes, c)
	return nil
}

// forgetOperation removes the operation that c, the last change, began.
func (b *Batch) forgetOperation(c *change) {
	if c.rank == decides {
		b.ops--
		b.sameOp = false
	}
}

func (b *Batch) stage(c *change, access access, write func(*Writer) error) (info fs.FileInfo, err error) {
	if err := b.add(c); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			b.drop(c)
			b.forgetOperation(c)
			b.changes = b.changes[:len(b.changes)-1]
		}
	}()
	err = b.around([]string{path.Dir(c.name)}, func() error {
		c.file, c.from, err = openTemp(b.root, c.name)
		return err
	})
	if err != nil {
		return nil, err
	}
	f := c.file
	if err := f.setAccess(access); err != nil && !errors.Is(err, errors.ErrUnsupported) {
		return nil, err
	}
	c.ahead = &aheadWriter{file: f}
	if err := fill(f, c.ahead, write); err != nil {
		return nil, err
	}
	return f.os.Stat()
}

// around calls f, which changes names in folders.
func (b *Batch) around(folders []string, f func() error) error {
	if b.Around == nil || !slices.Contains(folders, b.Folder) {
		return f()
	}
	return b.Around(f)
}

// drop removes the temporary file of a change.
func (b *Batch) drop(c *change) {
	if c.file == nil {
		return
	}
	c.ahead.close()
	c.file.os.Close()
	b.around([]string{path.Dir(c.from)}, func() error { return unlink(b.root, c.from) })
}

// Discard removes the temporary files of all changes that are not committed.
func (b *Batch) Discard() {
	for _, c := range b.changes {
		if !c.done {
			b.drop(c)
		}
	}
	b.changes, b.ops, b.sameOp = nil, 0, false
	b.log.close(false)
	b.log = nil
	b.release(false)
}

// release closes the extended files, and removes what was added unless keep is true.
func (b *Batch) release(keep bool) {
	for _, e := range b.extensions {
		e.close(b, keep)
	}
	b.extensions = nil
}

// Commit makes the changes. If err is nil, the first change of each operation is
// durable, and then the other changes were made; errors of these are returned as
// later. If err is not nil, nothing relevant has changed, with two exceptions: if it
// is a *[PartialError], the operations before the failed one were made; if the fsync
// of a folder failed, the first files and the derived ones have their names, and it
// is unknown whether a power failure undoes that. err is that of ctx if ctx ended
// before the renames. infos has the FileInfo of each file, nil
// if it was not changed.
func (b *Batch) Commit(ctx context.Context) (infos []fs.FileInfo, later, err error) {
	defer b.Discard()
	if err := cmp.Or(b.sync(), ctx.Err()); err != nil {
		return nil, nil, err
	}
	for _, c := range b.changes {
		if err := c.check(b.root); err != nil {
			return nil, nil, err
		}
	}
	return b.rename()
}

// rename renames all files: first the first file of each operation and derived
// files, then, when these are durable, the others.
func (b *Batch) rename() (infos []fs.FileInfo, later, err error) {
	r := &renaming{Batch: b, infos: make([]fs.FileInfo, len(b.changes))}
	failed := b.around(r.folders(decides, derived), r.first)
	if r.made == 0 {
		return nil, nil, failed
	}
	log := b.log
	b.log = nil
	defer log.close(true)
	b.release(true)
	if failed != nil {
		r.later = log.cut(r.made)
		failed = &PartialError{r.made, failed}
	}
	var named sync.WaitGroup
	if b.Named != nil {
		named.Go(func() { b.Named(r.infos[0]) })
	}
	err = syncDirs(b.root, r.dirs)
	named.Wait()
	if err != nil {
		return nil, nil, err
	}
	r.dirs = nil
	if len(b.changes) > r.made {
		b.around(r.folders(follows), func() error {
			r.rest(follows)
			return nil
		})
	}
	for _, c := range b.changes {
		r.later = cmp.Or(r.later, c.left)
	}
	if r.later = cmp.Or(r.later, syncDirs(b.root, r.dirs)); r.later == nil {
		log.complete()
	}
	return r.infos, r.later, failed
}

// A renaming is the rename phase of a batch.
type renaming struct {
	*Batch
	infos []fs.FileInfo
	made  int      // number of operations whose first file is renamed
	dirs  []string // changed folders that are not yet fsynced
	later error
}

func (r *renaming) name(i int) (err error) {
	if r.infos[i], err = r.changes[i].make(r.root); err == nil {
		r.dirs = append(r.dirs, r.changes[i].dirs()...)
	}
	return err
}

// folders returns the folders that the changes with a rank in ranks change.
func (r *renaming) folders(ranks ...rank) (list []string) {
	for _, c := range r.changes {
		if slices.Contains(ranks, c.rank) {
			list = append(list, c.dirs()...)
		}
	}
	return list
}

// first renames the first file of each operation until one fails. If none fails, it
// renames the derived files.
func (r *renaming) first() error {
	for i, c := range r.changes {
		if c.rank == decides {
			if err := r.name(i); err != nil {
				return err
			}
			r.made++
		}
	}
	r.rest(derived)
	return nil
}

// rest renames the files with a rank of the operations that were made.
func (r *renaming) rest(rank rank) {
	for i, c := range r.changes {
		if c.rank == rank && c.op < r.made {
			r.later = cmp.Or(r.later, r.name(i))
		}
	}
}

// syncDirs fsyncs folders.
func syncDirs(root *os.Root, dirs []string) error {
	slices.Sort(dirs)
	return each(slices.Compact(dirs), func(dir string) error { return syncDir(root, dir) })
}

// sync waits until the temporary files and the lines of the log are durable.
func (b *Batch) sync() error {
	waits := make([]func() error, 0, len(b.changes)+1)
	if b.log != nil {
		waits = append(waits, b.log.sync)
	}
	for _, e := range b.extensions {
		waits = append(waits, e.sync)
	}
	for _, c := range b.changes {
		if c.file != nil && !c.flushed {
			waits = append(waits, func() error {
				defer c.ahead.close()
				return c.file.Sync()
			})
		}
	}
	return each(waits, func(wait func() error) error { return wait() })
}

// each calls f for all elements concurrently and returns the first error in the
// order of list.
func each[T any](list []T, f func(T) error) error {
	errs := make([]error, len(list))
	var all sync.WaitGroup
	for i, v := range list {
		if i == len(list)-1 || seam.Load() != nil {
			errs[i] = f(v) // nothing else to wait for
		} else {
			all.Go(func() { errs[i] = f(v) })
		}
	}
	all.Wait()
	return cmp.Or(errs...)
}

// commitOne commits a batch of one file.
func (b *Batch) commitOne() (fs.FileInfo, error) {
	infos, _, err := b.Commit(context.Background())
	if err != nil {
		return nil, err
	}
	return infos[0], nil
}
