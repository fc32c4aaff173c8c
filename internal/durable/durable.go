// Package durable changes files atomically and durably: a change is made completely
// or not at all, and an acknowledged change survives a power failure. It is the
// only package that writes, except for the content of the lock file and for the
// removal of caches.
//
// A change is a [Batch] of operations. The content of every file is written to a
// temporary file beside it and fsynced, and so is one line in a log for each
// operation. Then the first file of each operation is renamed over its target and
// the folder is fsynced; then the other files follow. After a crash each target has
// either its old or its new content. The first file of an operation decides whether
// the operation happened, and its line in the log describes what remains to be
// done. Temporary files may be left over. Their names begin with a dot and end in
// [TempSuffix], never in ".json", so that no reader mistakes one for a session. A
// log is only appended to, with one fsync; see [Append].
//
// A file that another program replaced meanwhile, without the lock, is not
// overwritten: see [Batch.Expect].
//
// On XFS and btrfs a new file can share blocks with an existing one: see [Writer.Clone].
//
// A [Dir] is for folders in which other programs write without a lock, such as those that
// files are restored to: its names are changed one by one, and no file is replaced.
//
// Caches, which readers verify, are written by [Cache] and [AppendCache] without
// fsync.
//
// All names are relative to an [os.Root]. The caller must ensure that only one
// process at a time writes there. Tests can observe every [Step], and make it fail,
// with [Interpose].
//
// # Systems
//
// All of this is tested on Linux. On macOS fsync is F_FULLFSYNC, and two names are
// exchanged by renamex_np. Windows renames atomically, but only closed files, and
// has no fsync of a folder: after a power failure the old file may be back, or a
// new one missing. Windows and some file systems cannot exchange two names. There,
// a file that another program writes between the last check and the rename, which
// are microseconds apart, is lost.
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

// TempSuffix is the suffix of all temporary files.
const TempSuffix = ".bough-tmp"

// Mode is the permission of new files and DirMode that of new folders.
// Conversations are private.
const (
	Mode    fs.FileMode = 0o600
	DirMode fs.FileMode = 0o700
)

// A Writer writes a new file.
type Writer struct {
	*bufio.Writer
	file *file
}

// WriteAt replaces bytes that were written before, from the offset at.
func (w *Writer) WriteAt(p []byte, at int64) (int, error) {
	if err := w.Flush(); err != nil {
		return 0, err
	}
	return w.file.WriteAt(p, at)
}

// Bytes returns a write function for [Replace] and [Batch] that writes pieces.
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

// Replace replaces or creates the file name as [Batch.Replace] does, and returns
// its FileInfo after the rename.
func Replace(root *os.Root, name string, write func(*Writer) error) (fs.FileInfo, error) {
	b := NewBatch(root)
	if _, err := b.Replace(name, write); err != nil {
		return nil, err
	}
	return b.commitOne()
}

// resolve returns name or, if it is a symbolic link, its target, which need not
// exist.
func resolve(root *os.Root, name string) (string, error) {
	const maxLinks = 40 // links, as in the kernel
	target := name
	for range maxLinks {
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

// openTemp creates the temporary file for name, in the folder of name, where
// leftovers of an interrupted write are searched for.
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

// Remove removes files durably. After an error some of them may be left.
func Remove(root *os.Root, names ...string) error {
	var dirs []string
	for _, name := range names {
		if err := unlink(root, name); err != nil {
			return err
		}
		dirs = append(dirs, path.Dir(name))
	}
	return syncDirs(root, dirs)
}

// RemoveAll removes the folder name and its content durably.
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

// RemoveEmpty removes the folder name and its subfolders, as far as they are empty.
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
	unlink(root, name) // fails if it is not empty
}

// KeepOriginal creates a hard link to for a file that will be replaced: a program
// that has it open writes to the kept file. to must not exist. If the file system
// does not support links, KeepOriginal makes a copy.
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

// Keep copies a file that will be replaced to the name to, which must not exist.
// The copy belongs to the owner of the file, who alone has access to it. An
// interrupted copy may be incomplete.
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

// SyncNames makes the names in the folder name durable: those of an interrupted change may not
// be.
func SyncNames(root *os.Root, name string) error { return syncDir(root, name) }

// MakeDir creates the folder name and its missing parents in root durably.
func MakeDir(root *os.Root, name string) error {
	return makeDir(root, name, func(parent string) error { return syncDir(root, parent) })
}

// NewDir creates a folder in an existing one and reports whether it was missing. The new name is
// durable only after [SyncNames] of the parent.
func NewDir(root *os.Root, name string) (made bool, err error) {
	if info, err := root.Stat(name); err == nil && info.IsDir() {
		return false, nil
	}
	err = mkdir(root, name)
	if errors.Is(err, fs.ErrExist) { // another process was faster
		return false, nil
	}
	return err == nil, err
}

// makeDir creates a folder and its missing parents, and calls made with the parent
// of each folder that it created.
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

// MakeShared creates the empty file name if it does not exist and the process is
// root in another user's folder, so that the user can open it too. Otherwise it
// does nothing; the first user of the file creates it.
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

// MakeRoot creates the folder dir and its missing parents, and opens it.
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
