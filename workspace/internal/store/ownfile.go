package store

import (
	"context"
	"errors"
	"io/fs"
	"os"

	"github.com/bough-dev/bough/internal/durable"
)

// ReadOwn returns the content of a file of the workspace, nil if it does not
// exist.
func (w *Store) ReadOwn(ctx context.Context, name string) (_ []byte, err error) {
	defer func() { err = Explained(err) }()
	root, err := w.Open(ctx)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	return ReadRegular(root, name)
}

// ReadRegular reads a regular file of the workspace. It returns nil if the file
// does not exist.
func ReadRegular(root *os.Root, name string) ([]byte, error) {
	data, err := durable.ReadFile(root, name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return data, err
}
