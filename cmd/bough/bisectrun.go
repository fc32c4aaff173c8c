package main

import (
	"context"
	"fmt"
	"time"

	"github.com/bough-dev/bough/internal/child"
	"github.com/bough-dev/bough/workspace/fault"
	"github.com/bough-dev/bough/workspace/origin"
)

// skipStatus is the exit status of a command that cannot test a step, as git has it.
const skipStatus = 125

// A tester runs a command in the folders of the steps of a bisection.
type tester struct {
	p       *program
	command string
	timeout time.Duration
}

func (r tester) test(ctx context.Context, t origin.Trial) (origin.Test, error) {
	name := fmt.Sprintf("Step %d of %d, %s", t.Number, t.Of, clean(shortMessage(string(t.Message))))
	switch {
	case t.Again:
		r.say("%s: once more", name)
	case t.Want != "":
		r.say("%s: should be %s", name, t.Want)
	default:
		r.say("%s: %s left, about %s", name, count(t.Steps, "step"), count(t.Tests, "test"))
	}
	c := child.Command{
		Line: r.command, Dir: t.Dir, Timeout: r.timeout, Live: r.p.stderr,
		Bind: []string{"BOUGH_SESSION=" + string(t.Session), "BOUGH_MESSAGE=" + string(t.Message), "BOUGH_STATE=" + t.State},
	}
	o, err := c.Run(ctx)
	if err != nil {
		return origin.Test{}, err
	}
	result := origin.Test{Verdict: origin.Bad, Exit: o.Exit, Seconds: o.Duration.Seconds()}
	switch {
	case o.End == child.Cancelled:
		return origin.Test{}, ctx.Err()
	case o.End == child.TimedOut:
		result.Verdict, result.Exit = origin.Skipped, -1
	case o.Exit == skipStatus:
		result.Verdict = origin.Skipped
	case o.Exit == 0:
		result.Verdict = origin.Good
	case o.Exit < 0 || o.Exit > 127:
		return origin.Test{}, &fault.Error{Code: fault.Failed, Message: fmt.Sprintf("the command ended with %s at %s", o.Reason, name), Hint: "0 is good, 1 to 127 is bad, 125 skips a step; other statuses end the bisection"}
	}
	why := fmt.Sprintf("exit status %d", result.Exit)
	if o.End == child.TimedOut {
		why = fmt.Sprintf("%s after %v", o.Reason, r.timeout)
	}
	r.say("%s is %s: %s", name, result.Verdict, why)
	return result, nil
}

func (r tester) say(format string, a ...any) {
	r.p.meter.clear()
	fmt.Fprintln(r.p.stderr, r.p.talk.dim(fmt.Sprintf(format, a...)))
}
