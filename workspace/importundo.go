package workspace

import (
	"slices"

	"github.com/bough-dev/bough/internal/operation"
)

// afterUndo notes which imports were undone, so that what they stored stays out however
// its source grows, or redone.
func (v *View) afterUndo(ops []*operation.Operation, undone bool) error {
	imports := slices.DeleteFunc(slices.Clone(ops), func(o *operation.Operation) bool { return o == nil || o.Verb != "import" })
	if len(imports) == 0 {
		return nil
	}
	return keepOut(v.root, imports, undone)
}
