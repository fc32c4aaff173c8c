package workspace

import (
	"path/filepath"

	"github.com/bough-dev/bough/agent"
	"github.com/bough-dev/bough/internal/owner"
	"github.com/bough-dev/bough/session"
)

// ForeignPath returns the path of something of the workspace in the folder dir that belongs
// to another user than the one who runs this program: the folder itself, or what says what
// the workspace is and does. It returns "" if all of that belongs to this user.
//
// A program that finds a workspace, as [Find] does, rather than being given one, should not
// use it then: its owner decides what is in it, and could read what is written to it.
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
