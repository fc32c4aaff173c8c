package workspace

import (
	"path/filepath"

	"github.com/bough-dev/bough/agent"
	"github.com/bough-dev/bough/internal/owner"
	"github.com/bough-dev/bough/session"
)

// ForeignPath returns the path of a file or folder of the workspace at dir that belongs to
// a user other than the current one: the folder itself, or a file that controls the
// workspace. It returns "" if the current user owns all of them.
//
// A program that finds a workspace, as [Find] does, instead of getting its path, should not
// use such a workspace: its owner controls the contents, and could read what is written to
// it.
func ForeignPath(dir string) (string, error) {
	for _, name := range []string{".", stateDir, session.Dir, agent.Dir, explorationsDir, headFile} {
		path := filepath.Join(dir, name)
		foreign, err := owner.Other(path)
		if foreign || err != nil {
			return path, err
		}
	}
	return "", nil
}
