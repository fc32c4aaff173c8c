//go:build !windows

package durable

import (
	"io/fs"
	"os"
)

// fsyncDir fsyncs a folder.
func fsyncDir(root *os.Root, name string) error {
	d, err := root.Open(name)
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Sync()
}

// rename renames the file f, closes it, and returns its FileInfo, which the rename
// changed.
func rename(root *os.Root, f *file, temp, name string) (fs.FileInfo, error) {
	if err := move(root, temp, name); err != nil {
		return nil, err
	}
	defer f.os.Close()
	return f.os.Stat()
}
