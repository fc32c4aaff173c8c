package durable

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"slices"
	"syscall"
)

// An extension is bytes that a batch adds at the end of a file.
type extension struct {
	file    *file
	ahead   *aheadWriter
	at      int64 // the former size of the file
	created bool
	named   bool // its name is durable
}

// Extend adds bytes at the offset at of the file name, which it creates if at is 0, and
// removes what follows that offset, such as a torn write. The bytes are durable before any
// file of the batch is renamed, and so is the name of the file unless named says that it is
// durable already: a process that ended may have created it. Until the commit they are
// visible to others, and a batch that is discarded removes them. After a crash any part of
// them may be left. So a reader must recognize whole parts, and ignore those that no other
// file refers to. Extend may be called once per file.
func (b *Batch) Extend(name string, at int64, named bool, write func(*Writer) error) (err error) {
	info, err := b.root.Lstat(name)
	switch {
	case err == nil && !info.Mode().IsRegular():
		return &NotRegularError{Op: "append", Path: name, Mode: info.Mode()}
	case err == nil && info.Size() < at:
		return &fs.PathError{Op: "append", Path: name, Err: ErrChanged}
	case errors.Is(err, fs.ErrNotExist) && at > 0:
		return err
	}
	if slices.ContainsFunc(b.extensions, func(e *extension) bool { return e.file.name == name }) {
		return &fs.PathError{Op: "append", Path: name, Err: errors.New("two changes of one file in a batch")}
	}
	e := &extension{at: at, created: err != nil, named: named}
	open := func() (err error) {
		e.file, err = openFile(b.root, name, os.O_RDWR|os.O_CREATE|syscall.O_NONBLOCK, Mode)
		return err
	}
	if e.created {
		err = b.around([]string{path.Dir(name)}, open)
	} else {
		err = open()
	}
	if err != nil {
		return err
	}
	b.extensions = append(b.extensions, e)
	if e.created {
		err = e.file.inherit()
	} else if info.Size() > at {
		err = e.file.Truncate(at)
	}
	if err != nil {
		return err
	}
	if _, err := e.file.os.Seek(at, 0); err != nil {
		return err
	}
	e.file.at = at
	e.ahead = &aheadWriter{file: e.file, requested: at}
	return fill(e.file, e.ahead, write)
}

// sync fsyncs the added bytes and, unless the name of the file is durable, the folder.
func (e *extension) sync() error {
	defer e.ahead.close()
	if err := e.file.Sync(); err != nil {
		return err
	}
	if !e.named {
		return syncDir(e.file.root, path.Dir(e.file.name))
	}
	return nil
}

// close closes the file, and removes the added bytes unless keep is true. Errors are
// ignored, as nothing refers to these bytes.
func (e *extension) close(b *Batch, keep bool) {
	e.ahead.close()
	if !keep && !e.created {
		e.file.Truncate(e.at)
	}
	e.file.os.Close()
	if !keep && e.created {
		b.around([]string{path.Dir(e.file.name)}, func() error { return unlink(e.file.root, e.file.name) })
	}
}
