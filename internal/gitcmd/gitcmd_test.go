package gitcmd_test

import (
	"slices"
	"testing"

	"github.com/bough-dev/bough/internal/gitcmd"
)

func TestEnviron(t *testing.T) {
	env := []string{"GIT_DIR=x", "A=GIT_DIR=", "GIT_INDEX_FILE=y", "GIT_SSH=z"}
	if got := gitcmd.Environ(env); !slices.Equal(got, []string{"A=GIT_DIR=", "GIT_SSH=z"}) || len(env) != 4 || env[0] != "GIT_DIR=x" {
		t.Errorf("got %v of %v", got, env)
	}
}
