package child

import (
	"context"
	"os/exec"
	"sync"
	"syscall"

	"golang.org/x/sys/windows"
)

// shell returns the command that runs a command line, which cmd takes as it is.
func shell(ctx context.Context, line string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "cmd")
	cmd.SysProcAttr = &syscall.SysProcAttr{CmdLine: `cmd /S /C "` + line + `"`}
	return cmd
}

// A group is a command with all that it starts: a job.
type group struct {
	mu  sync.Mutex
	cmd *exec.Cmd
	job windows.Handle // 0 if there is none
}

// startGroup starts a command in a job of its own. When the command's context ends, if it
// has one, cancel is called with the job.
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
		return g, nil // the command alone can be killed
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

// end kills: a program without a console cannot be asked.
func (g *group) end() { g.kill() }

// kill kills all that are in the group.
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
