// Package child runs command lines that users wrote, and programs that bough talks to, and
// ends them with all that they started.
package child

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os/exec"
	"time"
)

// drain is how long what a command started, and left behind, is waited for if it
// still has its output.
const drain = 2 * time.Second

// Run runs a command line with sh -c, on Windows with cmd /C, and returns when it has
// ended and all that it wrote is written. When ctx ends, or a write to out fails, it is
// killed, with all that it started and that is in its process group, and the error is
// the cause of that. What it started and left behind with its output is not waited for
// long, and killed. Any other error is that of [exec.Cmd.Wait].
func Run(ctx context.Context, line string, input []byte, out, talk io.Writer) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	cmd := shell(ctx, line)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(input), &sink{out, cancel}, talk
	cmd.WaitDelay = drain
	group, err := startGroup(cmd, (*group).kill)
	if err != nil {
		return err
	}
	defer group.close()
	err = cmd.Wait()
	if errors.Is(err, exec.ErrWaitDelay) {
		group.kill() // somebody in it still has the output
		err = nil
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// A sink is told when a write fails.
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
