package store

import (
	"path/filepath"
	"testing"

	"github.com/bough-dev/bough/workspace/trash"
)

// TestNameOf: the name of a file in the trash is relative to the workspace, also if the
// workspace is the root of the file system.
func TestNameOf(t *testing.T) {
	const name = ".bough/trash/20260101T120000.000000/head.json"
	for _, dir := range []string{t.TempDir(), filepath.VolumeName(t.TempDir()) + string(filepath.Separator)} {
		v := &View{Store: New(dir, Options{}, Recovery{})}
		if got := v.NameOf(trash.File{Path: v.Path(name)}); got != name {
			t.Errorf("in %s the name is %q", dir, got)
		}
	}
}
