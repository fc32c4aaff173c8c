package workspace

import (
	"context"

	"github.com/bough-dev/bough/workspace/internal/store"
	"github.com/bough-dev/bough/workspace/trash"
)

// Trash returns the contents of the trash.
func (w *Workspace) Trash(ctx context.Context) (_ *trash.List, err error) {
	defer func() { err = store.Explained(err) }()
	root, err := w.store.Open(ctx)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	return (&store.View{Store: w.store, Ctx: ctx, Root: root}).InTheTrash()
}
