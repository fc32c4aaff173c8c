package durable

import (
	"io/fs"
	"os"
)

// An access says who may use a file, and what is attached to it beside its
// content.
type access struct {
	mode     fs.FileMode
	owner    *owner // nil for the owner that the system gives it
	attrs    []attr // extended attributes; on Linux an access control list is one
	known    bool   // attrs are all of them
	replaces bool   // the access is that of a file that exists
}

// An owner is a user and a group, by their numbers.
type owner struct{ uid, gid int }

// An attr is one extended attribute.
type attr struct {
	name  string
	value []byte
}

// accessOf returns the access of a file that is going to be replaced.
func accessOf(root *os.Root, name string, info fs.FileInfo) access {
	a := access{mode: info.Mode().Perm(), owner: ownerOf(info), replaces: true}
	a.attrs, a.known = attrsOf(root, name)
	return a
}

// set gives a file the access a. Where the system does not let it have the owner or
// the attributes, its permissions are narrower.
func (a access) set(f *os.File) error {
	group := a.owner == nil || setOwner(f, *a.owner)
	attrs := !a.replaces || setAttrs(f, a.attrs) && a.known
	return f.Chmod(narrow(a.mode, attrs, group))
}

// narrow returns the permissions that grant nobody more than mode does for a file
// that may lack the attributes or the group that mode was for. Without the
// attributes only the owner has access: the bits of the group may be those of a
// list. With another group, the members of either get what everybody has.
func narrow(mode fs.FileMode, attrs, group bool) fs.FileMode {
	switch {
	case !attrs:
		return mode & 0o700
	case !group:
		both := mode >> 3 & mode & 0o007
		return mode&0o700 | both<<3 | both
	}
	return mode
}
