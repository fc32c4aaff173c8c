package child

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/bough-dev/bough/internal/bounded"
)

// A Command is a command line that is not trusted: it may write too much, hang, or
// leave processes behind. It is run as by [Run].
type Command struct {
	Line  string
	Dir   string   // working directory, "" for that of this program
	Env   []string // environment, each NAME=VALUE; nil for that of this program
	Bind  []string // additions to it, each NAME=VALUE; the last of a name counts
	Input []byte   // standard input, which the command need not read

	// Live gets both outputs as they are written, which the [Outcome] does not have then. A
	// failing write kills the command. If nil, the Outcome has them.
	Live io.Writer

	MaxOutput int           // maximum size of the standard output in bytes; 0 means 1 MiB
	Timeout   time.Duration // 0 means no limit
	Grace     time.Duration // time from the request to exit until it is killed; 0 means 2 s
}

// An End is the reason why a command ended.
type End string

const (
	Exited    End = "exited"    // by itself, or killed by another process
	TimedOut  End = "timed out" // it took longer than Command.Timeout
	Cancelled End = "cancelled" // the context ended
	Flooded   End = "flooded"   // it wrote more than Command.MaxOutput
)

// An Outcome is the result of a command.
type Outcome struct {
	Output   []byte // standard output, only the beginning if End is Flooded
	Said     string // the end of its standard error, as in [Process.Said]
	End      End
	Exit     int    // exit status, -1 if it has none: a signal killed it, or it was not started
	Reason   string // why it failed, for a person; "" if it succeeded
	Duration time.Duration
}

// Run runs the command and returns when it has ended. An error means that it could
// not be started; everything after that is reported in the Outcome.
//
// If the command exceeds its timeout or its output limit, or ctx ends, all
// processes of its group are asked to exit (SIGTERM), and killed if they have not
// after Grace. When the command has exited, the remaining processes of the group
// are killed: at once, or after Grace if they have its output. Their output in that
// time counts. On Windows there is no such request: all processes that it started
// are killed at once.
//
// A process that leaves the group (setsid, a daemon) is not killed, except on
// Windows. If it has the output, Run waits for it at most for Grace.
func (c *Command) Run(ctx context.Context) (*Outcome, error) {
	for _, b := range c.Bind {
		if name, _, ok := strings.Cut(b, "="); !ok || name == "" || strings.Contains(b, "\x00") {
			return nil, fmt.Errorf("%q is not a valid environment variable; want NAME=VALUE", name)
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

	var output bytes.Buffer
	out := &bounded.Writer{W: &output, Limit: int64(c.MaxOutput), Verb: "it wrote"}
	if c.MaxOutput <= 0 {
		out.Limit = 1 << 20
	}
	var said tail
	cmd := shell(ctx, c.Line)
	cmd.Dir, cmd.Env = c.Dir, c.Env
	if c.Env == nil {
		cmd.Env = os.Environ()
	}
	cmd.Env = append(cmd.Env[:len(cmd.Env):len(cmd.Env)], c.Bind...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(c.Input), &sink{out, cancel}, &said
	if c.Live != nil {
		live := &sink{c.Live, cancel}
		cmd.Stdout, cmd.Stderr = live, live
	}
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
		// The error does not mention that the folder is missing.
		if _, err := os.Stat(c.Dir); c.Dir != "" && err != nil {
			return nil, err
		}
		return nil, err
	}
	cmd.Wait() // the result is in cmd.ProcessState
	group.kill()
	group.close()

	o := &Outcome{Output: output.Bytes(), Said: said.String(), End: Exited, Exit: cmd.ProcessState.ExitCode(), Duration: time.Since(begin)}
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
	if over := out.Err(); over != nil {
		o.End, o.Reason = Flooded, over.Error()
	}
	return o, nil
}
