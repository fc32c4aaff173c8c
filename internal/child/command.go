package child

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"strings"
	"time"
)

// A Command is a command line that may do anything: answer too much, hang, leave
// programs behind. It is run as [Run] runs one.
type Command struct {
	Line  string
	Dir   string   // where it runs, "" for the folder of this program
	Env   []string // its environment, each NAME=VALUE; nil for that of this program
	Bind  []string // what is added to that, each NAME=VALUE; the last of a name counts
	Input []byte   // its standard input, as much as it wants of it

	MaxOutput int           // how much of its standard output is taken, in bytes; 0 for 1 MiB
	Timeout   time.Duration // how long it may take; 0 for as long as it likes
	Grace     time.Duration // from the request to end until it is killed; 0 for 2 s
}

// An End is why a command ended.
type End string

const (
	Exited    End = "exited"    // by itself, or killed by somebody else
	TimedOut  End = "timed out" // it took longer than Command.Timeout
	Cancelled End = "cancelled" // the context ended
	Flooded   End = "flooded"   // it wrote more than Command.MaxOutput
)

// An Outcome is what became of a command.
type Outcome struct {
	Output   []byte // its standard output, the beginning of it if it was Flooded
	Said     string // the end of its standard error, as [Process.Said] has it
	End      End
	Exit     int    // its exit status, -1 if it has none: a signal killed it, or it was not started
	Reason   string // why it did not end well, for a person; "" if it did
	Duration time.Duration
}

// Run runs the command and returns when it has ended. An error is that it could not be
// started; all that it does then is an Outcome, whatever it is.
//
// When its time is over, it writes too much, or ctx ends, all that are in its process
// group are asked to end (SIGTERM) and those that have not after Grace are killed. Those
// who are in the group when the command has ended, by itself too, are killed: at once, or
// after Grace if they have its output. What they write in that time counts. On Windows
// there is nothing to ask with: all that it started are killed at once.
//
// A program that leaves the group (setsid, a daemon) is not found, except on Windows. If
// it has the output it is not waited for longer than Grace.
func (c *Command) Run(ctx context.Context) (*Outcome, error) {
	for _, b := range c.Bind {
		if name, _, ok := strings.Cut(b, "="); !ok || name == "" || strings.Contains(b, "\x00") {
			return nil, fmt.Errorf("%q cannot be in an environment: it is to be NAME=VALUE", name)
		}
	}
	timeout := fmt.Errorf("it took longer than %v", c.Timeout)
	if c.Timeout > 0 {
		var stop context.CancelFunc
		ctx, stop = context.WithTimeoutCause(ctx, c.Timeout, timeout)
		defer stop()
	}
	if ctx.Err() != nil {
		return &Outcome{End: Cancelled, Exit: -1, Reason: context.Cause(ctx).Error()}, nil
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)

	out := &head{most: c.MaxOutput}
	if out.most <= 0 {
		out.most = 1 << 20
	}
	var said tail
	cmd := shell(ctx, c.Line)
	cmd.Dir, cmd.Env = c.Dir, c.Env
	if c.Env == nil {
		cmd.Env = os.Environ()
	}
	cmd.Env = append(cmd.Env[:len(cmd.Env):len(cmd.Env)], c.Bind...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(c.Input), &sink{out, cancel}, &said
	if cmd.WaitDelay = c.Grace; c.Grace <= 0 {
		cmd.WaitDelay = drain
	}
	asked := make(chan error, 1)
	begin := time.Now()
	group, err := startGroup(cmd, func(g *group) {
		asked <- context.Cause(ctx)
		g.end()
	})
	if err != nil {
		// That it is the folder that is missing, the error would not say.
		if _, err := os.Stat(c.Dir); c.Dir != "" && err != nil {
			return nil, err
		}
		return nil, err
	}
	cmd.Wait() // how it ended stands in cmd.ProcessState
	group.kill()
	group.close()

	o := &Outcome{Output: out.data, Said: said.String(), End: Exited, Exit: cmd.ProcessState.ExitCode(), Duration: time.Since(begin)}
	if !cmd.ProcessState.Success() {
		o.Reason = cmd.ProcessState.String()
	}
	select {
	case cause := <-asked:
		o.Reason = cause.Error()
		if o.End = Cancelled; cause == timeout {
			o.End = TimedOut
		}
	default:
	}
	if out.over != nil {
		o.End, o.Reason = Flooded, out.over.Error()
	}
	return o, nil
}

// A head keeps the beginning of what is written to it, and fails then.
type head struct {
	data []byte
	most int
	over error // once there was more
}

func (h *head) Write(b []byte) (int, error) {
	n := min(len(b), h.most-len(h.data))
	h.data = append(h.data, b[:n]...)
	if n < len(b) {
		h.over = fmt.Errorf("it wrote more than %d bytes", h.most)
	}
	return n, h.over
}
