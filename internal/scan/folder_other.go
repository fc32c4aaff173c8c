//go:build !linux

package scan

import (
	"errors"
	"io/fs"
	"os"
	"syscall"

	"github.com/bough-dev/bough/internal/durable"
)

// A folder is an open directory.
type folder struct{ root *os.Root }

// openFolder opens the directory dir, which may be a link to one.
func openFolder(dir string) (*folder, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	return &folder{root}, nil
}

// errOtherType is the error for a name that is no longer what it was.
var errOtherType = errors.New("another type of file")

// open opens a subdirectory.
func (f *folder) open(name string) (*folder, error) {
	before, err := f.root.Lstat(name)
	if err != nil {
		return nil, err
	}
	if !before.IsDir() {
		return nil, errOtherType
	}
	root, err := f.root.OpenRoot(name)
	if err != nil {
		return nil, err
	}
	if after, err := root.Stat("."); err != nil || !os.SameFile(before, after) {
		root.Close()
		return nil, errOtherType
	}
	return &folder{root}, nil
}

// again opens the same directory once more.
func (f *folder) again() (*folder, error) {
	root, err := f.root.OpenRoot(".")
	if err != nil {
		return nil, err
	}
	return &folder{root}, nil
}

func (f *folder) close() { f.root.Close() }

// mode returns the mode of the directory itself.
func (f *folder) mode() (uint32, error) {
	info, err := f.root.Stat(".")
	if err != nil {
		return 0, err
	}
	return statOf(info).mode, nil
}

func (f *folder) lstat(name string) (stat, error) {
	info, err := f.root.Lstat(name)
	if err != nil {
		return stat{}, err
	}
	return statOf(info), nil
}

func statOf(info fs.FileInfo) stat {
	id := durable.Identify(info)
	mode := uint32(info.Mode().Perm())
	switch t := info.Mode().Type(); {
	case t == 0:
		mode |= typeFile
	case t == fs.ModeDir:
		mode |= typeDir
	case t == fs.ModeSymlink:
		mode |= typeLink
	}
	return stat{size: id.Size, mtime: id.ModTime, ctime: id.Changed, inode: id.Inode, mode: mode}
}

// A content is an open file.
type content struct{ *os.File }

// openFile opens a file for reading, and waits for no other program.
func (f *folder) openFile(name string) (*content, error) {
	info, err := f.root.Lstat(name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errOtherType
	}
	in, err := f.root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	return &content{in}, nil
}

func (c *content) close() { c.Close() }

func (c *content) stat() (stat, error) {
	info, err := c.Stat()
	if err != nil {
		return stat{}, err
	}
	return statOf(info), nil
}

// readlink returns the target of a link.
func (f *folder) readlink(name string) (string, error) { return f.root.Readlink(name) }

// A lister lists directories.
type lister struct{}

// read returns the names in a directory.
func (*lister) read(f *folder) ([]listed, error) {
	dir, err := f.root.Open(".")
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	entries, err := dir.ReadDir(-1)
	if err != nil {
		return nil, err
	}
	list := make([]listed, len(entries))
	for i, e := range entries {
		list[i].name = e.Name()
		switch t := e.Type(); {
		case t == 0:
			list[i].kind = typeFile
		case t == fs.ModeDir:
			list[i].kind = typeDir
		case t == fs.ModeSymlink:
			list[i].kind = typeLink
		default:
			list[i].kind = typeSpecial
		}
	}
	return list, nil
}

func isExhausted(err error) bool {
	return errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE) || errors.Is(err, syscall.ENOMEM)
}

func isOtherType(err error) bool { return errors.Is(err, errOtherType) }
