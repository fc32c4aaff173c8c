package workspace

import (
	"context"
	"path/filepath"

	"github.com/bough-dev/bough/internal/durable"
	"github.com/bough-dev/bough/workspace/internal/store"
)

// Is reports whether the folder dir is a workspace: whether it has a folder
// .bough, or a folder conversations with an index or a session.
func Is(dir string) bool { return store.Is(dir) }

// Find returns the nearest workspace that contains dir, or dir itself if it is
// one, and reports whether there is one.
func Find(dir string) (string, bool) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", false
	}
	for {
		if store.Is(dir) {
			return dir, true
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", false
		}
		dir = parent
	}
}

// Make creates the workspace without content, if it does not exist. Methods
// that write create it too.
func (w *Workspace) Make(ctx context.Context) error {
	if err := ctx.Err(); err != nil || store.Is(w.store.Dir) {
		return err
	}
	root, err := durable.MakeRoot(w.store.Dir)
	if err != nil {
		return err
	}
	defer root.Close()
	return durable.MakeDir(root, store.StateDir)
}
