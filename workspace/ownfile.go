package workspace

import (
	"context"
	"errors"
	"io/fs"
	"os"

	"github.com/bough-dev/bough/internal/durable"
)

// readOwn returns a file of the workspace, nil if it is not there.
func (w *base) readOwn(ctx context.Context, name string) (_ []byte, err error) {
	defer func() { err = explained(err) }()
	root, err := w.open(ctx)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	return readRegular(root, name)
}

// readRegular reads a file of the workspace, nil if it is not there.
func readRegular(root *os.Root, name string) ([]byte, error) {
	data, err := durable.ReadFile(root, name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return data, err
}
