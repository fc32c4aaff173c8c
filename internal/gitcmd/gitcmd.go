// Package gitcmd runs the program git, without hooks and questions, and independent of
// variables of the environment that bind it to a repository.
package gitcmd

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"
)

// Run runs git in a folder with an input, which may be nil, and returns its output. The error
// has the message after "fatal: ", or the last line of standard error; if ctx ended, it is the
// cause.
func Run(ctx context.Context, dir string, input io.Reader, args ...string) ([]byte, error) {
	settings := []string{"-c", "core.hooksPath=" + os.DevNull, "-c", "core.fsmonitor=false", "-c", "protocol.file.allow=always", "-c", "maintenance.auto=false"}
	cmd := exec.CommandContext(ctx, "git", append(settings, args...)...)
	cmd.Dir, cmd.Stdin, cmd.WaitDelay = dir, input, 10*time.Second // a filter that it started may still be running
	// git must not refresh the user's index, and messages must not be translated.
	cmd.Env = append(Environ(os.Environ()), "GIT_OPTIONAL_LOCKS=0", "GIT_TERMINAL_PROMPT=0", "LC_ALL=C")
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil && ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if text := strings.TrimSpace(said.String()); err != nil && text != "" {
		lines := strings.Split(text, "\n")
		for _, line := range lines {
			if why, ok := strings.CutPrefix(line, "fatal: "); ok {
				return nil, errors.New(why)
			}
		}
		return nil, errors.New(lines[len(lines)-1])
	}
	return out, err
}

// Environ returns env without the variables that bind git to a repository, such as
// GIT_DIR. git sets them for hooks and aliases. With them a program in an isolated
// folder would work in the user's repository.
func Environ(env []string) []string {
	return slices.DeleteFunc(slices.Clone(env), func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		return slices.Contains(local, name)
	})
}

// local is the output of 'git rev-parse --local-env-vars' without the configuration
// variables.
var local = []string{
	"GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_COMMON_DIR", "GIT_DIR", "GIT_GRAFT_FILE",
	"GIT_IMPLICIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_INTERNAL_SUPER_PREFIX",
	"GIT_NO_REPLACE_OBJECTS", "GIT_OBJECT_DIRECTORY", "GIT_PREFIX", "GIT_REPLACE_REF_BASE",
	"GIT_SHALLOW_FILE", "GIT_WORK_TREE",
}
