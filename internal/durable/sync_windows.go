package durable

import (
	"errors"
	"io/fs"
	"os"
)

// waitDir does nothing: Windows has no fsync of a folder.
func waitDir(*os.Root, string) error { return nil }

// rename closes the file f, gives it its name, and returns what the file system
// says of it: Windows does not rename an open file.
func rename(root *os.Root, f *file, temp, name string) (fs.FileInfo, error) {
	info, err := f.os.Stat()
	if err != nil {
		return nil, err
	}
	if err := f.os.Close(); err != nil {
		return nil, err
	}
	return info, move(root, temp, name)
}

// exchange is not to be had: there is no such call.
func exchange(*os.Root, string, string) error { return errors.ErrUnsupported }
