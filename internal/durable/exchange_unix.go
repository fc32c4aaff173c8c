//go:build linux || darwin

package durable

import (
	"errors"
	"os"
	"path"
)

// exchange exchanges the names of two files. The error is [errors.ErrUnsupported]
// if the file system cannot.
func exchange(root *os.Root, a, b string) error {
	dirA, err := root.Open(path.Dir(a))
	if err != nil {
		return err
	}
	defer dirA.Close()
	dirB := dirA
	if path.Dir(a) != path.Dir(b) {
		if dirB, err = root.Open(path.Dir(b)); err != nil {
			return err
		}
		defer dirB.Close()
	}
	err = exchangeIn(int(dirA.Fd()), path.Base(a), int(dirB.Fd()), path.Base(b))
	if unsupported(err) {
		return errors.ErrUnsupported
	}
	return err
}
