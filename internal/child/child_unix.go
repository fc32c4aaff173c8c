//go:build unix

package child

import (
	"context"
	"os/exec"
	"syscall"
)

// shell returns the command that runs a command line.
func shell(ctx context.Context, line string) *exec.Cmd {
	return exec.CommandContext(ctx, "/bin/sh", "-c", line)
}

// A group is a command with all that it starts: a process group.
type group struct{ id int }

// startGroup starts a command in a group of its own. When the command's context ends, if
// it has one, cancel is called with the group.
func startGroup(cmd *exec.Cmd, cancel func(*group)) (*group, error) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if cmd.Cancel != nil {
		cmd.Cancel = func() error {
			cancel(&group{cmd.Process.Pid})
			return nil
		}
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	return &group{cmd.Process.Pid}, nil
}

// end asks all that are in the group to end.
func (g *group) end() { syscall.Kill(-g.id, syscall.SIGTERM) }

// kill kills all that are in the group. While somebody is in it the number is no
// other group's, and a number is not given again soon.
func (g *group) kill() { syscall.Kill(-g.id, syscall.SIGKILL) }

func (g *group) close() {}
