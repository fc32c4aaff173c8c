package durable

import (
	"io/fs"
	"os"
)

// Create makes a new file, as [Replace] does. It returns an error that is
// [fs.ErrExist] if there is something of that name.
func Create(root *os.Root, name string, write func(*Writer) error) (fs.FileInfo, error) {
	b := NewBatch(root)
	if _, err := b.Create(name, write); err != nil {
		return nil, err
	}
	return b.only()
}

// Move gives the file from the name to, as a batch of that alone.
func Move(root *os.Root, from, to string) error {
	b := NewBatch(root)
	if err := b.Move(from, to); err != nil {
		return err
	}
	_, err := b.only()
	return err
}
