package durable

import (
	"errors"
	"io/fs"
	"os"
)

// fsyncDir does nothing: Windows has no fsync of a folder.
func fsyncDir(*os.Root, string) error { return nil }

// rename closes the file f, renames it, and returns its FileInfo: Windows cannot
// rename an open file.
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

// exchange is not supported on this system.
func exchange(*os.Root, string, string) error { return errors.ErrUnsupported }
