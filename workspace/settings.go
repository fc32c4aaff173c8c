package workspace

import (
	"context"
	"os"

	"github.com/bough-dev/bough/workspace/internal/store"
)

// ChangeSettings calls change, which changes the settings of the workspace, under its lock. It
// creates the workspace if it does not exist. The change is not logged and cannot be undone.
func (w *Workspace) ChangeSettings(ctx context.Context, change func() error) (err error) {
	defer func() { err = store.Explained(err) }()
	if err := w.Make(ctx); err != nil {
		return err
	}
	return w.store.WithLock(ctx, "config", func(*os.Root) error { return change() })
}
