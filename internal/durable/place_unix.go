//go:build linux || darwin

package durable

import (
	"errors"

	"golang.org/x/sys/unix"
)

// unsupported reports whether the file system cannot do what was asked of it.
func unsupported(err error) bool {
	return errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.ENOTSUP)
}

// moveNew renames a file to a name that is not in use.
func moveNew(d *Dir, name string, to *Dir, toName string) error {
	err := renameNew(int(d.handle.Fd()), name, int(to.handle.Fd()), toName)
	if !unsupported(err) {
		return err
	}
	err = unix.Linkat(int(d.handle.Fd()), name, int(to.handle.Fd()), toName, 0)
	if errors.Is(err, unix.EPERM) || unsupported(err) {
		return errors.ErrUnsupported
	}
	if err != nil {
		return err
	}
	return d.root.Remove(name)
}

func swapIn(d *Dir, name string, to *Dir, toName string) error {
	err := exchangeIn(int(d.handle.Fd()), name, int(to.handle.Fd()), toName)
	if unsupported(err) {
		return errors.ErrUnsupported
	}
	return err
}

func rmdir(d *Dir, name string) error {
	err := unix.Unlinkat(int(d.handle.Fd()), name, unix.AT_REMOVEDIR)
	if errors.Is(err, unix.ENOTDIR) {
		return ErrChanged
	}
	return err
}
