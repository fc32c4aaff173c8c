// Package child runs command lines of users and programs that bough communicates
// with, and ends them with all processes that they started.
package child

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"os/exec"
	"time"
)

// drain is the time to wait for processes that a command left behind with its
// output.
const drain = 2 * time.Second

// Run runs a command line with sh -c, on Windows with cmd /C, and returns when it
// has exited and its output is written. When ctx ends, or a write to out fails, Run
// kills the command with all processes of its process group and returns the cause.
// Processes that it left behind with its output are killed after the time grace; 0 means
// 2 s. Any other error is that of [exec.Cmd.Wait].
func Run(ctx context.Context, line string, input []byte, out, talk io.Writer, grace time.Duration) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	cmd := shell(ctx, line)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(input), &sink{out, cancel}, talk
	cmd.WaitDelay = cmp.Or(grace, drain)
	group, err := startGroup(cmd, (*group).kill)
	if err != nil {
		return err
	}
	defer group.close()
	err = cmd.Wait()
	if errors.Is(err, exec.ErrWaitDelay) {
		group.kill() // a process in it still has the output
		err = nil
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// A sink calls failed when a write fails.
type sink struct {
	io.Writer
	failed func(error)
}

func (s *sink) Write(p []byte) (int, error) {
	n, err := s.Writer.Write(p)
	if err != nil {
		s.failed(err)
	}
	return n, err
}
