// Package durable changes files so that a change is there whole or not at all,
// and stays there once it is acknowledged. It is the only package that writes, but
// for the word that the holder of the lock leaves and for caches that are removed.
//
// A change is a [Batch] of operations: every file is written to a temporary one
// beside it and fsynced, and so is a line in a log for each operation; the first file
// of each operation is renamed over its target, and the folder is fsynced; then the
// others are. After a crash each target holds its old bytes or its new ones, the
// first file of an operation decides whether that happened, whatever became of the
// others, and its line says what is left to do. Temporary files may be left over.
// Their names begin with a dot and end in [TempSuffix], never in ".json", so that no
// reader takes one for a session. A log grows by its lines and one fsync; see
// [Append].
//
// A file that another program replaced meanwhile, without the lock, is not written
// over: see [Batch.Expect].
//
// What is only remembered, and checked by whoever reads it, is written by [Cache]
// and [AppendCache], which wait for no disk.
//
// All names are relative to an [os.Root], which keeps them inside it. The caller
// makes sure that one process at a time writes there. Tests see every [Step], and
// make it fail, by [Interpose].
//
// # Systems
//
// Linux is what all of this is tested on. On macOS an fsync is F_FULLFSYNC, and two
// names are exchanged by renamex_np. Windows renames atomically, but only files
// that are closed, and has no fsync of a folder: after a power failure the old file
// may be back, or a new one gone. It cannot exchange two names either, so that what
// another program writes between the last look at a file and its rename, some
// microseconds, is lost. So it is on file systems that cannot exchange.
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

// A Writer writes a file that is not there yet.
type Writer struct {
	*bufio.Writer
	file *file
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

// Replace makes name hold what write writes, as [Batch.Replace] does, and returns what
// the file system says of it then.
func Replace(root *os.Root, name string, write func(*Writer) error) (fs.FileInfo, error) {
	b := NewBatch(root)
	if _, err := b.Replace(name, write); err != nil {
		return nil, err
	}
	return b.only()
}

// resolve returns the name of the file that name is or, as a symbolic link, names.
// That need not exist.
func resolve(root *os.Root, name string) (string, error) {
	const most = 40 // links, as in the kernel
	target := name
	for range most {
		info, err := root.Lstat(target)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return target, nil
		case err != nil:
			return "", err
		case info.Mode()&fs.ModeSymlink == 0 && target == name:
			return name, nil
		case info.Mode()&fs.ModeSymlink == 0:
			if there, err := root.Stat(name); err != nil || !os.SameFile(there, info) {
				return "", &fs.PathError{Op: "resolve", Path: name, Err: errors.New("symbolic link through another one")}
			}
			return target, nil
		}
		to, err := root.Readlink(target)
		if err != nil {
			return "", err
		}
		if path.IsAbs(filepath.ToSlash(to)) || filepath.IsAbs(to) {
			return "", &fs.PathError{Op: "resolve", Path: name, Err: errors.New("symbolic link out of the workspace")}
		}
		target = path.Join(path.Dir(target), filepath.ToSlash(to))
	}
	return "", &fs.PathError{Op: "resolve", Path: name, Err: errors.New("too many symbolic links")}
}

// openTemp makes the temporary file for name, in the folder of name: what an
// interrupted write leaves is looked for there.
func openTemp(root *os.Root, name string) (f *file, temp string, err error) {
	const flag = os.O_WRONLY | os.O_CREATE | os.O_EXCL
	temp = path.Join(path.Dir(name), "."+path.Base(name)+TempSuffix)
	f, err = openFile(root, temp, flag, Mode)
	if errors.Is(err, fs.ErrExist) {
		if err := unlink(root, temp); err != nil {
			return nil, "", err
		}
		f, err = openFile(root, temp, flag, Mode)
	}
	return f, temp, err
}

func fill(f *file, out io.Writer, write func(*Writer) error) error {
	w := &Writer{bufio.NewWriterSize(out, 64<<10), f}
	if err := write(w); err != nil {
		return err
	}
	return w.Flush()
}

// Remove removes the file name, so that it stays away.
func Remove(root *os.Root, name string) error {
	if err := unlink(root, name); err != nil {
		return err
	}
	return syncDir(root, path.Dir(name))
}

// RemoveAll removes the folder name with all that is in it, so that it stays away.
func RemoveAll(root *os.Root, name string) error {
	if err := unlinkAll(root, name); err != nil {
		return err
	}
	return syncDir(root, path.Dir(name))
}

func unlinkAll(root *os.Root, name string) error {
	entries, err := ReadDir(root, name)
	if err != nil {
		return err
	}
	for _, e := range entries {
		inner := path.Join(name, e.Name())
		if e.IsDir() {
			err = unlinkAll(root, inner)
		} else {
			err = unlink(root, inner)
		}
		if err != nil {
			return err
		}
	}
	return unlink(root, name)
}

// RemoveEmpty removes the folder name and those in it, as far as there is nothing in
// them.
func RemoveEmpty(root *os.Root, name string) {
	entries, err := ReadDir(root, name)
	if err != nil {
		return
	}
	for _, e := range entries {
		if e.IsDir() {
			RemoveEmpty(root, path.Join(name, e.Name()))
		}
	}
	unlink(root, name) // which is refused if there is something in it
}

// KeepOriginal gives a file that is going to be replaced the name to as well, which
// must be free: a program that still writes to it writes to what is kept. Where the
// file system cannot, it makes a copy.
func KeepOriginal(root *os.Root, name, to string) error {
	target, err := resolve(root, name)
	if err != nil {
		return err
	}
	if err := link(root, target, to); err != nil {
		return Keep(root, target, to)
	}
	return syncDir(root, path.Dir(to))
}

// Keep copies a file that is going to be replaced to the name to, which must be
// free. The copy belongs to the owner of the file, who alone has access to it. A copy
// that was interrupted may be incomplete.
func Keep(root *os.Root, name, to string) error {
	in, err := OpenRegular(root, name)
	if err != nil {
		return err
	}
	defer in.Close()
	info, err := in.Stat()
	if err != nil {
		return err
	}
	f, err := openFile(root, to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, Mode)
	if err != nil {
		return err
	}
	defer f.os.Close()
	if os.Geteuid() == 0 {
		if err := f.setAccess(access{mode: Mode, owner: ownerOf(info)}); err != nil {
			return err
		}
	}
	data, err := io.ReadAll(in)
	if err != nil {
		return err
	}
	if _, err := f.Write(data); err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	return syncDir(root, path.Dir(to))
}

// MakeDir makes the folder name and those above it inside root, where they are
// missing, so that they are still there after a power failure.
func MakeDir(root *os.Root, name string) error {
	return makeDir(root, name, func(parent string) error { return syncDir(root, parent) })
}

// makeDir makes a folder and those above it, and calls made with the parent of
// each that was missing.
func makeDir(root *os.Root, name string, made func(parent string) error) error {
	switch info, err := root.Stat(name); {
	case err == nil && info.IsDir():
		return nil
	case err == nil:
		return &fs.PathError{Op: "mkdir", Path: name, Err: fs.ErrExist}
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	parent := path.Dir(name)
	if parent != "." && parent != name {
		if err := makeDir(root, parent, made); err != nil {
			return err
		}
	}
	if err := mkdir(root, name); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return made(parent)
}

// MakeShared makes the empty file name if it does not exist and the process is root in
// a folder of somebody else, who is going to open it too. Else whoever opens it makes
// it.
func MakeShared(root *os.Root, name string) error {
	a := newAccess(root, name)
	if a.owner == nil {
		return nil
	}
	f, err := openFile(root, name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, Mode)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.os.Close()
	return f.setAccess(a)
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
