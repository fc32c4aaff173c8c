//go:build linux || darwin

package durable

import (
	"errors"
	"os"
	"path"

	"golang.org/x/sys/unix"
)

// exchange makes two files of one folder change names. The error is
// [errors.ErrUnsupported] where the file system cannot.
func exchange(root *os.Root, a, b string) error {
	dir, err := root.Open(path.Dir(a))
	if err != nil {
		return err
	}
	defer dir.Close()
	err = exchangeIn(int(dir.Fd()), path.Base(a), path.Base(b))
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.ENOTSUP) {
		return errors.ErrUnsupported
	}
	return err
}
