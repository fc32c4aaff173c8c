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

// startGroup starts a command in a group of its own, which is killed when the
// command's context ends.
func startGroup(cmd *exec.Cmd) (*group, error) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error {
		(&group{cmd.Process.Pid}).kill()
		return nil
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	return &group{cmd.Process.Pid}, nil
}

// kill kills all that are in the group. There is somebody in it, so the number is no
// other group's.
func (g *group) kill() { syscall.Kill(-g.id, syscall.SIGKILL) }

func (g *group) close() {}
