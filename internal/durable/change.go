package durable

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path"
)

// A change is a name that is going to be that of another file: one that was
// written to a temporary file, or one that has another name.
type change struct {
	name, from string
	target     string // what name is, or the file that it names as a symbolic link
	file       *file  // nil for one that only changes its name
	ahead      *aheadWriter
	rank       rank
	op         int       // the operation that it belongs to, by its place in the batch
	created    bool      // there must be nothing of that name
	expect     *Identity // what must be there
	done       bool
	left       error // why the temporary name, which is that of the old file, is still there
}

// moves reports whether c gives a file that is there another name.
func (c *change) moves() bool { return c.file == nil }

// A rank says when the change of a file is made.
type rank int

const (
	follows rank = iota // when the first file of its operation is there to stay
	decides             // first: its operation happens with it
	derived             // with those that decide, and only if all of them are made
)

// check reports whether the name of c still is what it must be.
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

// make makes the change, and returns what the file system says of the file then.
func (c *change) make(root *os.Root) (info fs.FileInfo, err error) {
	if c.created {
		if err := absent(root, "create", c.name); err != nil {
			return nil, err // it came while this was being written
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

// exchange gives the file its name as rename does, and the one that had it the
// temporary name for as long as it takes to see that it is the expected one.
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

// renamed reports whether id may identify the file that was identified before,
// and then renamed, which changes only one time.
func (id Identity) renamed(before Identity) bool {
	id.Changed = before.Changed
	return id == before
}
