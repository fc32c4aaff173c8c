package store

import (
	"bytes"
	"errors"
	"io/fs"
	"path"

	"github.com/bough-dev/bough/internal/crc32c"
	"github.com/bough-dev/bough/internal/durable"
	"github.com/bough-dev/bough/internal/operation"
)

// IsThere reports whether a file of the workspace exists.
func (v *View) IsThere(name string) bool {
	_, err := v.Root.Lstat(name)
	return err == nil
}

// happened reports whether an operation, which may have been interrupted, took
// effect: its first change was made.
func (v *View) happened(o *operation.Operation) bool {
	c := o.Changes[0]
	if v.Made(c) {
		return true
	}
	if c.Is == nil || c.Was == nil { // it was not moved, or does not exist
		return false
	}
	if temp, err := v.StateNow(tempOf(c.File)); err == nil && temp.Same(c.Is) {
		return false // its target was not renamed
	}
	data, err := durable.ReadFile(v.Root, c.File)
	if err != nil || StateOfBytes(data, nil).Same(c.Was) {
		return false
	}
	message, added := o.Args["message"].(string)
	return !added || bytes.Contains(data, []byte(message)) // changed since
}

// Made reports whether a file is in the state after c.
func (v *View) Made(c operation.Change) bool {
	info, err := v.Root.Lstat(c.File)
	if err == nil && c.Is != nil && info.Mode()&fs.ModeSymlink != 0 {
		info, err = v.Root.Stat(c.File)
	}
	switch {
	case c.Is == nil:
		return errors.Is(err, fs.ErrNotExist)
	case err != nil:
		return false
	case c.Was == nil:
		return true
	case c.Is.Size == info.Size() && c.Is.MTime == mtimeOf(info.ModTime()):
		return true
	case c.Is.CRC32C == "" || c.Is.Size != info.Size():
		return false
	}
	is, err := v.StateNow(c.File)
	return err == nil && is.Same(c.Is)
}

// StillAs is like Made, but if c created a file, it only has to exist.
func (v *View) StillAs(c operation.Change) bool {
	if c.Is != nil {
		c.Was = c.Is
	}
	return v.Made(c)
}

// holdsAsLeft reports whether a file has the content after c, as far as the log
// has it: another program may have changed it without changing size and time.
func (v *View) holdsAsLeft(c operation.Change) bool {
	if c.Is == nil || c.Is.CRC32C == "" {
		return true
	}
	is, err := v.StateNow(c.File)
	return err == nil && is.Same(c.Is)
}

// unmade reports whether a file is in the state before c.
func (v *View) unmade(c operation.Change) (bool, error) {
	switch there := v.IsThere(c.File); {
	case c.Was == nil:
		return !there && (c.Moved == "" || v.IsThere(c.Moved)), nil
	case !there:
		return false, nil
	case c.Is == nil:
		return true, nil
	case v.Made(c):
		return false, nil
	}
	is, err := v.StateNow(c.File)
	return err == nil && is.Same(c.Was), err
}

// unmoved reports whether c moves a file to or from the trash and was not
// carried out.
func (v *View) unmoved(c operation.Change) bool { return c.Moved != "" && !v.Made(c) }

// StateNow returns the current state of a file.
func (v *View) StateNow(name string) (*operation.State, error) {
	data, err := durable.ReadFile(v.Root, name)
	if err != nil {
		return nil, err
	}
	return &operation.State{Size: int64(len(data)), CRC32C: hex32(crc32c.Of(data))}, nil
}

// tempOf returns the temporary name of a file.
func tempOf(name string) string {
	return path.Join(path.Dir(name), "."+path.Base(name)+durable.TempSuffix)
}
