package child

import (
	"context"
	"os/exec"
	"sync"
	"syscall"

	"golang.org/x/sys/windows"
)

// shell returns the command for a command line, which is passed to cmd unchanged.
func shell(ctx context.Context, line string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "cmd")
	cmd.SysProcAttr = &syscall.SysProcAttr{CmdLine: `cmd /S /C "` + line + `"`}
	return cmd
}

// A group is a command with all its processes: a job.
type group struct {
	mu  sync.Mutex
	cmd *exec.Cmd
	job windows.Handle // 0 if it could not be created
}

// startGroup starts a command in a job of its own. If the command has a context,
// cancel is called with the job when that ends.
func startGroup(cmd *exec.Cmd, cancel func(*group)) (*group, error) {
	g := &group{cmd: cmd}
	if cmd.Cancel != nil {
		cmd.Cancel = func() error {
			cancel(g)
			return nil
		}
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	job, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return g, nil // only the command itself can be killed
	}
	process, err := windows.OpenProcess(windows.PROCESS_SET_QUOTA|windows.PROCESS_TERMINATE, false, uint32(cmd.Process.Pid))
	if err == nil {
		err = windows.AssignProcessToJobObject(job, process)
		windows.CloseHandle(process)
	}
	if err != nil {
		windows.CloseHandle(job)
		return g, nil
	}
	g.job = job
	return g, nil
}

// end kills: a program without a console cannot be asked to exit.
func (g *group) end() { g.kill() }

// kill kills all processes of the group.
func (g *group) kill() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.job != 0 {
		windows.TerminateJobObject(g.job, 1)
	}
	g.cmd.Process.Kill()
}

func (g *group) close() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.job != 0 {
		windows.CloseHandle(g.job)
		g.job = 0
	}
}
