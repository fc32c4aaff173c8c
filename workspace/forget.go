package workspace

import (
	"context"

	"github.com/bough-dev/bough/workspace/forget"
	"github.com/bough-dev/bough/workspace/internal/eraser"
)

// Forget permanently deletes a conversation: its files, also in the trash, and
// its text in the log, bookmarks, explorations, learnings, tasks and the
// records of imports and exports. Its id and the ids of its sources are kept,
// so that an import skips it. Forget cannot be undone. name may also be the id
// of a session that only exists in the trash or the log. The tree of an agent
// is refused.
func (w *Workspace) Forget(ctx context.Context, name string, o forget.Options) (*forget.Result, error) {
	return eraser.Forget(ctx, w.store, name, o)
}
