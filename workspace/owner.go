package workspace

import (
	"path/filepath"

	"github.com/bough-dev/bough/agent"
	"github.com/bough-dev/bough/internal/owner"
	"github.com/bough-dev/bough/internal/sessions"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace/internal/store"
)

// ForeignPath returns the path of a file or folder of the workspace at dir that
// another user owns: the folder itself, or a file that controls the workspace.
// It returns "" if the current user owns all of them.
//
// A program that looks for a workspace, as [Find] does, should not use one with
// such a path: its owner controls the contents, and could read what is written
// to it. This does not apply if the user named the workspace.
func ForeignPath(dir string) (string, error) {
	for _, name := range []string{".", store.StateDir, session.Dir, sessions.PackedDir, agent.Dir, store.ExplorationsDir, store.HeadFile} {
		path := filepath.Join(dir, name)
		foreign, err := owner.Other(path)
		if foreign || err != nil {
			return path, err
		}
	}
	return "", nil
}
