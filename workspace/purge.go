package workspace

import (
	"context"

	"github.com/bough-dev/bough/workspace/internal/eraser"
	"github.com/bough-dev/bough/workspace/trash"
)

// PurgeTrash deletes the contents of the trash, and the attachments that only
// these refer to, and returns what it deleted. It also removes the text of the
// deleted sessions from the log, bookmarks, explorations, learnings and tasks.
// The operations that moved the files to the trash can no longer be undone.
func (w *Workspace) PurgeTrash(ctx context.Context, o trash.PurgeOptions) (*trash.List, error) {
	return eraser.PurgeTrash(ctx, w.store, o)
}
