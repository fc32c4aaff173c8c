package workspace

import (
	"slices"

	"github.com/bough-dev/bough/internal/operation"
)

// afterUndo records which imports were undone, so that their sources are
// skipped even if they grow, or redone.
func (tx *Tx) afterUndo(ops []*operation.Operation, undone bool) error {
	imports := slices.DeleteFunc(slices.Clone(ops), func(o *operation.Operation) bool { return o == nil || o.Verb != "import" })
	if len(imports) == 0 {
		return nil
	}
	return keepOut(tx.View.root, imports, undone)
}
