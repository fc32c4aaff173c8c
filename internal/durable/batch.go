package durable

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"slices"
	"sync"
	"time"
)

// ErrChanged is behind the error for a file that is not what [Batch.Expect] said:
// another program changed it. What that program wrote is untouched.
var ErrChanged = errors.New("another program changed it meanwhile")

// A PartialError says that only the first operations of a [Batch] were made: the
// next one failed, and it and those after it changed nothing.
type PartialError struct {
	Made int // how many were made
	Err  error
}

func (e *PartialError) Error() string { return e.Err.Error() }
func (e *PartialError) Unwrap() error { return e.Err }

// A Batch is files that change together: some are written, some get another
// name. Nobody sees any of it until [Batch.Commit]. A batch that is not committed
// must be discarded.
//
// A batch holds one operation, or several, see [Batch.Begin]. The first file of an
// operation decides whether the operation happens; its other files follow.
type Batch struct {
	// Around, if it is not nil, is called with every function that makes, renames
	// or removes a file, and has to call it.
	Around func(func() error) error

	// Named, if it is not nil, is called when the first file has its name, with
	// what the file system says of it, while the disk is busy with that.
	Named func(fs.FileInfo)

	root    *os.Root
	changes []*change
	ops     int  // operations that have a change
	goesOn  bool // the next change belongs to the last of them
	log     *logLines
}

// NewBatch returns an empty batch of files inside root.
func NewBatch(root *os.Root) *Batch { return &Batch{root: root} }

// Len returns how many files are in the batch.
func (b *Batch) Len() int { return len(b.changes) }

// Begin begins another operation: the next file that is put into the batch decides
// whether it happens. It does nothing if the current one has no file.
func (b *Batch) Begin() { b.goesOn = false }

// Touches reports whether the batch changes the file name, or moves a file there.
func (b *Batch) Touches(name string) bool {
	return slices.ContainsFunc(b.changes, func(c *change) bool {
		return c.name == name || c.target == name || c.moves() && c.from == name
	})
}

// Replace puts a file into the batch that will take the place of name, or be it.
// It returns what the file system says of the file before it has its name. The new
// file has the access of the one that it replaces, or less where the system refuses:
// its owner, permissions and extended attributes. A symbolic link stays, and the file
// that it names is replaced.
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

// Create puts a new file into the batch. The error is [fs.ErrExist] if there is
// something of that name.
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

// absent returns an error, [fs.ErrExist], if there is something of that name.
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

// Derive puts a file into the batch as Replace does, one that follows from those of
// all operations and may be older than they are after a crash. It need not wait
// until they are there to stay. It is not changed if an operation fails.
func (b *Batch) Derive(name string, write func(*Writer) error) (fs.FileInfo, error) {
	info, err := b.Replace(name, write)
	if c := b.changes; err == nil && len(c) > 1 {
		b.forgetOperation(b.last())
		b.last().rank, b.last().op = derived, 0
	}
	return info, err
}

// Move puts into the batch that the file from gets the name to, which must be
// free, in a folder that is there.
func (b *Batch) Move(from, to string) error {
	if _, err := b.root.Lstat(from); err != nil {
		return err
	}
	if err := absent(b.root, "move", to); err != nil {
		return err
	}
	return b.add(&change{name: to, target: to, from: from, created: true})
}

// Expect makes sure that the file that came last into the batch takes the place
// of the one that id identifies, the zero Identity for none, and of no other:
// else the commit fails with [ErrChanged].
func (b *Batch) Expect(id Identity) { b.last().expect = &id }

// Touch sets the modification time of the file that came last into the batch.
func (b *Batch) Touch(t time.Time) error { return Touch(b.root, b.last().from, t) }

// Log adds lines to the file name as [Append] does: one for each operation of the
// batch, in their order. They are safe before any file has its name, and those of
// operations that fail are taken back; after a crash any of them may be there
// although its operation did not happen. When all is done an empty line follows
// them, for which nobody waits. A batch has such lines once.
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
			return &fs.PathError{Op: "replace", Path: name, Err: errors.New("changes twice at once")}
		}
	}
	if c.rank = follows; !b.goesOn {
		c.rank = decides
		b.ops++
	}
	b.goesOn = true
	c.op = b.ops - 1
	b.changes = append(b.changes, c)
	return nil
}

// forgetOperation takes back that c, the last change, began an operation.
func (b *Batch) forgetOperation(c *change) {
	if c.rank == decides {
		b.ops--
		b.goesOn = false
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
	err = b.around(func() error {
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

func (b *Batch) around(f func() error) error {
	if b.Around == nil {
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
	b.around(func() error { return unlink(b.root, c.from) })
}

// Discard removes all that is not committed.
func (b *Batch) Discard() {
	for _, c := range b.changes {
		if !c.done {
			b.drop(c)
		}
	}
	b.changes, b.ops, b.goesOn = nil, 0, false
	b.log.close(false)
	b.log = nil
}

// Commit makes the changes. When it returns without err the first one of each
// operation is there to stay, and then the others are made, which follow from it:
// what goes wrong with those is later. With err, which is ctx's if that ended while
// the disk was writing, nothing that anybody may rely on has changed; but a
// *[PartialError] says that the operations before the one that failed are made. It
// returns what the file system says of each file, nil for one that was not changed.
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

// rename gives all files their names: the first one of each operation and what is
// derived, then, when these are there to stay, the others.
func (b *Batch) rename() (infos []fs.FileInfo, later, err error) {
	r := &renaming{Batch: b, infos: make([]fs.FileInfo, len(b.changes))}
	failed := b.around(r.first)
	if r.made == 0 {
		return nil, nil, failed
	}
	log := b.log
	b.log = nil
	defer log.close(true)
	if failed != nil {
		r.later = log.cut(r.made)
		failed = &PartialError{r.made, failed}
	}
	var told sync.WaitGroup
	if b.Named != nil {
		told.Go(func() { b.Named(r.infos[0]) })
	}
	err = syncDirs(b.root, r.dirs)
	told.Wait()
	if err != nil {
		return nil, nil, err
	}
	r.dirs = nil
	if len(b.changes) > r.made {
		b.around(func() error {
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

// A renaming is a batch whose files get their names.
type renaming struct {
	*Batch
	infos []fs.FileInfo
	made  int      // operations whose first file has its name
	dirs  []string // that changed and are not safe
	later error
}

func (r *renaming) name(i int) (err error) {
	if r.infos[i], err = r.changes[i].make(r.root); err == nil {
		r.dirs = append(r.dirs, r.changes[i].dirs()...)
	}
	return err
}

// first names the first file of each operation until one fails, else then what is
// derived from all of them.
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

// rest names the files of a rank of those operations that are made.
func (r *renaming) rest(rank rank) {
	for i, c := range r.changes {
		if c.rank == rank && c.op < r.made {
			r.later = cmp.Or(r.later, r.name(i))
		}
	}
}

// syncDirs waits until the names in folders are safe.
func syncDirs(root *os.Root, dirs []string) error {
	slices.Sort(dirs)
	return each(slices.Compact(dirs), func(dir string) error { return syncDir(root, dir) })
}

// sync waits until the bytes of all files are safe, and the lines of the log.
func (b *Batch) sync() error {
	waits := make([]func() error, 0, len(b.changes)+1)
	if b.log != nil {
		waits = append(waits, b.log.sync)
	}
	for _, c := range b.changes {
		if c.file != nil {
			waits = append(waits, func() error {
				defer c.ahead.close()
				return c.file.Sync()
			})
		}
	}
	return each(waits, func(wait func() error) error { return wait() })
}

// each calls f for every element, for all of them at once, and returns the error
// of the first that has one.
func each[T any](list []T, f func(T) error) error {
	errs := make([]error, len(list))
	var all sync.WaitGroup
	for i, v := range list {
		if i == len(list)-1 || seam.Load() != nil {
			errs[i] = f(v) // nothing else is left to do meanwhile
		} else {
			all.Go(func() { errs[i] = f(v) })
		}
	}
	all.Wait()
	return cmp.Or(errs...)
}

// only commits a batch of one file.
func (b *Batch) only() (fs.FileInfo, error) {
	infos, _, err := b.Commit(context.Background())
	if err != nil {
		return nil, err
	}
	return infos[0], nil
}
