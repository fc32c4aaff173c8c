package workspace

import "github.com/bough-dev/bough/convert"

// WrittenWith returns the options that e was written with, for a test that goes on with it
// as its program does.
func (e *Export) WrittenWith() convert.Options { return e.o }
