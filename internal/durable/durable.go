// Package durable changes files so that a change is there whole or not at all,
// and stays there once it is acknowledged. It is the only package that renames.
//
// A change is: write a temporary file beside the target, fsync it, rename it
// over the target, fsync the folder. After a crash the target holds its old
// bytes or its new ones; a temporary file may be left over. Temporary names
// begin with a dot and end in [TempSuffix], never in ".json", so that no reader
// takes one for a session.
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
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
)

// TempSuffix ends the name of every temporary file.
const TempSuffix = ".bough-tmp"

// Mode is the permission of new files and DirMode that of new folders: what
// people say to an assistant is private.
const (
	Mode    fs.FileMode = 0o600
	DirMode fs.FileMode = 0o700
)

// Bytes returns a function for [Replace] and [Create] that writes pieces.
func Bytes(pieces ...[]byte) func(io.Writer) error {
	return func(w io.Writer) error {
		for _, p := range pieces {
			if _, err := w.Write(p); err != nil {
				return err
			}
		}
		return nil
	}
}

// Replace makes name hold what write writes, and returns what the file system
// says of just that. An existing file keeps its permissions.
func Replace(root *os.Root, name string, write func(io.Writer) error) (fs.FileInfo, error) {
	mode, err := modeOf(root, name)
	if err != nil {
		return nil, err
	}
	return put(root, name, mode, write)
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

// Create makes a new file, as [Replace] does. It returns an error that is [fs.ErrExist] if there
// is something of that name.
func Create(root *os.Root, name string, write func(io.Writer) error) (fs.FileInfo, error) {
	if _, err := root.Lstat(name); err == nil {
		return nil, &fs.PathError{Op: "create", Path: name, Err: fs.ErrExist}
	} else if !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	return put(root, name, Mode, write)
}

func put(root *os.Root, name string, mode fs.FileMode, write func(io.Writer) error) (info fs.FileInfo, err error) {
	f, temp, err := openTemp(root, name, mode)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			f.Close()
			root.Remove(temp)
		}
	}()
	if err := f.Chmod(mode); err != nil && !errors.Is(err, errors.ErrUnsupported) {
		return nil, err
	}
	w := bufio.NewWriterSize(f, 64<<10)
	if err := write(w); err != nil {
		return nil, err
	}
	if err := w.Flush(); err != nil {
		return nil, err
	}
	if err := f.Sync(); err != nil {
		return nil, err
	}
	if info, err = f.Stat(); err != nil {
		return nil, err
	}
	if err := f.Close(); err != nil {
		return nil, err
	}
	if err := root.Rename(temp, name); err != nil {
		return nil, err
	}
	return info, syncDir(root, path.Dir(name))
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
