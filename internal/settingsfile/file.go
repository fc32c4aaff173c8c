package settingsfile

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/bough-dev/bough/internal/durable"
)

// A File is a settings file as it was read.
type File struct {
	Path   string // as given
	Exists bool
	Data   []byte // without a byte order mark, which Replace keeps

	real   string // without symbolic links
	marked bool   // begins with a byte order mark
}

// byteOrderMark begins files that some editors on Windows write.
const byteOrderMark = "\ufeff"

// maxSize is the maximum size of a settings file in bytes.
const maxSize = 64 << 20

// Read reads a settings file, which may be absent. If the path is a symbolic link, the
// target is the file.
func Read(path string) (*File, error) {
	f := &File{Path: path, real: path}
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
		return f, nil
	}
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return nil, err
	}
	info, err := os.Stat(real)
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, &fs.PathError{Op: "read", Path: path, Err: errors.New("not a regular file")}
	case info.Size() > maxSize:
		return nil, &fs.PathError{Op: "read", Path: path, Err: errors.New("too large for a settings file")}
	}
	f.real, f.Exists = real, true
	data, err := os.ReadFile(real)
	f.Data, f.marked = bytes.CutPrefix(data, []byte(byteOrderMark))
	return f, err
}

// ErrChanged is the error of [File.Replace] and [File.Remove] if another program changed
// the file after it was read.
var ErrChanged = errors.New("another program changed the file meanwhile")

// Replace replaces the content of the file atomically, and creates the file and its folder
// if they are missing. It keeps the permissions of the file; a new file is private.
func (f *File) Replace(data []byte) error {
	if err := f.unchanged(); err != nil {
		return err
	}
	root, err := durable.MakeRoot(filepath.Dir(f.real))
	if err != nil {
		return err
	}
	defer root.Close()
	if f.marked {
		data = slices.Concat([]byte(byteOrderMark), data)
	}
	_, err = durable.Replace(root, filepath.Base(f.real), durable.Bytes(data))
	return err
}

// Remove removes the file.
func (f *File) Remove() error {
	if err := f.unchanged(); err != nil || !f.Exists {
		return err
	}
	root, err := os.OpenRoot(filepath.Dir(f.real))
	if err != nil {
		return err
	}
	defer root.Close()
	return durable.Remove(root, filepath.Base(f.real))
}

func (f *File) unchanged() error {
	now, err := Read(f.Path)
	if err == nil && (now.Exists != f.Exists || now.marked != f.marked || !bytes.Equal(now.Data, f.Data)) {
		err = &fs.PathError{Op: "replace", Path: f.Path, Err: ErrChanged}
	}
	return err
}
