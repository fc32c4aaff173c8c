package durable

import (
	"io/fs"
	"os"
)

// syncDir does nothing: Windows has no fsync of a folder.
func syncDir(*os.Root, string) error { return nil }

// rename closes the file f, gives it its name, and returns what the file system
// says of it: Windows does not rename an open file.
func rename(root *os.Root, f *os.File, temp, name string) (fs.FileInfo, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if err := f.Close(); err != nil {
		return nil, err
	}
	return info, root.Rename(temp, name)
}
