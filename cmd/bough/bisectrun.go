package main

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	"github.com/bough-dev/bough/internal/bisect"
	"github.com/bough-dev/bough/internal/child"
	"github.com/bough-dev/bough/internal/isolate"
	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/fault"
	"github.com/bough-dev/bough/workspace/files"
	"github.com/bough-dev/bough/workspace/origin"
)

// skipStatus is the exit status of a command that cannot test a step, as git has it.
const skipStatus = 125

// A bisection is the result of the verb.
type bisection struct {
	Dir string `json:"dir"`
	// Candidates are the steps that can have made it go wrong: the first bad one, the last of the
	// list, and those before it that were skipped.
	Candidates []origin.Step `json:"candidates"`
	Good       origin.Step   `json:"good"` // the last good step before them
	Tests      []stepTest    `json:"tests"`
	Flaky      bool          `json:"flaky"` // the same files were good once and bad once
	// Diff is what the candidates changed.
	Diff *files.Diff `json:"diff"`
}

// A stepTest is a run of the command.
type stepTest struct {
	Message string  `json:"message_id"`
	State   string  `json:"state_id"`
	Verdict string  `json:"verdict"` // good, bad or skipped
	Exit    int     `json:"exit"`    // exit status, -1 if it timed out
	Seconds float64 `json:"seconds"`
}

// A bisector runs a command in the folders of steps.
type bisector struct {
	p       *program
	w       *workspace.Workspace
	plan    *origin.Bisection
	command string
	timeout time.Duration
	temp    string // the folder of the folders

	result bisection
}

// find tests the ends, and then the steps between them.
func (b *bisector) find(ctx context.Context) (*bisection, error) {
	steps := b.plan.Steps
	b.result = bisection{Dir: b.plan.Dir, Tests: []stepTest{}}
	last := len(steps) - 1
	for _, end := range []struct {
		step int
		want bisect.Verdict
	}{{0, bisect.Good}, {last, bisect.Bad}} {
		b.say("%s: should be %s", b.name(end.step), verdictName(end.want))
		got, err := b.test(ctx, end.step)
		if err != nil {
			return nil, err
		}
		if got != end.want {
			return nil, notBetween(steps[end.step], verdictName(got), verdictName(end.want), b.result.Tests[len(b.result.Tests)-1].Exit)
		}
	}
	search := bisect.New(len(steps))
	for step, ok := search.Next(); ok; step, ok = search.Next() {
		n, tests := search.Left()
		b.say("%s: %s left, about %s", b.name(step), count(n, "step"), count(tests, "test"))
		v, err := b.test(ctx, step)
		if err != nil {
			return nil, err
		}
		search.Record(step, v)
	}
	return b.conclude(ctx, search)
}

// conclude tests the result once more, and adds what changed.
func (b *bisector) conclude(ctx context.Context, search *bisect.Search) (*bisection, error) {
	good, bad := search.Found()
	for _, again := range []struct {
		step int
		want bisect.Verdict
	}{{good, bisect.Good}, {bad, bisect.Bad}} {
		b.say("%s: once more", b.name(again.step))
		v, err := b.test(ctx, again.step)
		if err != nil {
			return nil, err
		}
		b.result.Flaky = b.result.Flaky || v != again.want
	}
	steps := b.plan.Steps
	b.result.Candidates, b.result.Good = steps[good+1:bad+1], steps[good]
	var err error
	b.result.Diff, err = b.w.Folder(b.plan.Dir).Diff(ctx, steps[good].State, steps[bad].State, files.DiffOptions{Patch: true})
	return &b.result, err
}

func verdictName(v bisect.Verdict) string {
	return map[bisect.Verdict]string{bisect.Good: "good", bisect.Bad: "bad", bisect.Skip: "skipped"}[v]
}

func (b *bisector) name(step int) string {
	return fmt.Sprintf("Step %d of %d, %s", step+1, len(b.plan.Steps), shortMessage(string(b.plan.Steps[step].Message)))
}

func (b *bisector) say(format string, a ...any) {
	b.p.meter.clear()
	fmt.Fprintln(b.p.stderr, b.p.talk.dim(fmt.Sprintf(format, a...)))
}

// test runs the command in a folder with the files of a step.
func (b *bisector) test(ctx context.Context, step int) (bisect.Verdict, error) {
	s := b.plan.Steps[step]
	out := filepath.Join(b.temp, "files")
	made, err := b.w.Folder(b.plan.Dir).Checkout(ctx, s.State, out)
	if err != nil {
		return 0, err
	}
	defer isolate.RemoveAll(made.Root)
	b.p.meter.clear()
	c := child.Command{
		Line: b.command, Dir: made.Dir, Timeout: b.timeout, Live: b.p.stderr,
		Bind: []string{"BOUGH_SESSION=" + string(s.Session), "BOUGH_MESSAGE=" + string(s.Message), "BOUGH_STATE=" + s.State},
	}
	o, err := c.Run(ctx)
	if err != nil {
		return 0, err
	}
	v := bisect.Bad
	switch {
	case o.End == child.Cancelled:
		return 0, ctx.Err()
	case o.End == child.TimedOut || o.Exit == skipStatus:
		v = bisect.Skip
	case o.Exit == 0:
		v = bisect.Good
	case o.Exit < 0 || o.Exit > 127:
		return 0, &fault.Error{Code: fault.Failed, Message: fmt.Sprintf("the command ended with %s at %s", o.Reason, b.name(step)), Hint: "0 is good, 1 to 127 is bad, 125 skips a step; other statuses end the bisection"}
	}
	exit := o.Exit
	if o.End == child.TimedOut {
		exit = -1
		b.say("%s after %v", o.Reason, b.timeout)
	}
	b.result.Tests = append(b.result.Tests, stepTest{string(s.Message), s.State, verdictName(v), exit, o.Duration.Seconds()})
	b.say("%s is %s", b.name(step), verdictName(v))
	return v, nil
}
