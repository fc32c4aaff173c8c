package main

import (
	"fmt"

	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/origin"
	"github.com/urfave/cli/v2"
)

func (p *program) bisectVerb() verb {
	return verb{
		name:  "bisect",
		args:  "REF [--run CMD] [--good REF] [--bad REF] [--skip REF] [--timeout D] [--dir D]",
		short: "find the turn that made something go wrong",
		long: `Does a binary search on the path to REF, as 'git bisect run' does on commits: from its first state
of the files, or --good, to its last one, or --bad. At each step the shell runs CMD in a new folder
with the files of that state; for a git repository the folder is a clone. Exit status 0 means good,
125 skips the step, any other status up to 127 means bad, and a higher one ends the bisection. The
ends are tested first. Messages without a state of their own, or with the same files as the step
before, are no steps; 'bough help files' says how states are taken.

Prints the turn that broke it, with its changes. The result is tested twice, and reported as flaky
if the two tests differ. The environment of CMD has BOUGH_SESSION, BOUGH_MESSAGE and BOUGH_STATE. An
interrupt ends CMD and removes its folder. Without --run, only the steps are listed, and which one
to test next.`,
		example: `bough bisect HEAD --run 'go test ./...'
bough bisect "Plan the trip" --good "Plan the trip@849dde0b" --run ./check.sh --timeout 1m`,
		flags: []cli.Flag{
			&cli.StringFlag{Name: "run", Usage: "test each step with the command line `CMD`"},
			&cli.StringFlag{Name: "good", DefaultText: "the first message with a state", Usage: "the message `REF` was good"},
			&cli.StringFlag{Name: "bad", DefaultText: "the end of the path", Usage: "the message `REF` was bad"},
			&cli.StringSliceFlag{Name: "skip", Usage: "the message `REF` cannot be tested; may be given several times"},
			&cli.DurationFlag{Name: "timeout", DefaultText: "none", Usage: "end CMD after the time `D`; the step is skipped"},
			dirFlag(),
		},
		min:     1,
		max:     1,
		choices: []choice{chooseMessage},
		action: func(c *cli.Context, w *workspace.Workspace) error {
			for _, name := range []string{"run", "good", "bad"} {
				if c.IsSet(name) && c.String(name) == "" {
					return usageError("--%s is empty", name)
				}
			}
			if c.IsSet("timeout") && c.Duration("timeout") <= 0 {
				return usageError("--timeout takes a time, such as 90s")
			}
			if !c.IsSet("run") {
				if err := needs(c, "--run", "timeout"); err != nil {
					return err
				}
			}
			o := origin.BisectOptions{Good: c.String("good"), Bad: c.String("bad"), Skip: c.StringSlice("skip")}
			folder, ref := w.Folder(c.String("dir")), c.Args().First()
			if !c.IsSet("run") {
				plan, err := folder.Bisection(c.Context, ref, o)
				if err != nil {
					return err
				}
				return p.printSteps(plan)
			}
			ctx, stop := untilInterrupt(c.Context)
			defer stop()
			found, err := folder.Bisect(ctx, ref, o, tester{p, c.String("run"), c.Duration("timeout")}.test)
			if err != nil {
				return err
			}
			return p.bisected(found)
		},
	}
}

// printSteps lists the steps of a bisection.
func (p *program) printSteps(b *origin.Bisection) error {
	if p.json {
		return p.printJSON(b)
	}
	for _, s := range b.Steps {
		fmt.Fprintln(p.stdout, p.stepRow(s))
	}
	fmt.Fprintf(p.stderr, "%s on a path of %s. --run CMD finds the one that made something go wrong.\n", count(len(b.Steps), "step"), count(b.Messages, "message"))
	if b.Next != nil {
		s := b.Steps[*b.Next]
		fmt.Fprintf(p.stderr, "Or test it yourself: 'bough files export %s D' writes the files in the middle, of %s. Repeat this with --good, --bad or --skip %[2]s.\n",
			clean(s.State), clean(shortMessage(string(s.Message))))
	}
	return nil
}

// stepRow describes a step on a line.
func (p *program) stepRow(s origin.Step) string {
	about := s.By
	if s.Turn != nil {
		_, title := turnNames(*s.Turn)
		about = title + ": " + line(s.Turn.Text)
	}
	if !s.Sure {
		about = "? " + about
	}
	id := shortMessage(string(s.Message))
	used := max(8, width(id)) + len("2006-01-02") + 2*len("  ")
	return fmt.Sprintf("%s  %s  %s", p.paint.yellow(pad(id, 8)), p.paint.dim(date(s.Time)), p.paint.fit(about, p.paint.width-used))
}

// bisected prints the result of a bisection.
func (p *program) bisected(r *origin.Found) error {
	if p.json {
		return p.printJSON(r)
	}
	p.meter.clear()
	for _, s := range r.Candidates {
		fmt.Fprintln(p.stdout, p.stepRow(s))
	}
	switch first := r.Candidates[len(r.Candidates)-1]; {
	case len(r.Candidates) > 1:
		fmt.Fprintf(p.stderr, "One of these %d steps made it go wrong; all but the last one could not be tested.\n", len(r.Candidates))
	case first.Turn != nil:
		t := first.Turn
		fmt.Fprintf(p.stderr, "It went wrong in this turn: from %s to %s.\n", place(tail(string(t.Session)), shortMessage(string(t.Prompt))), shortMessage(string(t.Message)))
	case first.By == origin.ByYou:
		fmt.Fprintf(p.stderr, "It went wrong between turns: you or another program changed the files before this message.\n")
	default:
		fmt.Fprintf(p.stderr, "It went wrong at this step: a restore of files.\n")
	}
	if r.Flaky {
		fmt.Fprintln(p.stderr, "The tests are flaky: the same files were once good and once bad, so this may be wrong.")
	}
	if r.Diff != nil {
		p.changes(r.Diff.Changes, true)
	}
	return nil
}
