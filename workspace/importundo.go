package workspace

import "github.com/bough-dev/bough/operation"

// afterUndo notes which imports were undone, so that what they stored stays out however
// its source grows, or redone.
func (v *view) afterUndo(ops []*operation.Operation, undone bool) error {
	for _, o := range ops {
		if o.Verb != "import" {
			continue
		}
		if err := keepOut(v.root, o, undone); err != nil {
			return err
		}
	}
	return nil
}
