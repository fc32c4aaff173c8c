package workspace

import (
	"github.com/bough-dev/bough/workspace/internal/importer"
)

// CheckSkip returns an error if one of patterns, which exclude files from
// imports, is malformed.
func CheckSkip(patterns []string) error {
	return importer.CheckSkip(patterns)
}
