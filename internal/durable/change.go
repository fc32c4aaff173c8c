package durable

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path"
)

// A change is a rename: of a temporary file to its target, or of an existing file.
type change struct {
	name, from string
	target     string // name, or the target of name if it is a symbolic link
	file       *file  // nil for a rename of an existing file
	ahead      *aheadWriter
	rank       rank
	op         int       // the index of its operation in the batch
	created    bool      // the name must not exist
	expect     *Identity // the file that must exist
	done       bool
	flushed    bool  // the file is fsynced
	left       error // why the old file still exists under the temporary name
}

// moves reports whether c renames an existing file.
func (c *change) moves() bool { return c.file == nil }

// A rank is the phase of a commit in which a change is made.
type rank int

const (
	follows rank = iota // after the first change of its operation is durable
	decides             // first: the operation happens with it
	derived             // with those that decide, and only if all of them succeed
)

// check reports whether the file name is still in the expected state.
func (c *change) check(root *os.Root) error {
	if c.created {
		return absent(root, "create", c.name)
	}
	if c.expect == nil {
		return nil
	}
	info, err := root.Stat(c.name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if Identify(info) != *c.expect {
		return &fs.PathError{Op: "replace", Path: c.name, Err: ErrChanged}
	}
	return nil
}

// dirs returns the folders that c changes.
func (c *change) dirs() []string {
	if to, from := path.Dir(c.target), path.Dir(c.from); from != to {
		return []string{to, from}
	}
	return []string{path.Dir(c.name)}
}

// make makes the change and returns the FileInfo of the renamed file.
func (c *change) make(root *os.Root) (info fs.FileInfo, err error) {
	if c.created {
		if err := absent(root, "create", c.name); err != nil {
			return nil, err // created since the batch was begun
		}
	}
	if c.expect == nil || *c.expect == (Identity{}) {
		info, err = c.rename(root)
	} else {
		info, err = c.exchange(root)
	}
	c.done = err == nil
	return info, err
}

func (c *change) rename(root *os.Root) (fs.FileInfo, error) {
	if c.file != nil {
		return rename(root, c.file, c.from, c.target)
	}
	if err := move(root, c.from, c.target); err != nil {
		return nil, err
	}
	return root.Lstat(c.target)
}

// exchange renames the file like rename. The old file gets the temporary name until
// it is verified to be the expected one.
func (c *change) exchange(root *os.Root) (fs.FileInfo, error) {
	if err := swap(root, c.from, c.target); errors.Is(err, errors.ErrUnsupported) {
		return c.rename(root)
	} else if err != nil {
		return nil, err
	}
	old, err := root.Stat(c.from)
	if err == nil && !Identify(old).renamed(*c.expect) {
		err = cmp.Or(swap(root, c.from, c.target), error(&fs.PathError{Op: "replace", Path: c.name, Err: ErrChanged}))
	}
	if err != nil {
		return nil, err
	}
	defer c.file.os.Close()
	info, err := c.file.os.Stat()
	if err == nil {
		c.left = unlink(root, c.from)
	}
	return info, err
}

// renamed reports whether id can be the identity of the file before after a rename,
// which changes only Changed.
func (id Identity) renamed(before Identity) bool {
	id.Changed = before.Changed
	return id == before
}
