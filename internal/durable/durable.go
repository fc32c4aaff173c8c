// Package durable changes files so that a change is there whole or not at all,
// and stays there once it is acknowledged. It is the only package that renames.
//
// A change is: write a temporary file beside the target, fsync it, rename it
// over the target, fsync the folder. After a crash the target holds its old
// bytes or its new ones; a temporary file may be left over. Temporary names
// begin with a dot and end in [TempSuffix], never in ".json", so that no reader
// takes one for a session. A log grows otherwise: one line, fsync; see [Append].
//
// What is only remembered, and checked by whoever reads it, is written by
// [Cache], which waits for no disk.
//
// All names are relative to an [os.Root], which keeps them inside it. The
// caller makes sure that one process at a time writes there.
//
// On Windows a folder cannot be fsynced: a rename is atomic there, but after a
// power failure the old file may be back.
package durable

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"syscall"
	"time"
)

// TempSuffix ends the name of every temporary file.
const TempSuffix = ".bough-tmp"

// Mode is the permission of new files and DirMode that of new folders: what
// people say to an assistant is private.
const (
	Mode    fs.FileMode = 0o600
	DirMode fs.FileMode = 0o700
)

// A Writer writes a file that is not there yet.
type Writer struct {
	*bufio.Writer
	file *os.File
}

// Patch replaces bytes that were written before, from the offset at.
func (w *Writer) Patch(at int64, p []byte) error {
	if err := w.Flush(); err != nil {
		return err
	}
	_, err := w.file.WriteAt(p, at)
	return err
}

// Bytes returns a function for [Replace] and a [Batch] that writes pieces.
func Bytes(pieces ...[]byte) func(*Writer) error {
	return func(w *Writer) error {
		for _, p := range pieces {
			if _, err := w.Write(p); err != nil {
				return err
			}
		}
		return nil
	}
}

// Replace makes name hold what write writes, and returns what the file system
// says of it then. An existing file keeps its permissions.
func Replace(root *os.Root, name string, write func(*Writer) error) (fs.FileInfo, error) {
	b := NewBatch(root)
	if _, err := b.Replace(name, write); err != nil {
		return nil, err
	}
	return b.only()
}

// Probe reports whether [Replace] could write name, as far as can be told
// without doing it.
func Probe(root *os.Root, name string) error {
	if _, err := modeOf(root, name); err != nil {
		return err
	}
	f, temp, err := openTemp(root, name, Mode)
	if err != nil {
		return err
	}
	f.Close()
	return root.Remove(temp)
}

// modeOf returns the permissions that name is to have: those of the file that is
// there, which must be one.
func modeOf(root *os.Root, name string) (fs.FileMode, error) {
	switch info, err := root.Stat(name); {
	case errors.Is(err, fs.ErrNotExist):
		return Mode, nil
	case err != nil:
		return 0, err
	case !info.Mode().IsRegular():
		return 0, &fs.PathError{Op: "replace", Path: name, Err: errors.New("not a regular file")}
	default:
		return info.Mode().Perm(), nil
	}
}

// openTemp makes the temporary file for name.
func openTemp(root *os.Root, name string, mode fs.FileMode) (f *os.File, temp string, err error) {
	temp = path.Join(path.Dir(name), "."+path.Base(name)+TempSuffix)
	if err := root.Remove(temp); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, "", err
	}
	f, err = root.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	return f, temp, err
}

func fill(f *os.File, out io.Writer, write func(*Writer) error) error {
	w := &Writer{bufio.NewWriterSize(out, 64<<10), f}
	if err := write(w); err != nil {
		return err
	}
	return w.Flush()
}

// Append adds a line to the file name, which it makes if it is not there, and
// returns what the file system says of it then. What a write that did not end
// left after the last line break is cut off first. A line that is not
// acknowledged may be there all the same.
func Append(root *os.Root, name string, line []byte) (info fs.FileInfo, err error) {
	if info, err := root.Lstat(name); err == nil && !info.Mode().IsRegular() {
		return nil, &fs.PathError{Op: "append", Path: name, Err: errors.New("not a regular file")}
	}
	f, err := root.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_APPEND|syscall.O_NONBLOCK, Mode)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	size, err := wholeLines(f)
	if err != nil {
		return nil, err
	}
	if _, err := f.Write(line); err != nil {
		f.Truncate(size)
		return nil, err
	}
	if err := f.Sync(); err != nil {
		return nil, err
	}
	if size == 0 {
		if err := syncDir(root, path.Dir(name)); err != nil {
			return nil, err
		}
	}
	return f.Stat()
}

// wholeLines cuts off what stands after the last line break of f and returns
// the size of the rest.
func wholeLines(f *os.File) (int64, error) {
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	size := info.Size()
	for at := size; at > 0; at-- {
		var last [1]byte
		if _, err := f.ReadAt(last[:], at-1); err != nil {
			return 0, err
		}
		if last[0] == '\n' {
			if at < size {
				err = f.Truncate(at)
			}
			return at, err
		}
	}
	if size > 0 {
		err = f.Truncate(0)
	}
	return 0, err
}

// Cache makes name hold pieces, without waiting for the disk: after a crash the
// file may be gone or hold anything, so whoever reads it must be able to tell.
// Several processes may do it at once; one of them is the last. Folders that are
// missing are made, without waiting either.
func Cache(root *os.Root, name string, pieces ...[]byte) error {
	temp := path.Join(path.Dir(name), fmt.Sprintf(".%s.%d%s", path.Base(name), os.Getpid(), TempSuffix))
	f, err := root.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, Mode)
	if errors.Is(err, fs.ErrNotExist) && root.MkdirAll(path.Dir(name), DirMode) == nil {
		f, err = root.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, Mode)
	}
	if err != nil {
		return err
	}
	if err = fill(f, f, Bytes(pieces...)); err == nil {
		_, err = rename(root, f, temp, name)
	}
	if err != nil {
		f.Close()
		root.Remove(temp)
	}
	return err
}

// OpenCache opens what [Cache] wrote. The error is [fs.ErrInvalid] if name is no
// regular file, or has more than most bytes.
func OpenCache(root *os.Root, name string, most int64) (*os.File, error) {
	f, err := root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0) // a pipe does not keep us waiting
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && (!info.Mode().IsRegular() || info.Size() > most) {
		err = &fs.PathError{Op: "open", Path: name, Err: fs.ErrInvalid}
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// Touch sets the modification time of name.
func Touch(root *os.Root, name string, t time.Time) error { return root.Chtimes(name, t, t) }

// Remove removes the file name, so that it stays away.
func Remove(root *os.Root, name string) error {
	if err := root.Remove(name); err != nil {
		return err
	}
	return syncDir(root, path.Dir(name))
}

// Move renames a file inside root.
func Move(root *os.Root, from, to string) error {
	if err := root.Rename(from, to); err != nil {
		return err
	}
	if err := syncDir(root, path.Dir(to)); err != nil {
		return err
	}
	return syncDir(root, path.Dir(from))
}

// MakeDir makes the folder name and those above it inside root, where they are
// missing, so that they are still there after a power failure.
func MakeDir(root *os.Root, name string) error {
	switch info, err := root.Stat(name); {
	case err == nil && info.IsDir():
		return nil
	case err == nil:
		return &fs.PathError{Op: "mkdir", Path: name, Err: fs.ErrExist}
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	if parent := path.Dir(name); parent != "." && parent != name {
		if err := MakeDir(root, parent); err != nil {
			return err
		}
	}
	if err := root.Mkdir(name, DirMode); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return syncDir(root, path.Dir(name))
}

// MakeRoot makes the folder dir, and those above it, where they are missing, and
// opens it.
func MakeRoot(dir string) (*os.Root, error) {
	root, err := os.OpenRoot(dir)
	if !errors.Is(err, fs.ErrNotExist) || filepath.Dir(dir) == dir {
		return root, err
	}
	parent, err := MakeRoot(filepath.Dir(dir))
	if err != nil {
		return nil, err
	}
	defer parent.Close()
	if err := MakeDir(parent, filepath.Base(dir)); err != nil {
		return nil, err
	}
	return os.OpenRoot(dir)
}
