package durable

import (
	"io/fs"
	"os"
)

// Create creates a file, as [Replace] does. The error is [fs.ErrExist] if the name
// is in use.
func Create(root *os.Root, name string, write func(*Writer) error) (fs.FileInfo, error) {
	b := NewBatch(root)
	if _, err := b.Create(name, write); err != nil {
		return nil, err
	}
	return b.commitOne()
}

// Move renames the file from to the name to, in a batch of its own.
func Move(root *os.Root, from, to string) error {
	b := NewBatch(root)
	if err := b.Move(from, to); err != nil {
		return err
	}
	_, err := b.commitOne()
	return err
}
