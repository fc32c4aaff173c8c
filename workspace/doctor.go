package workspace

import (
	"context"

	"github.com/bough-dev/bough/workspace/doctor"
	"github.com/bough-dev/bough/workspace/internal/checkup"
)

// Doctor checks every file of the workspace and reports all problems. Unless
// o.Fix is set, it writes nothing, not even to .bough.
func (w *Workspace) Doctor(ctx context.Context, o doctor.Options) (*doctor.Report, error) {
	return checkup.Run(ctx, w.store, o)
}
