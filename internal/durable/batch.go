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

// A Batch is files that change together. Each is written to its temporary file,
// and nobody sees any of it, until [Batch.Commit]. A batch that is not committed
// must be discarded.
type Batch struct {
	// Around, if it is not nil, is called with every function that makes, renames
	// or removes a file, and has to call it.
	Around func(func() error) error

	// Named, if it is not nil, is called when the first file has its name, with
	// what the file system says of it, while the disk is busy with that.
	Named func(fs.FileInfo)

	root  *os.Root
	files []*staged
	trace func(op, name string) // for tests, nil elsewhere
}

// A staged file is written and has not got its name yet.
type staged struct {
	name, temp string
	file       *os.File
	ahead      *aheadWriter
	derived    bool
	created    bool // there must be nothing of that name
	named      bool
}

// NewBatch returns an empty batch of files inside root.
func NewBatch(root *os.Root) *Batch { return &Batch{root: root} }

// Len returns how many files are in the batch.
func (b *Batch) Len() int { return len(b.files) }

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
	if _, err := b.root.Lstat(name); err == nil {
		return nil, &fs.PathError{Op: "create", Path: name, Err: fs.ErrExist}
	} else if !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	info, err := b.stage(name, Mode, write)
	if err == nil {
		b.files[len(b.files)-1].created = true
	}
	return info, err
}

// did tells a test what was done.
func (b *Batch) did(op, name string) {
	if b.trace != nil {
		b.trace(op, name)
	}
}

func (b *Batch) stage(name string, mode fs.FileMode, write func(*Writer) error) (info fs.FileInfo, err error) {
	if slices.ContainsFunc(b.files, func(s *staged) bool { return s.name == name }) {
		return nil, &fs.PathError{Op: "replace", Path: name, Err: errors.New("changes twice at once")}
	}
	s := &staged{name: name}
	err = b.around(func() error {
		s.file, s.temp, err = openTemp(b.root, name, mode)
		return err
	})
	if err != nil {
		return nil, err
	}
	f := s.file
	defer func() {
		if err != nil {
			b.drop(s)
		}
	}()
	if err := f.Chmod(mode); err != nil && !errors.Is(err, errors.ErrUnsupported) {
		return nil, err
	}
	s.ahead = &aheadWriter{file: f}
	if err := fill(f, s.ahead, write); err != nil {
		return nil, err
	}
	if info, err = f.Stat(); err != nil {
		return nil, err
	}
	b.files = append(b.files, s)
	return info, nil
}

// Derive puts a file into the batch as Replace does, one that follows from others
// and may be older than they are after a crash. It need not wait until they are
// there to stay.
func (b *Batch) Derive(name string, write func(*Writer) error) (fs.FileInfo, error) {
	info, err := b.Replace(name, write)
	if err == nil {
		b.files[len(b.files)-1].derived = true
	}
	return info, err
}

// Touch sets the modification time of the file that came last into the batch.
func (b *Batch) Touch(t time.Time) error {
	return Touch(b.root, b.files[len(b.files)-1].temp, t)
}

func (b *Batch) around(f func() error) error {
	if b.Around == nil {
		return f()
	}
	return b.Around(f)
}

func (b *Batch) drop(s *staged) {
	s.ahead.close()
	s.file.Close()
	b.around(func() error { return b.root.Remove(s.temp) })
}

// Discard removes all that is not committed.
func (b *Batch) Discard() {
	for _, s := range b.files {
		if !s.named {
			b.drop(s)
		}
	}
	b.files = nil
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
	return b.rename()
}

// rename gives all files their names: the first one and what is derived, then,
// when these are there to stay, the others.
func (b *Batch) rename() (infos []fs.FileInfo, later, err error) {
	infos = make([]fs.FileInfo, len(b.files))
	name := func(i int) (err error) {
		s := b.files[i]
		if _, there := b.root.Lstat(s.name); s.created && there == nil {
			return &fs.PathError{Op: "create", Path: s.name, Err: fs.ErrExist} // it came while this was being written
		}
		if infos[i], err = rename(b.root, s.file, s.temp, s.name); err != nil {
			infos[i] = nil
		}
		s.named = err == nil
		b.did("rename", s.name)
		return err
	}
	nameAll := func(derived bool) (dirs []string) {
		for i, s := range b.files {
			if i == 0 || s.derived != derived {
				continue
			}
			later = cmp.Or(later, name(i))
			if dir := path.Dir(s.name); !slices.Contains(dirs, dir) {
				dirs = append(dirs, dir)
			}
		}
		return dirs
	}
	var dirs, rest []string
	err = b.around(func() error {
		err := name(0)
		if err == nil {
			dirs = nameAll(true)
		}
		return err
	})
	if err != nil {
		return nil, nil, err
	}
	if dir := path.Dir(b.files[0].name); !slices.Contains(dirs, dir) {
		dirs = append(dirs, dir)
	}
	var told sync.WaitGroup
	if b.Named != nil {
		told.Go(func() { b.Named(infos[0]) })
	}
	err = b.syncDirs(dirs)
	told.Wait()
	if err != nil {
		return nil, nil, err
	}
	if len(b.files) > 1 {
		b.around(func() error {
			rest = nameAll(false)
			return nil
		})
	}
	return infos, cmp.Or(later, b.syncDirs(rest)), nil
}

func (b *Batch) syncDirs(dirs []string) error {
	return each(dirs, func(dir string) error {
		err := syncDir(b.root, dir)
		b.did("sync", dir)
		return err
	})
}

// sync waits until the bytes of all files are safe.
func (b *Batch) sync() error {
	return each(b.files, func(s *staged) error {
		err := s.file.Sync()
		b.did("sync", s.name)
		s.ahead.close()
		return err
	})
}

// each calls f for every element, for all of them at once, and returns the error
// of the first that has one.
func each[T any](list []T, f func(T) error) error {
	errs := make([]error, len(list))
	var all sync.WaitGroup
	for i, v := range list {
		if i == len(list)-1 {
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
