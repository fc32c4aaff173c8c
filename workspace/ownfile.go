package workspace

import (
	"context"
	"errors"
	"io/fs"
	"os"
)

// readOwn returns a file of the workspace, nil if it is not there.
func (w *Workspace) readOwn(ctx context.Context, name string) ([]byte, error) {
	root, err := w.open(ctx)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	return readRegular(root, name)
}

// readRegular reads a file of the workspace, nil if it is not there.
func readRegular(root *os.Root, name string) ([]byte, error) {
	info, err := root.Stat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, &fs.PathError{Op: "read", Path: name, Err: errors.New("not a regular file")} // a pipe would keep us waiting
	}
	return root.ReadFile(name)
}
