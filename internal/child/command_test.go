package child

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

// this is a command that runs this test program in another role.
func this(how string) *Command {
	line := `"` + os.Args[0] + `"`
	if runtime.GOOS != "windows" {
		line = "exec '" + strings.ReplaceAll(os.Args[0], "'", `'\''`) + "'"
	}
	return &Command{Line: line, Bind: []string{asChild + "=" + how}}
}

func run(t *testing.T, ctx context.Context, c *Command) *Outcome {
	t.Helper()
	before := runtime.NumGoroutine()
	o, err := c.Run(ctx)
	if err != nil {
		t.Fatal(err)
	}
	for runtime.NumGoroutine() > before {
		time.Sleep(time.Millisecond) // the timeout of the test reports a leak
	}
	return o
}

// started calls f with longer and longer limits until f reports that the program had time
// to start.
func started(t *testing.T, f func(limit time.Duration) (*Outcome, bool)) *Outcome {
	t.Helper()
	for limit := 100 * time.Millisecond; ; limit *= 2 {
		o, ok := f(limit)
		if ok {
			return o
		}
		if limit > time.Minute {
			t.Fatalf("within %v it does not start: %+v", limit, o)
		}
	}
}

// TestCommand: whatever a program does, Run returns with its outcome.
func TestCommand(t *testing.T) {
	large := bytes.Repeat([]byte("line\n"), 1<<20) // more than a pipe holds
	const (
		limit    = 100_000
		grace    = 300 * time.Millisecond
		patience = time.Minute
	)
	for _, c := range []struct {
		how    string
		input  []byte
		limits bool // it has a limit of time
		end    End
		exit   int
		reason string
		output string // its beginning
		said   string
	}{
		{how: "cat", input: []byte("hello"), end: Exited, output: "hello"},
		{how: "garbage", end: Exited, exit: 1, reason: "exit status 1", output: "\xff\x00{\"result\":"},
		{how: "no\n", input: large, end: Exited, exit: 3, reason: "exit status 3", said: "no"},
		{how: "closes", input: large, end: Exited, output: "early", said: "late"},
		{how: "flood", end: Flooded, exit: -1, reason: "it wrote more than 100000 bytes", output: "\x00"},
		{how: "deaf flood", end: Flooded, exit: -1, reason: "it wrote more than 100000 bytes", output: "\x00"},
		{how: "hang", input: large, limits: true, end: TimedOut, exit: -1, reason: "it took longer than "},
		{how: "deaf", limits: true, end: TimedOut, exit: -1, reason: "it took longer than ", output: "up\n"},
		{how: "polite", limits: true, end: TimedOut, reason: "it took longer than ", output: "up\nlast words\n"},
	} {
		t.Run(c.how, func(t *testing.T) {
			if runtime.GOOS == "windows" && c.limits {
				c.exit, c.output = 1, strings.TrimSuffix(c.output, "last words\n")
			}
			reason := c.reason
			o := started(t, func(timeout time.Duration) (*Outcome, bool) {
				command := this(c.how)
				command.Input, command.MaxOutput, command.Grace = c.input, limit, grace
				switch c.how {
				case "polite":
					command.Grace = patience
				case "deaf", "deaf flood":
					command.Grace = grace / 6
				}
				if c.limits {
					command.Timeout = timeout
					reason = c.reason + timeout.String()
				}
				o := run(t, t.Context(), command)
				return o, !c.limits || c.output == "" || strings.HasPrefix(string(o.Output), "up\n")
			})
			if o.End != c.end || o.Exit != c.exit || o.Reason != reason || o.Said != c.said {
				t.Errorf("it ended %+v, want the reason %q", o, reason)
			}
			if got := string(o.Output); !strings.HasPrefix(got, c.output) || c.end != Flooded && got != c.output || c.end == Flooded && len(got) != limit {
				t.Errorf("its output is %.100q, %d bytes", got, len(got))
			}
			if o.Duration <= 0 {
				t.Error("it took no time")
			}
		})
	}
}

// TestCancel: when the context ends, Run reports its cause.
func TestCancel(t *testing.T) {
	why := errors.New("no longer needed")
	ctx, cancel := context.WithCancelCause(t.Context())
	time.AfterFunc(50*time.Millisecond, func() { cancel(why) })
	c := this("hang")
	c.Timeout = time.Hour
	if o := run(t, ctx, c); o.End != Cancelled || o.Reason != why.Error() {
		t.Errorf("it ended %+v", o)
	}
	if o := run(t, ctx, c); o.End != Cancelled || o.Reason != why.Error() || o.Exit != -1 || o.Duration != 0 {
		t.Errorf("it ended before its start: %+v", o)
	}
}

func TestEnvironment(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("this test is written in sh")
	}
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("A_TEST", "own")
	for _, c := range []struct {
		env, bind []string
		want      string
	}{
		{nil, nil, "own "},
		{nil, []string{"A_TEST=1", "B_TEST=x=y z", "A_TEST=2"}, "2 x=y z"},
		{[]string{}, nil, " "},
		{[]string{"A_TEST=base"}, []string{"B_TEST="}, "base "},
	} {
		o := run(t, t.Context(), &Command{Line: `pwd; echo "$PWD"; echo "$A_TEST $B_TEST"`, Dir: dir, Env: c.env, Bind: c.bind})
		if want := dir + "\n" + dir + "\n" + c.want + "\n"; string(o.Output) != want {
			t.Errorf("%v and %v: %q, want %q", c.env, c.bind, o.Output, want)
		}
	}
}

func TestNotStarted(t *testing.T) {
	for _, c := range []struct {
		command Command
		want    string
	}{
		{Command{Dir: filepath.Join(t.TempDir(), "none")}, "none"},
		{Command{Bind: []string{"KEY"}}, `"KEY" is not a valid environment variable`},
		{Command{Bind: []string{"=secret"}}, `"" is not a valid environment variable`},
		{Command{Bind: []string{"KEY=secret\x00"}}, `"KEY" is not a valid environment variable`},
	} {
		o, err := c.command.Run(t.Context())
		if o != nil || err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%+v: %v, %v", c.command, o, err)
		}
	}
}
