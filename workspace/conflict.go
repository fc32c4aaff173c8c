package workspace

import (
	"context"

	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace/doctor"
	"github.com/bough-dev/bough/workspace/internal/checkup"
)

// ConflictCopies returns the files that file-synchronization programs put
// beside sessions when both sides changed. bough ignores them otherwise.
func (w *Workspace) ConflictCopies(ctx context.Context) ([]session.ConflictCopy, error) {
	root, err := w.store.Open(ctx)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	return session.NewFolder(root, w.store.Memory).ConflictCopies()
}

// MergeCopies adds the messages of each conflict copy to its session, by id, and moves the
// copy to the trash; see [session.Session.MergeCopy]. A copy without a session becomes the
// session. A copy that contradicts its session is left in place, unmerged. All changes are
// one operation.
func (w *Workspace) MergeCopies(ctx context.Context) (*doctor.MergedCopies, error) {
	return checkup.MergeCopies(ctx, w.store)
}
