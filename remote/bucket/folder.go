package bucket

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"sync"
	"time"

	"github.com/bough-dev/bough/internal/durable"
	"github.com/bough-dev/bough/workspace/fault"
)

// A Folder stores objects as files of a folder: of a disk, or of a file server. It follows no
// symbolic link in the folder.
//
// Between machines that share a file system, an object is created once. Where a program such as
// Syncthing or Dropbox copies the folder from machine to machine, each machine may create the same
// object; then the program keeps one of the two under another name, which [Folder.Conflicts] lists.
type Folder struct {
	root  *os.Root
	perm  fs.FileMode // of the folder
	mu    sync.Mutex
	known map[string]bool // directories whose names, up to the folder, are on the disk
	tidy  sync.Once

	maxList int // see MaxList
}

var _ Store = (*Folder)(nil)

const (
	// tempDir is the directory of unfinished objects. Dropbox does not copy files whose names begin
	// so.
	tempDir = ".~bough"

	// abandoned is the age at which an unfinished object is removed, by the clock of its file
	// system.
	abandoned = 24 * time.Hour
)

// OpenFolder opens an existing folder. Close closes it.
func OpenFolder(dir string) (*Folder, error) {
	root, err := os.OpenRoot(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, &fault.Error{Code: fault.NotFound, Message: "no folder " + dir, Hint: "create it, or mount the disk that it is on", Err: err}
	case err != nil:
		return nil, err
	}
	info, err := root.Stat(".")
	if err != nil {
		root.Close()
		return nil, err
	}
	return &Folder{root: root, perm: info.Mode().Perm(), known: map[string]bool{}, maxList: MaxList}, nil
}

// Close closes the folder.
func (f *Folder) Close() error { return f.root.Close() }

// Put creates an object, as [Store] says. It writes the bytes to a file in a hidden directory, and
// then gives that the name of the object, which fails if there is one.
func (f *Folder) Put(ctx context.Context, name string, data []byte) error {
	if err := begin(ctx, checkPut(name, data)); err != nil {
		return err
	}
	return f.fail("put", name, f.put(ctx, name, data))
}

func (f *Folder) put(ctx context.Context, name string, data []byte) error {
	to, err := f.makeDir(path.Dir(name))
	if err != nil {
		return err
	}
	defer to.Close()
	if _, err := to.Lstat(path.Base(name)); err == nil {
		return exists(to)
	}
	from, err := f.makeDir(tempDir)
	if err != nil {
		return err
	}
	defer from.Close()
	temp, err := f.writeTemp(from, data)
	f.tidy.Do(func() { removeAbandoned(from) })
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return errors.Join(err, discard(from, temp))
	}
	err = from.MoveNew(temp, to, path.Base(name))
	if err != nil && sameFile(from, temp, to, path.Base(name)) { // the answer of a file server was lost
		err = discard(from, temp)
	}
	switch {
	case err == nil:
		return to.Sync()
	case errors.Is(err, fs.ErrExist):
		return cmp.Or(discard(from, temp), exists(to))
	case errors.Is(err, errors.ErrUnsupported):
		err = &NoCreateOnlyError{Err: err}
	}
	return errors.Join(err, discard(from, temp))
}

// exists returns ErrExists for an object in dir. It flushes dir first: the process that created the
// object may have ended before it did.
func exists(dir *durable.Dir) error {
	return cmp.Or(dir.Sync(), ErrExists)
}

// makeDir opens a directory, and creates it if there is none. Its name is on the disk then.
func (f *Folder) makeDir(name string) (*durable.Dir, error) {
	dir, err := durable.OpenDir(f.root, name)
	if name == "." || err == nil && f.isKnown(name) {
		return dir, err
	}
	if err == nil {
		dir.Close()
	}
	above, err := f.makeDir(path.Dir(name))
	if err != nil {
		return nil, err
	}
	defer above.Close()
	switch err := above.Mkdir(path.Base(name), f.perm); {
	case err == nil:
		f.share(above, path.Base(name))
	case !errors.Is(err, fs.ErrExist):
		return nil, err
	}
	if err := above.Sync(); err != nil {
		return nil, err
	}
	f.mu.Lock()
	f.known[name] = true
	f.mu.Unlock()
	return durable.OpenDir(f.root, name)
}

func (f *Folder) isKnown(name string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.known[name]
}

// share gives a new directory the permissions of the folder, which the umask has reduced, so that
// all who write to the folder can write to the directory too. Some file systems have no permissions.
func (f *Folder) share(above *durable.Dir, name string) {
	if info, err := above.Lstat(name); err == nil && info.Mode().Perm() != f.perm {
		_ = above.Chmod(name, info.Mode()&fs.ModeSetgid|f.perm)
	}
}

// writeTemp writes data to a new file in dir, durably, and returns its name, also with an error.
func (f *Folder) writeTemp(dir *durable.Dir, data []byte) (name string, err error) {
	id := make([]byte, 16)
	rand.Read(id)
	name = hex.EncodeToString(id) + ".tmp"
	file, err := dir.CreateMasked(name, f.perm&0o666|0o600)
	if err != nil {
		return name, err
	}
	if _, err := file.Write(data); err != nil {
		return name, errors.Join(err, file.Close())
	}
	return name, file.Flush()
}

func discard(dir *durable.Dir, name string) error {
	if err := dir.Unlink(name); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

func sameFile(a *durable.Dir, nameA string, b *durable.Dir, nameB string) bool {
	infoA, errA := a.Lstat(nameA)
	infoB, errB := b.Lstat(nameB)
	return errA == nil && errB == nil && os.SameFile(infoA, infoB)
}

// removeAbandoned removes unfinished objects of processes that have ended, from the directory where
// a file was created just now. A file server may have another clock, so it compares only times of
// that.
func removeAbandoned(dir *durable.Dir) {
	top, err := dir.Lstat(".")
	if err != nil {
		return
	}
	names, _ := dir.Names()
	for _, name := range names {
		if info, err := dir.Lstat(name); err == nil && top.ModTime().Sub(info.ModTime()) > abandoned {
			_ = dir.Unlink(name)
		}
	}
}

// Get returns an object, as [Store] says.
func (f *Folder) Get(ctx context.Context, name string) ([]byte, error) {
	if err := begin(ctx, CheckName(name)); err != nil {
		return nil, err
	}
	data, err := f.get(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, absent("get", name)
	}
	return data, f.fail("get", name, err)
}

func (f *Folder) get(name string) ([]byte, error) {
	dir, err := durable.OpenDir(f.root, path.Dir(name))
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	file, err := dir.Open(path.Base(name))
	if err != nil {
		return nil, err
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, MaxObject+1))
	if err := cmp.Or(err, CheckSize(name, int64(len(data)))); err != nil {
		return nil, err
	}
	return data, nil
}

// Delete removes an object, as [Store] says.
func (f *Folder) Delete(ctx context.Context, name string) error {
	if err := begin(ctx, CheckName(name)); err != nil {
		return err
	}
	return f.fail("delete", name, f.delete(name))
}

func (f *Folder) delete(name string) error {
	dir, err := durable.OpenDir(f.root, path.Dir(name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer dir.Close()
	return cmp.Or(discard(dir, path.Base(name)), dir.Sync())
}

// fail adds the call and the folder to an error, unless it is nil or one that callers know.
func (f *Folder) fail(op, name string, err error) error {
	if _, ok := errors.AsType[*fault.Error](err); err == nil || err == ErrExists || ok {
		return err
	}
	return fmt.Errorf("%s %s in %s: %w", op, name, f.root.Name(), err)
}
