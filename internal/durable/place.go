package durable

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"sync"
	"syscall"
)

// A Dir is an open directory in a folder where other programs write. It was reached without
// following a symbolic link, and its methods take names in it, not paths, and follow none.
// If it is moved, they still refer to it.
type Dir struct {
	top    *os.Root
	root   *os.Root
	handle *os.File
	path   string
}

// OpenDir opens a directory of top, whose path has slashes between names. The error is a
// *[NotRegularError] if a name in it is not a directory.
func OpenDir(top *os.Root, name string) (*Dir, error) {
	at, err := top.OpenRoot(".")
	if err != nil {
		return nil, err
	}
	if name != "." {
		for part := range strings.SplitSeq(name, "/") {
			next, err := enter(at, part)
			at.Close()
			if err != nil {
				if e, ok := errors.AsType[*NotRegularError](err); ok {
					e.Path = name
				}
				return nil, err
			}
			at = next
		}
	}
	handle, err := at.Open(".")
	if err != nil {
		at.Close()
		return nil, err
	}
	return &Dir{top, at, handle, name}, nil
}

// enter opens the directory name in root.
func enter(root *os.Root, name string) (*os.Root, error) {
	info, err := root.Lstat(name)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return nil, &NotRegularError{Op: "open", Path: name, Mode: info.Mode(), Dir: true}
	}
	next, err := root.OpenRoot(name)
	if err != nil {
		return nil, err
	}
	if there, err := next.Stat("."); err != nil || !os.SameFile(info, there) {
		next.Close()
		return nil, &fs.PathError{Op: "open", Path: name, Err: ErrChanged}
	}
	return next, nil
}

// Close closes the directory.
func (d *Dir) Close() {
	d.handle.Close()
	d.root.Close()
}

// Path returns the path with which the directory was opened.
func (d *Dir) Path() string { return d.path }

func (d *Dir) join(name string) string { return path.Join(d.path, name) }

func (d *Dir) fail(op, name string, err error) error {
	return &fs.PathError{Op: op, Path: d.join(name), Err: err}
}

// Lstat returns the FileInfo of a name.
func (d *Dir) Lstat(name string) (fs.FileInfo, error) { return d.root.Lstat(name) }

// Readlink returns the target of a symbolic link.
func (d *Dir) Readlink(name string) (string, error) { return d.root.Readlink(name) }

// Open opens a regular file for reading. The error is a *[NotRegularError] if it is none.
func (d *Dir) Open(name string) (*os.File, error) { return d.open(name, false) }

func (d *Dir) open(name string, dir bool) (*os.File, error) {
	info, err := d.root.Lstat(name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() && !(dir && info.IsDir()) {
		return nil, &NotRegularError{Op: "open", Path: d.join(name), Mode: info.Mode()}
	}
	f, err := d.root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	if there, err := f.Stat(); err != nil || !os.SameFile(info, there) {
		f.Close()
		return nil, d.fail("open", name, ErrChanged)
	}
	return f, nil
}

// Names returns the names in the directory.
func (d *Dir) Names() ([]string, error) {
	entries, err := fs.ReadDir(d.root.FS(), ".")
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = e.Name()
	}
	return names, err
}

// Mkdir creates a directory. It is not flushed.
func (d *Dir) Mkdir(name string, perm fs.FileMode) error {
	if err := step(d.top, Step{Do: Mkdir, Name: d.join(name)}); err != nil {
		return d.fail("mkdir", name, err)
	}
	if err := d.root.Mkdir(name, perm); err != nil {
		return err
	}
	bequeath(d.root, name)
	return nil
}

// Symlink creates a symbolic link.
func (d *Dir) Symlink(target, name string) error {
	if err := step(d.top, Step{Do: Symlink, Name: d.join(name), Data: []byte(target)}); err != nil {
		return d.fail("symlink", name, err)
	}
	return d.root.Symlink(target, name)
}

// Unlink removes a file or a link.
func (d *Dir) Unlink(name string) error {
	if err := step(d.top, Step{Do: Unlink, Name: d.join(name)}); err != nil {
		return d.fail("remove", name, err)
	}
	return d.root.Remove(name)
}

// Rmdir removes an empty directory.
func (d *Dir) Rmdir(name string) error {
	if _, err := d.root.Lstat(name); err != nil {
		return err
	}
	if err := step(d.top, Step{Do: Unlink, Name: d.join(name)}); err != nil {
		return d.fail("remove", name, err)
	}
	if err := rmdir(d, name); err != nil {
		return d.fail("remove", name, err)
	}
	return nil
}

// Chmod sets the permission bits of a file or directory.
func (d *Dir) Chmod(name string, perm fs.FileMode) error {
	f, err := d.open(name, true)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := step(d.top, Step{Do: Chmod, Name: d.join(name)}); err != nil {
		return d.fail("chmod", name, err)
	}
	return f.Chmod(perm)
}

// Move gives a file or link another name, in this directory or another one of the same file
// system. The error is [fs.ErrExist] if the name is in use.
func (d *Dir) Move(name string, to *Dir, toName string) error {
	err := d.MoveNew(name, to, toName)
	if !errors.Is(err, errors.ErrUnsupported) {
		return err
	}
	if err = absent(to.root, "rename", toName); err == nil {
		err = d.top.Rename(d.join(name), to.join(toName))
	}
	if err != nil {
		return d.failMove(name, to, toName, err)
	}
	return nil
}

// MoveNew is like Move, also if another process creates the new name at the same time. The error
// is [errors.ErrUnsupported] if the file system has neither a rename that replaces nothing nor
// hard links.
func (d *Dir) MoveNew(name string, to *Dir, toName string) error {
	err := step(d.top, Step{Do: Rename, Name: d.join(name), To: to.join(toName)})
	if err == nil {
		err = moveNew(d, name, to, toName)
	}
	if err != nil {
		return d.failMove(name, to, toName, err)
	}
	return nil
}

func (d *Dir) failMove(name string, to *Dir, toName string, err error) error {
	return &os.LinkError{Op: "rename", Old: d.join(name), New: to.join(toName), Err: err}
}

// Swap exchanges two files or links. The error is [errors.ErrUnsupported] if the file system
// cannot do that.
func (d *Dir) Swap(name string, to *Dir, toName string) error {
	err := step(d.top, Step{Do: Swap, Name: d.join(name), To: to.join(toName)})
	if err == nil {
		err = swapIn(d, name, to, toName)
	}
	if err != nil {
		return &os.LinkError{Op: "swap", Old: d.join(name), New: to.join(toName), Err: err}
	}
	return nil
}

// Sync flushes the names in the directory.
func (d *Dir) Sync() error { return syncDir(d.top, d.path) }

// A NewFile is a file that is being written.
type NewFile struct{ file *file }

// Create creates a file with permission bits. If there is a file name in like, the new one
// gets its owner and attributes, as in [Batch.Replace], or fewer permissions. The error is
// [fs.ErrExist] if the name is in use.
func (d *Dir) Create(name string, perm fs.FileMode, like *Dir, likeName string) (*NewFile, error) {
	f, err := openFile(d.top, d.join(name), os.O_WRONLY|os.O_CREATE|os.O_EXCL, Mode)
	if err != nil {
		return nil, err
	}
	a := newAccess(d.root, name)
	if like != nil {
		if info, err := like.Lstat(likeName); err == nil && info.Mode().IsRegular() {
			a = accessOf(like.root, likeName, info)
		}
	}
	a.mode = perm
	if err := f.setAccess(a); err != nil && !errors.Is(err, errors.ErrUnsupported) {
		f.os.Close()
		return nil, err
	}
	return &NewFile{f}, nil
}

// CreateMasked creates a file with perm without the bits of the umask, as other programs do. The
// error is [fs.ErrExist] if the name is in use.
func (d *Dir) CreateMasked(name string, perm fs.FileMode) (*NewFile, error) {
	f, err := openFile(d.top, d.join(name), os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm)
	if err != nil {
		return nil, err
	}
	return &NewFile{f}, nil
}

func (f *NewFile) Write(p []byte) (int, error) { return f.file.Write(p) }

// Close closes the file without flushing it.
func (f *NewFile) Close() error { return f.file.os.Close() }

// Flush flushes and closes the file.
func (f *NewFile) Flush() error {
	err := f.file.Sync()
	if e := f.file.os.Close(); err == nil {
		err = e
	}
	return err
}

// maxFlushing is the maximum number of files that are flushed at a time.
const maxFlushing = 32

// A Flusher flushes files concurrently, while others are being written. The zero value is
// ready.
type Flusher struct {
	all  sync.WaitGroup
	once sync.Once
	slot chan struct{}
	mu   sync.Mutex
	err  error
}

// Add flushes and closes a file.
func (f *Flusher) Add(file *NewFile) {
	f.once.Do(func() { f.slot = make(chan struct{}, maxFlushing) })
	flush := func() {
		if err := file.Flush(); err != nil {
			f.mu.Lock()
			f.err = err
			f.mu.Unlock()
		}
	}
	if seam.Load() != nil {
		flush()
		return
	}
	f.slot <- struct{}{}
	f.all.Go(func() {
		flush()
		<-f.slot
	})
}

// Wait waits for all files, and returns an error of one.
func (f *Flusher) Wait() error {
	f.all.Wait()
	return f.err
}

// SyncDirs flushes the names in directories of root, concurrently. It ignores directories
// that no longer exist, and those that are no longer directories.
func SyncDirs(root *os.Root, dirs []string) error {
	for some := range slices.Chunk(dirs, maxFlushing) {
		err := each(some, func(name string) error {
			d, err := OpenDir(root, name)
			if _, other := errors.AsType[*NotRegularError](err); other || errors.Is(err, fs.ErrNotExist) || errors.Is(err, ErrChanged) {
				return nil
			}
			if err != nil {
				return err
			}
			defer d.Close()
			if err := step(root, Step{Do: SyncDir, Name: name}); err != nil {
				return d.fail("sync", ".", err)
			}
			return fsyncDir(d.root, ".")
		})
		if err != nil {
			return err
		}
	}
	return nil
}
