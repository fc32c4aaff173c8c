package durable

import (
	"io/fs"
	"os"
)

// An access is the ownership, permissions and extended attributes of a file.
type access struct {
	mode     fs.FileMode
	owner    *owner // nil for the default owner
	attrs    []attr // extended attributes, on Linux with access control lists
	known    bool   // attrs is complete
	replaces bool   // the access is that of an existing file
}

// An owner is a user id and a group id.
type owner struct{ uid, gid int }

// An attr is one extended attribute.
type attr struct {
	name  string
	value []byte
}

// accessOf returns the access of a file that will be replaced.
func accessOf(root *os.Root, name string, info fs.FileInfo) access {
	a := access{mode: info.Mode().Perm(), owner: ownerOf(info), replaces: true}
	a.attrs, a.known = attrsOf(root, name)
	return a
}

// set applies a to a file. If the system refuses the owner or the attributes, the
// permissions are reduced.
func (a access) set(f *os.File) error {
	group := a.owner == nil || setOwner(f, *a.owner)
	attrs := !a.replaces || setAttrs(f, a.attrs) && a.known
	return f.Chmod(narrow(a.mode, attrs, group))
}

// narrow returns reduced permissions for a file that may lack the attributes or the
// group for which mode was meant, so that no user gains access. Without the
// attributes only the owner has access, because the group bits may be the mask of
// an access control list. With another group, both the group and others get the
// intersection of their permissions.
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
