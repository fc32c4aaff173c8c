package workspace

import (
	"context"

	"github.com/bough-dev/bough/workspace/history"
	"github.com/bough-dev/bough/workspace/internal/reverter"
)

// Undo undoes the newest operation that is not undone, with its whole group, or
// as many as o says. It returns the operations that undid them. It is refused
// if newer changes would be lost. If an error occurs between several
// operations, the next Undo continues with the rest.
func (w *Workspace) Undo(ctx context.Context, o history.UndoOptions) (*history.Operations, error) {
	return reverter.Undo(ctx, w.store, o)
}

// Redo repeats the operation, with its group, that the newest undo reverted. It
// is refused if there was another operation since.
func (w *Workspace) Redo(ctx context.Context, o history.UndoOptions) (*history.Operations, error) {
	return reverter.Redo(ctx, w.store, o)
}
