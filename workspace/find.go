package workspace

import (
	"context"
	"os"
	"path/filepath"
	"strings"

	"github.com/bough-dev/bough/internal/durable"
	"github.com/bough-dev/bough/session"
)

// Is reports whether the folder dir is a workspace: whether it has a folder
// .bough, or a folder conversations with an index or a session.
func Is(dir string) bool { return isWorkspace(dir) }

func isWorkspace(dir string) bool {
	if info, err := os.Stat(filepath.Join(dir, stateDir)); err == nil && info.IsDir() {
		return true
	}
	return holdsSessions(filepath.Join(dir, session.Dir))
}

func holdsSessions(dir string) bool {
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return false
	}
	f, err := os.Open(dir)
	if err != nil {
		return false
	}
	defer f.Close()
	for {
		names, err := f.Readdirnames(64)
		for _, name := range names {
			if strings.HasSuffix(name, ".json") {
				return true
			}
		}
		if err != nil {
			return false
		}
	}
}

// Find returns the nearest workspace that contains dir, or dir itself if it is
// one, and reports whether there is one.
func Find(dir string) (string, bool) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", false
	}
	for {
		if isWorkspace(dir) {
			return dir, true
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", false
		}
		dir = parent
	}
}

// Make creates the workspace without content, if it does not exist. Methods
// that write create it too.
func (w *Workspace) Make(ctx context.Context) error {
	if err := ctx.Err(); err != nil || isWorkspace(w.store.dir) {
		return err
	}
	root, err := durable.MakeRoot(w.store.dir)
	if err != nil {
		return err
	}
	defer root.Close()
	return durable.MakeDir(root, stateDir)
}
