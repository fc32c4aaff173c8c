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

// Cache makes name hold pieces, without waiting for the disk: after a crash the
// file may be gone or hold anything, so whoever reads it must be able to tell.
// Several processes may do it at once; one of them is the last. Folders that are
// missing are made, without waiting either. The file is in dir or below it; its
// temporary file is in dir itself, so that those of killed processes are found there.
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
		_, err = rename(root, f, temp, name)
	}
	if err != nil {
		f.os.Close()
		unlink(root, temp)
	}
	return err
}

// OpenCache opens what [Cache] wrote. The error is [fs.ErrInvalid] if name has more
// than most bytes, and also if it is not a regular file.
func OpenCache(root *os.Root, name string, most int64) (*os.File, error) {
	f, err := OpenRegular(root, name)
	if err != nil {
		return nil, err
	}
	if info, err := f.Stat(); err != nil || info.Size() > most {
		f.Close()
		return nil, cmp.Or(err, error(&fs.PathError{Op: "open", Path: name, Err: fs.ErrInvalid}))
	}
	return f, nil
}
