package workspace

import (
	"context"
	"os"
	"path/filepath"
	"strings"

	"github.com/bough-dev/bough/internal/durable"
	"github.com/bough-dev/bough/session"
)

// Is reports whether the folder dir is a workspace: it has a folder .bough, or
// a folder conversations with an index or a session in it.
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

// Find returns the workspace that contains dir: dir or its nearest ancestor
// that is a workspace, and whether there is one.
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

// Make makes the workspace if it is not there, without anything in it. Methods that
// write do so anyway.
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
