package coverage

import (
	"os"
	"path/filepath"

	"github.com/bough-dev/bough/internal/ignore"
)

// Within returns what a folder is or is in, if that is the data of version control or what
// bough writes, which no state holds; else "". A folder that has an entry .git is a work tree,
// wherever it is. The folder is an absolute path without symbolic links.
func Within(folder string) ignore.Reason {
	for dir := folder; ; dir = filepath.Dir(dir) {
		above := filepath.Dir(dir)
		if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil || above == dir {
			return ""
		}
		var marks ignore.Marks
		for _, name := range []string{ignore.WorkspaceFolder, ignore.GitHead, ignore.GitObjects, ignore.GitRefs} {
			if info, err := os.Lstat(filepath.Join(above, name)); err == nil {
				marks |= ignore.Mark(name, info.IsDir())
			}
		}
		if why := marks.BuiltIn(filepath.Base(dir), true); why.Always() || why == ignore.GitData {
			return why
		}
		if marks.Inside(filepath.Base(dir)).Shared() {
			return ignore.Workspace
		}
	}
}
