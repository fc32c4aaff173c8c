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

// A group is a command with all its processes: a process group.
type group struct{ id int }

// startGroup starts a command in a group of its own. If the command has a context,
// cancel is called with the group when that ends.
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

// end asks all processes of the group to exit.
func (g *group) end() { syscall.Kill(-g.id, syscall.SIGTERM) }

// kill kills all processes of the group. While it has a process its number is not
// reused, and not soon after that.
func (g *group) kill() { syscall.Kill(-g.id, syscall.SIGKILL) }

func (g *group) close() {}
