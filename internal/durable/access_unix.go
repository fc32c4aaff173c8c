//go:build linux || darwin

package durable

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// newAccess returns the access of a new file. A file that root creates in a folder
// belongs to the owner of the folder, who could not read it otherwise.
func newAccess(root *os.Root, name string) access {
	return access{mode: Mode, owner: heir(root, name)}
}

// heir returns the owner of the folder of a new file if the process is root and the
// folder is not root's, else nil.
func heir(root *os.Root, name string) *owner {
	if os.Geteuid() != 0 {
		return nil
	}
	above, err := root.Stat(path.Dir(name))
	if err != nil {
		return nil
	}
	if o := ownerOf(above); o != nil && o.uid != 0 {
		return o
	}
	return nil
}

// bequeath gives a new folder to the owner of its parent, as newAccess does with
// files. It does nothing if the folder is not empty, because then it is not the new
// one.
func bequeath(root *os.Root, name string) {
	o := heir(root, name)
	if o == nil {
		return
	}
	dir, err := root.OpenFile(name, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_DIRECTORY, 0)
	if err != nil {
		return
	}
	defer dir.Close()
	if _, err := dir.Readdirnames(1); err == io.EOF {
		_ = dir.Chown(o.uid, o.gid)
	}
}

func ownerOf(info fs.FileInfo) *owner {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return &owner{int(st.Uid), int(st.Gid)}
	}
	return nil
}

// setOwner sets the owner of a file as far as the system allows, and reports
// whether the file has the group.
func setOwner(f *os.File, o owner) bool {
	info, err := f.Stat()
	if err != nil {
		return false
	}
	is := ownerOf(info)
	return *is == o || f.Chown(o.uid, o.gid) == nil || is.gid == o.gid || f.Chown(-1, o.gid) == nil
}

// attrsOf returns the attributes of a file that its replacement must have, and
// reports whether all of them could be read.
func attrsOf(root *os.Root, name string) (list []attr, ok bool) {
	f, err := root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, false
	}
	defer f.Close()
	return readAttrs(int(f.Fd()))
}

func readAttrs(fd int) (list []attr, ok bool) {
	names, err := read(func(buf []byte) (int, error) { return unix.Flistxattr(fd, buf) })
	if err != nil {
		return nil, errors.Is(err, unix.ENOTSUP)
	}
	for name := range bytes.SplitSeq(names, []byte{0}) {
		if len(name) == 0 || !copied(string(name)) {
			continue
		}
		value, err := read(func(buf []byte) (int, error) { return unix.Fgetxattr(fd, string(name), buf) })
		if err != nil {
			return nil, false
		}
		list = append(list, attr{string(name), value})
	}
	return list, true
}

// read calls get with a sufficiently large buffer and returns the result.
func read(get func(buf []byte) (int, error)) ([]byte, error) {
	for size := 256; ; size *= 8 {
		buf := make([]byte, size)
		n, err := get(buf)
		if errors.Is(err, unix.ERANGE) && size < 1<<20 {
			continue
		}
		return buf[:max(n, 0)], err
	}
}

// setAttrs sets the attributes of a new file to list, and reports whether it could.
// It removes an access control list that the file inherited from its folder.
func setAttrs(f *os.File, list []attr) bool {
	fd := int(f.Fd())
	has, ok := readAttrs(fd)
	for _, a := range has {
		if strings.HasPrefix(a.name, "system.") && !slices.ContainsFunc(list, func(b attr) bool { return b.name == a.name }) {
			ok = unix.Fremovexattr(fd, a.name) == nil && ok
		}
	}
	for _, a := range list {
		if !slices.ContainsFunc(has, func(b attr) bool { return b.name == a.name && bytes.Equal(b.value, a.value) }) {
			ok = unix.Fsetxattr(fd, a.name, a.value, 0) == nil && ok
		}
	}
	return ok || !grants
}
