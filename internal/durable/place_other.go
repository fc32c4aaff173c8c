//go:build !linux && !darwin

package durable

import (
	"errors"
	"io/fs"
)

// moveNew renames a file to a name that is not in use: the new name is a hard link, which
// never replaces a file.
func moveNew(d *Dir, name string, to *Dir, toName string) error {
	err := d.top.Link(d.join(name), to.join(toName))
	switch {
	case errors.Is(err, fs.ErrExist) || errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission):
		return err
	case err != nil:
		return errors.ErrUnsupported
	}
	if err := d.root.Remove(name); err != nil { // another program has it open
		to.root.Remove(toName)
		return err
	}
	return nil
}

func swapIn(*Dir, string, *Dir, string) error { return errors.ErrUnsupported }

// rmdir removes an empty directory. os.Root has one call for files and directories, so there
// is a moment between the check and the call.
func rmdir(d *Dir, name string) error {
	info, err := d.root.Lstat(name)
	if err != nil {
		return err
	}
	if !info.IsDir() {
		return &NotRegularError{Op: "remove", Path: d.join(name), Mode: info.Mode(), Dir: true}
	}
	return d.root.Remove(name)
}
