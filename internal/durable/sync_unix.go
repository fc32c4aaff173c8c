//go:build !windows

package durable

import (
	"io/fs"
	"os"
)

// waitDir makes the names in a folder survive a power failure.
func waitDir(root *os.Root, name string) error {
	d, err := root.Open(name)
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Sync()
}

// rename gives the file f its name, closes it, and returns what the file system
// says of it then: a rename changes that.
func rename(root *os.Root, f *file, temp, name string) (fs.FileInfo, error) {
	if err := move(root, temp, name); err != nil {
		return nil, err
	}
	defer f.os.Close()
	return f.os.Stat()
}
