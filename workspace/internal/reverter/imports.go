package reverter

import (
	"slices"

	"github.com/bough-dev/bough/internal/operation"
	"github.com/bough-dev/bough/workspace/internal/importer"
	"github.com/bough-dev/bough/workspace/internal/store"
)

// afterUndo records which imports were undone, so that their sources are
// skipped even if they grow, or redone.
func afterUndo(tx *store.Tx, ops []*operation.Operation, undone bool) error {
	imports := slices.DeleteFunc(slices.Clone(ops), func(o *operation.Operation) bool { return o == nil || o.Verb != "import" })
	if len(imports) == 0 {
		return nil
	}
	return importer.KeepOut(tx.View.Root, imports, undone)
}
