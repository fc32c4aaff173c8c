package workspace

import (
	"context"

	"github.com/bough-dev/bough/internal/durable"
)

// Make makes the workspace if it is not there, without anything in it. Methods that
// write do so anyway.
func (w *Workspace) Make(ctx context.Context) error {
	if err := ctx.Err(); err != nil || Is(w.dir) {
		return err
	}
	root, err := durable.MakeRoot(w.dir)
	if err != nil {
		return err
	}
	defer root.Close()
	return durable.MakeDir(root, stateDir)
}
