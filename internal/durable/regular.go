package durable

import (
	"io"
	"io/fs"
	"os"
	"syscall"
)

// A NotRegularError reports that a named pipe, socket, device or other special file
// has the name of a file or folder that was to be read or written. It was not
// opened.
type NotRegularError struct {
	Op   string
	Path string
	Mode fs.FileMode
	Dir  bool // a folder was expected
}

func (e *NotRegularError) Error() string {
	expected := "regular file"
	if e.Dir {
		expected = "folder"
	}
	return e.Op + " " + e.Path + ": " + TypeName(e.Mode) + ", not a " + expected
}

// Unwrap returns [fs.ErrInvalid].
func (e *NotRegularError) Unwrap() error { return fs.ErrInvalid }

// TypeName returns the name of the type of a file.
func TypeName(mode fs.FileMode) string {
	switch t := mode.Type(); {
	case t == 0:
		return "regular file"
	case t&fs.ModeDir != 0:
		return "folder"
	case t&fs.ModeSymlink != 0:
		return "symbolic link"
	case t&fs.ModeNamedPipe != 0:
		return "named pipe"
	case t&fs.ModeSocket != 0:
		return "socket"
	case t&fs.ModeDevice != 0:
		return "device"
	}
	return "special file"
}

// OpenRegular opens the file name for reading. The error is a *[NotRegularError] if
// it is not a regular file or a symbolic link to one: opening a named pipe would
// block, and opening a device may have side effects.
func OpenRegular(root *os.Root, name string) (*os.File, error) {
	info, err := root.Stat(name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, &NotRegularError{Op: "open", Path: name, Mode: info.Mode()}
	}
	f, err := root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0) // does not block if the file was replaced by a pipe
	if err != nil {
		return nil, err
	}
	if info, err = f.Stat(); err == nil && !info.Mode().IsRegular() {
		err = &NotRegularError{Op: "open", Path: name, Mode: info.Mode()}
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// ReadFile reads the file name, opened by [OpenRegular].
func ReadFile(root *os.Root, name string) ([]byte, error) {
	f, err := OpenRegular(root, name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	data := make([]byte, 0, info.Size()+512)
	for {
		n, err := f.Read(data[len(data):cap(data)])
		data = data[:len(data)+n]
		if err == io.EOF {
			return data, nil
		}
		if err != nil {
			return data, err
		}
		if len(data) == cap(data) {
			data = append(data, 0)[:len(data)]
		}
	}
}

// ReadDir returns the entries of the folder name, sorted by name. The error is a
// *[NotRegularError] if it is not a folder.
func ReadDir(root *os.Root, name string) ([]fs.DirEntry, error) {
	if err := CheckDir(root, name); err != nil {
		return nil, err
	}
	return fs.ReadDir(root.FS(), name)
}

// CheckDir returns an error if name is not a folder, a *[NotRegularError] if it is
// a file of another type.
func CheckDir(root *os.Root, name string) error {
	info, err := root.Stat(name)
	if err == nil && !info.IsDir() {
		err = &NotRegularError{Op: "open", Path: name, Mode: info.Mode(), Dir: true}
	}
	return err
}
