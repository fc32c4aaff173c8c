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

// OpenCache opens a file that [Cache] wrote. The error is [fs.ErrInvalid] if it is
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
