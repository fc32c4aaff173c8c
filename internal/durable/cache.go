package durable

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strings"
)

// Cache writes pieces to the file name without fsync: after a crash the file may be
// missing or have any content, so readers must verify it. It is safe for concurrent
// use by several processes; the last one wins. Missing folders are created, also
// without fsync. name is in dir or below it; the temporary file is in dir itself,
// so that those of killed processes can be found there.
func Cache(root *os.Root, dir, name string, pieces ...[]byte) error {
	if _, err := root.Stat(path.Dir(name)); errors.Is(err, fs.ErrNotExist) {
		if err := makeDir(root, path.Dir(name), func(string) error { return nil }); err != nil {
			return err
		}
	}
	stem := strings.ReplaceAll(strings.TrimPrefix(name, dir+"/"), "/", "-")
	temp := path.Join(dir, fmt.Sprintf(".%s.%d%s", stem, os.Getpid(), TempSuffix))
	const flag = os.O_WRONLY | os.O_CREATE | os.O_TRUNC
	f, err := openFile(root, temp, flag, Mode)
	if err != nil {
		return err
	}
	if err = f.inherit(); err == nil {
		err = fill(f, f, Bytes(pieces...))
	}
	if err == nil {
		// Without a file of this name: if a rename replaces one, some file systems write
		// the new one to the disk at once.
		_ = unlink(root, name)
		_, err = rename(root, f, temp, name)
	}
	if err != nil {
		f.os.Close()
		unlink(root, temp)
	}
	return err
}

// A CacheDir is an open folder of caches, to which many small ones can be written.
type CacheDir struct {
	root  *os.Root
	dir   *os.Root
	name  string
	owner *owner // of new files, nil for the default
}

// OpenCacheDir opens the folder name, and creates it and its missing parents without fsync.
func OpenCacheDir(root *os.Root, name string) (*CacheDir, error) {
	dir, err := root.OpenRoot(name)
	if errors.Is(err, fs.ErrNotExist) {
		if err := makeDir(root, name, func(string) error { return nil }); err != nil {
			return nil, err
		}
		dir, err = root.OpenRoot(name)
	}
	if err != nil {
		return nil, err
	}
	return &CacheDir{root, dir, name, newAccess(dir, "new").owner}, nil
}

// Close closes the folder.
func (c *CacheDir) Close() error { return c.dir.Close() }

// Write writes pieces to the file name in the folder, without fsync, and returns its
// FileInfo. In contrast to [Cache], the file has its name from the beginning, which saves
// half of the time: readers must verify it, because they may find it incomplete.
func (c *CacheDir) Write(name string, pieces ...[]byte) (fs.FileInfo, error) {
	full := path.Join(c.name, name)
	if _, err := c.dir.Lstat(name); err == nil {
		// Not truncated: a reader that has it open reads it to the end, and some file
		// systems write a truncated file to the disk at once.
		if err := step(c.root, Step{Do: Unlink, Name: full}); err != nil {
			return nil, &fs.PathError{Op: "remove", Path: full, Err: err}
		}
		if err := c.dir.Remove(name); err != nil {
			return nil, err
		}
	}
	if err := step(c.root, Step{Do: Make, Name: full}); err != nil {
		return nil, &fs.PathError{Op: "open", Path: full, Err: err}
	}
	out, err := c.dir.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, Mode)
	if err != nil {
		return nil, err
	}
	defer out.Close()
	f := &file{os: out, root: c.root, name: full}
	if c.owner != nil {
		err = f.setAccess(access{mode: Mode, owner: c.owner})
	}
	if err == nil {
		err = fill(f, f, Bytes(pieces...))
	}
	var info fs.FileInfo
	if err == nil {
		info, err = out.Stat()
	}
	if err != nil {
		step(c.root, Step{Do: Unlink, Name: full})
		c.dir.Remove(name)
	}
	return info, err
}

// OpenCache opens a file that [Cache] or a [CacheDir] wrote. The error is [fs.ErrInvalid] if it is
// larger than maxSize bytes or not a regular file.
func OpenCache(root *os.Root, name string, maxSize int64) (*os.File, error) {
	f, err := OpenRegular(root, name)
	if err != nil {
		return nil, err
	}
	if info, err := f.Stat(); err != nil || info.Size() > maxSize {
		f.Close()
		return nil, cmp.Or(err, error(&fs.PathError{Op: "open", Path: name, Err: fs.ErrInvalid}))
	}
	return f, nil
}
