package workspace

import (
	"github.com/bough-dev/bough/workspace/fault"
	"github.com/bough-dev/bough/workspace/internal/store"
)

// Explain returns any error of this package as a *[fault.Error], with its code
// and next steps. It returns nil for nil.
func Explain(err error) *fault.Error { return store.Explain(err) }
