package coverage_test

import (
	"path/filepath"
	"testing"

	"github.com/bough-dev/bough/internal/coverage"
	"github.com/bough-dev/bough/internal/ignore"
)

// TestWithin: the data of repositories and workspaces is no folder for states; work trees are,
// wherever they are.
func TestWithin(t *testing.T) {
	f := newFolder(t)
	f.write("top/.git/refs/heads/main", "", "top/.git/trees/x/.git", "", "top/.git/trees/x/sub/a", "", "top/src/refs/a", "", "top/.hg/store/a", "",
		"bare/HEAD", "", "bare/objects/x/y", "", "bare/refs/x", "", "bare/main/.git", "", "bare/main/a", "", "bare/notes/a", "",
		"ws/.bough/cache/x", "", "ws/conversations/x", "", "ws/states/x", "", "ws/states2/x", "", "ws/states2/states/x", "", "ws/.x.bough-tmp/a", "")
	for dir, want := range map[string]ignore.Reason{
		"top": "", "top/src/refs": "", "top/.git": ignore.VersionControl, "top/.git/refs/heads": ignore.VersionControl, "top/.hg/store": ignore.VersionControl,
		"top/.git/trees": ignore.VersionControl, "top/.git/trees/x": "", "top/.git/trees/x/sub": "",
		"bare": "", "bare/objects/x": ignore.GitData, "bare/refs": ignore.GitData, "bare/main": "", "bare/notes": "",
		"ws": "", "ws/.bough/cache": ignore.Workspace, "ws/conversations": ignore.Workspace, "ws/states": ignore.Workspace,
		"ws/states2": "", "ws/states2/states": "", "ws/.x.bough-tmp": ignore.Temporary,
	} {
		if got := coverage.Within(filepath.Join(f.dir, filepath.FromSlash(dir))); got != want {
			t.Errorf("%s is in %q, want %q", dir, got, want)
		}
	}
}
