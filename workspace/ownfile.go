package workspace

import (
	"context"
	"errors"
	"io/fs"
	"os"

	"github.com/bough-dev/bough/internal/durable"
)

// readOwn returns the content of a file of the workspace, nil if it does not
// exist.
func (w *base) readOwn(ctx context.Context, name string) (_ []byte, err error) {
	defer func() { err = explained(err) }()
	root, err := w.open(ctx)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	return readRegular(root, name)
}

// readRegular reads a regular file of the workspace. It returns nil if the file
// does not exist.
func readRegular(root *os.Root, name string) ([]byte, error) {
	data, err := durable.ReadFile(root, name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return data, err
}
