package durable

import (
	"io/fs"
	"os"
	"sync/atomic"
	"time"
)

// A Step is one call to the file system. All changes that this package makes are
// sequences of steps.
type Step struct {
	Do   Action
	Name string // of the file or folder, relative to the workspace
	To   string // the other name, for Rename, Swap and Link
	At   int64  // offset of Data, or the new size of the file
	Data []byte // bytes to write
}

// An Action is the kind of a [Step].
type Action string

const (
	Make     Action = "make"     // create a file
	Open     Action = "open"     // open an existing file
	Write    Action = "write"    // write bytes into a file
	Cut      Action = "cut"      // truncate a file
	Chmod    Action = "chmod"    // set owner, permissions and attributes
	Sync     Action = "sync"     // fsync a file
	SyncDir  Action = "syncdir"  // fsync a folder
	Rename   Action = "rename"   // rename a file, replacing the target
	Swap     Action = "swap"     // exchange the names of two files
	Link     Action = "link"     // create a hard link
	Unlink   Action = "unlink"   // remove a file
	Mkdir    Action = "mkdir"    // create a folder
	Symlink  Action = "symlink"  // create a symbolic link; Data is its target
	SetTimes Action = "settimes" // set the modification time
)

// seam, if not nil, is called before every step, see [Interpose].
var seam atomic.Pointer[func(root *os.Root, s Step) error]

// Interpose calls f before every step of every goroutine until restore is called,
// and makes concurrent steps sequential. If f returns an error, the step fails with
// that error and is not executed, except that a write writes half of its data. It
// is for tests.
func Interpose(f func(root *os.Root, s Step) error) (restore func()) {
	seam.Store(&f)
	return func() { seam.Store(nil) }
}

func step(root *os.Root, s Step) error {
	if f := seam.Load(); f != nil {
		return (*f)(root, s)
	}
	return nil
}

// A file is a file open for changes.
type file struct {
	os   *os.File
	root *os.Root
	name string
	at   int64 // offset of the next write
}

// openFile opens a file for changes.
func openFile(root *os.Root, name string, flag int, mode fs.FileMode) (*file, error) {
	if seam.Load() != nil {
		do := Make
		if _, err := root.Lstat(name); err == nil {
			do = Open
		}
		if err := step(root, Step{Do: do, Name: name}); err != nil {
			return nil, &fs.PathError{Op: "open", Path: name, Err: err}
		}
	}
	f, err := root.OpenFile(name, flag, mode)
	if err != nil {
		return nil, err
	}
	return &file{os: f, root: root, name: name}, nil
}

func (f *file) fail(op string, err error) error {
	return &fs.PathError{Op: op, Path: f.name, Err: err}
}

func (f *file) Write(p []byte) (int, error) {
	if err := step(f.root, Step{Do: Write, Name: f.name, At: f.at, Data: p}); err != nil {
		n, _ := f.os.Write(p[:len(p)/2])
		f.at += int64(n)
		return n, f.fail("write", err)
	}
	n, err := f.os.Write(p)
	f.at += int64(n)
	return n, err
}

func (f *file) WriteAt(p []byte, at int64) (int, error) {
	if err := step(f.root, Step{Do: Write, Name: f.name, At: at, Data: p}); err != nil {
		return 0, f.fail("write", err)
	}
	return f.os.WriteAt(p, at)
}

func (f *file) Truncate(size int64) error {
	if err := step(f.root, Step{Do: Cut, Name: f.name, At: size}); err != nil {
		return f.fail("truncate", err)
	}
	return f.os.Truncate(size)
}

func (f *file) setAccess(a access) error {
	if err := step(f.root, Step{Do: Chmod, Name: f.name}); err != nil {
		return f.fail("chmod", err)
	}
	return a.set(f.os)
}

// inherit applies newAccess to a file that was just created, if that differs from
// the default, which is the case only for root.
func (f *file) inherit() error {
	if a := newAccess(f.root, f.name); a.owner != nil {
		return f.setAccess(a)
	}
	return nil
}

func (f *file) Sync() error {
	if err := step(f.root, Step{Do: Sync, Name: f.name}); err != nil {
		return f.fail("sync", err)
	}
	return f.os.Sync()
}

// unlink removes a file.
func unlink(root *os.Root, name string) error {
	if err := step(root, Step{Do: Unlink, Name: name}); err != nil {
		return &fs.PathError{Op: "remove", Path: name, Err: err}
	}
	return root.Remove(name)
}

func mkdir(root *os.Root, name string) error {
	if err := step(root, Step{Do: Mkdir, Name: name}); err != nil {
		return &fs.PathError{Op: "mkdir", Path: name, Err: err}
	}
	if err := root.Mkdir(name, DirMode); err != nil {
		return err
	}
	bequeath(root, name)
	return nil
}

func syncDir(root *os.Root, name string) error {
	if err := step(root, Step{Do: SyncDir, Name: name}); err != nil {
		return &fs.PathError{Op: "sync", Path: name, Err: err}
	}
	return fsyncDir(root, name)
}

func move(root *os.Root, from, to string) error {
	if err := step(root, Step{Do: Rename, Name: from, To: to}); err != nil {
		return &os.LinkError{Op: "rename", Old: from, New: to, Err: err}
	}
	return root.Rename(from, to)
}

func link(root *os.Root, from, to string) error {
	if err := step(root, Step{Do: Link, Name: from, To: to}); err != nil {
		return &os.LinkError{Op: "link", Old: from, New: to, Err: err}
	}
	return root.Link(from, to)
}

// swap exchanges the names of two files, if the system supports that.
func swap(root *os.Root, a, b string) error {
	if err := step(root, Step{Do: Swap, Name: a, To: b}); err != nil {
		return &os.LinkError{Op: "swap", Old: a, New: b, Err: err}
	}
	return exchange(root, a, b)
}

// Touch sets the modification time of name.
func Touch(root *os.Root, name string, t time.Time) error {
	if err := step(root, Step{Do: SetTimes, Name: name}); err != nil {
		return &fs.PathError{Op: "chtimes", Path: name, Err: err}
	}
	return root.Chtimes(name, t, t)
}
