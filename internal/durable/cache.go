package durable

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"syscall"
)

// Cache makes name hold pieces, without waiting for the disk: after a crash the
// file may be gone or hold anything, so whoever reads it must be able to tell.
// Several processes may do it at once; one of them is the last. Folders that are
// missing are made, without waiting either.
func Cache(root *os.Root, name string, pieces ...[]byte) error {
	temp := path.Join(path.Dir(name), fmt.Sprintf(".%s.%d%s", path.Base(name), os.Getpid(), TempSuffix))
	const flag = os.O_WRONLY | os.O_CREATE | os.O_TRUNC
	f, err := openFile(root, temp, flag, Mode)
	if errors.Is(err, fs.ErrNotExist) && makeDir(root, path.Dir(name), func(string) error { return nil }) == nil {
		f, err = openFile(root, temp, flag, Mode)
	}
	if err != nil {
		return err
	}
	if err = fill(f, f, Bytes(pieces...)); err == nil {
		_, err = rename(root, f, temp, name)
	}
	if err != nil {
		f.os.Close()
		unlink(root, temp)
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
