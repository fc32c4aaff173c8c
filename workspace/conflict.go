package workspace

import (
	"context"

	"github.com/bough-dev/bough/workspace/doctor"
	"github.com/bough-dev/bough/workspace/internal/checkup"
)

// ConflictCopies returns the files that file-synchronization programs put
// beside sessions when both sides changed. bough ignores them otherwise.
func (w *Workspace) ConflictCopies(ctx context.Context) ([]doctor.ConflictFile, error) {
	return checkup.ConflictCopies(ctx, w.store)
}

// MergeCopies adds the messages of each conflict copy to its session, by id, and moves the
// copy to the trash. A copy without a session becomes the session. A copy that contradicts
// its session is left in place, unmerged. All changes are one operation.
func (w *Workspace) MergeCopies(ctx context.Context) (*doctor.MergedCopies, error) {
	return checkup.MergeCopies(ctx, w.store)
}
