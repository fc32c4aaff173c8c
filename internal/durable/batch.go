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

// A Batch is files that change together: some are written, some get another
// name. Nobody sees any of it until [Batch.Commit]. A batch that is not committed
// must be discarded.
type Batch struct {
	// Around, if it is not nil, is called with every function that makes, renames
	// or removes a file, and has to call it.
	Around func(func() error) error

	// Named, if it is not nil, is called when the first file has its name, with
	// what the file system says of it, while the disk is busy with that.
	Named func(fs.FileInfo)

	root    *os.Root
	changes []*change
	log     *logLine
}

// NewBatch returns an empty batch of files inside root.
func NewBatch(root *os.Root) *Batch { return &Batch{root: root} }

// Len returns how many files are in the batch.
func (b *Batch) Len() int { return len(b.changes) }

// Replace puts a file into the batch that will take the place of name, or be it.
// It returns what the file system says of the file before it has its name. An
// existing file keeps its permissions.
func (b *Batch) Replace(name string, write func(*Writer) error) (fs.FileInfo, error) {
	mode, err := modeOf(b.root, name)
	if err != nil {
		return nil, err
	}
	return b.stage(name, mode, write)
}

// Create puts a new file into the batch. The error is [fs.ErrExist] if there is
// something of that name.
func (b *Batch) Create(name string, write func(*Writer) error) (fs.FileInfo, error) {
	if err := absent(b.root, "create", name); err != nil {
		return nil, err
	}
	info, err := b.stage(name, Mode, write)
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

// Derive puts a file into the batch as Replace does, one that follows from others
// and may be older than they are after a crash. It need not wait until they are
// there to stay.
func (b *Batch) Derive(name string, write func(*Writer) error) (fs.FileInfo, error) {
	info, err := b.Replace(name, write)
	if err == nil {
		b.last().derived = true
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
	return b.add(&change{name: to, from: from, created: true})
}

// Expect makes sure that the file that came last into the batch takes the place
// of the one that id identifies, the zero Identity for none, and of no other:
// else the commit fails with [ErrChanged].
func (b *Batch) Expect(id Identity) { b.last().expect = &id }

// Touch sets the modification time of the file that came last into the batch.
func (b *Batch) Touch(t time.Time) error { return Touch(b.root, b.last().from, t) }

// Log adds a line to the file name as [Append] does, one that tells of the batch.
// It is safe before any file has its name, and taken back if none gets it; after a
// crash it may be there without them. When all is done an empty line follows it,
// for which nobody waits. A batch has one such line.
func (b *Batch) Log(name string, line []byte) error {
	l, err := openLog(b.root, name)
	if err == nil {
		b.log = l
		err = l.add(line)
	}
	return err
}

func (b *Batch) last() *change { return b.changes[len(b.changes)-1] }

func (b *Batch) add(c *change) error {
	if slices.ContainsFunc(b.changes, func(other *change) bool { return other.name == c.name }) {
		return &fs.PathError{Op: "replace", Path: c.name, Err: errors.New("changes twice at once")}
	}
	b.changes = append(b.changes, c)
	return nil
}

func (b *Batch) stage(name string, mode fs.FileMode, write func(*Writer) error) (info fs.FileInfo, err error) {
	c := &change{name: name}
	if err := b.add(c); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			b.drop(c)
			b.changes = b.changes[:len(b.changes)-1]
		}
	}()
	err = b.around(func() error {
		c.file, c.from, err = openTemp(b.root, name, mode)
		return err
	})
	if err != nil {
		return nil, err
	}
	f := c.file
	if err := f.Chmod(mode); err != nil && !errors.Is(err, errors.ErrUnsupported) {
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
	b.changes = nil
	b.log.close(false)
	b.log = nil
}

// Commit makes the changes. When it returns without err the first one is there to
// stay, and then the others are made, which follow from it: what goes wrong with
// those is later. With err, which is ctx's if that ended while the disk was
// writing, nothing that anybody may rely on has changed. It returns what the file
// system says of each file, nil for one that was not changed.
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

// rename gives all files their names: the first one and what is derived, then,
// when these are there to stay, the others.
func (b *Batch) rename() (infos []fs.FileInfo, later, err error) {
	infos = make([]fs.FileInfo, len(b.changes))
	name := func(i int) (err error) {
		infos[i], err = b.changes[i].make(b.root)
		return err
	}
	nameAll := func(derived bool) (dirs []string) {
		for i, c := range b.changes {
			if i > 0 && c.derived == derived {
				later = cmp.Or(later, name(i))
				dirs = append(dirs, c.dirs()...)
			}
		}
		return dirs
	}
	var dirs, rest []string
	err = b.around(func() error {
		err := name(0)
		if err == nil {
			dirs = append(nameAll(true), b.changes[0].dirs()...)
		}
		return err
	})
	if err != nil {
		return nil, nil, err
	}
	log := b.log
	b.log = nil
	defer log.close(true)
	var told sync.WaitGroup
	if b.Named != nil {
		told.Go(func() { b.Named(infos[0]) })
	}
	err = syncDirs(b.root, dirs)
	told.Wait()
	if err != nil {
		return nil, nil, err
	}
	if len(b.changes) > 1 {
		b.around(func() error {
			rest = nameAll(false)
			return nil
		})
	}
	for _, c := range b.changes {
		later = cmp.Or(later, c.left)
	}
	if later = cmp.Or(later, syncDirs(b.root, rest)); later == nil {
		log.complete()
	}
	return infos, later, nil
}

// syncDirs waits until the names in folders are safe.
func syncDirs(root *os.Root, dirs []string) error {
	slices.Sort(dirs)
	return each(slices.Compact(dirs), func(dir string) error { return syncDir(root, dir) })
}

// sync waits until the bytes of all files are safe, and the line of the log.
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
