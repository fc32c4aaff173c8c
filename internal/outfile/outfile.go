// Package outfile writes the files that a user names.
package outfile

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/bough-dev/bough/internal/durable"
	"github.com/bough-dev/bough/workspace/fault"
)

// Create writes data to a new private file and flushes it to disk. It returns the absolute
// path. If the file exists, the error has the code [fault.Refused].
func Create(ctx context.Context, path string, data []byte) (abs string, err error) {
	return write(ctx, path, data, (*durable.Batch).Create)
}

// Replace is [Create], but replaces a regular file and keeps its permissions. A symbolic
// link stays; its target is replaced.
func Replace(ctx context.Context, path string, data []byte) (abs string, err error) {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	switch info, err := os.Lstat(path); {
	case errors.Is(err, fs.ErrNotExist):
		return Create(ctx, path, data)
	case err != nil:
		return "", err
	case !info.Mode().IsRegular():
		return "", &fault.Error{Code: fault.Refused, Message: path + " is not a regular file", Hint: "name a file"}
	}
	return write(ctx, path, data, (*durable.Batch).Replace)
}

type staging = func(*durable.Batch, string, func(*durable.Writer) error) (fs.FileInfo, error)

func write(ctx context.Context, path string, data []byte, stage staging) (abs string, err error) {
	abs, err = filepath.Abs(path)
	if err != nil {
		return "", err
	}
	root, err := durable.MakeRoot(filepath.Dir(abs))
	if err != nil {
		return "", err
	}
	defer root.Close()
	b := durable.NewBatch(root)
	defer b.Discard()
	_, err = stage(b, filepath.Base(abs), durable.Bytes(data))
	if err == nil {
		_, _, err = b.Commit(ctx)
	}
	if errors.Is(err, fs.ErrExist) {
		err = &fault.Error{Code: fault.Refused, Message: abs + " already exists", Next: fault.Do(fault.ForceReplace), Err: err}
	}
	if err != nil {
		return "", err
	}
	return abs, nil
}
