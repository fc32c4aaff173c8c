package workspace

import (
	"context"
	"errors"
	"io/fs"
	"os"

	"github.com/bough-dev/bough/workspace/internal/store"
	"github.com/bough-dev/bough/workspace/lines"
)

// OpenFile opens the attachment with a SHA-256.
func (w *Workspace) OpenFile(ctx context.Context, sha256 string) (_ *os.File, err error) {
	defer func() { err = store.Explained(err) }()
	if !lines.ValidSum(sha256) {
		return nil, store.NoSuch("attachment", sha256)
	}
	root, err := w.store.Open(ctx)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	f, err := store.OpenFile(root, sha256)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, store.NoSuch("attachment", sha256)
	}
	return f, err
}
