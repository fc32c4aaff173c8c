package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/bough-dev/bough/explore"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace"
	"github.com/google/uuid"
	"github.com/urfave/cli/v2"
)

// begin makes the exploration that is planned. Nothing of it is stored yet.
func (x *explorer) begin(ctx context.Context, pl *plan) (*explore.Exploration, error) {
	if !x.p.json {
		x.p.adjusted(pl.Strategies)
	}
	x.learnings = pl.learnings
	if err := x.open(ctx, pl.runner); err != nil {
		return nil, err
	}
	if pl.runner.Command != "" { // which --run gave
		x.p.keepTyped(x.w, commandOf(pl.runner))
	}
	if x.supply.approve.typed[strings.TrimPrefix(pl.runner.Model, "command:")] {
		x.p.keepTypedModel(x.w, pl.runner.Model)
	}
	if frozen := pl.fork.Frozen; frozen != "" {
		snap, err := x.w.Branch(ctx, frozen+"@"+pl.Node, workspace.SnapshotOptions{KeepHead: true})
		if err != nil {
			return nil, err
		}
		pl.Session = snap.ID
		fmt.Fprintf(x.p.stderr, "%s is a checkpoint: the branch %s of it is explored\n", clean(frozen), clean(snap.ID))
	}
	e := &explore.Exploration{
		ID: uuid.NewString(), Session: pl.Session, Node: pl.Node, Agent: pl.Agent, Question: pl.Question,
		Method: pl.method, Config: pl.Config, Runner: pl.runner,
	}
	var strategies []explore.Strategy
	for _, s := range pl.Strategies {
		strategies = append(strategies, s.Strategy)
	}
	e.Begin(strategies, uuid.NewString, session.FormatTime(time.Now()))
	return e, nil
}

// noResult ends an exploration that came to nothing: with --json all is told already.
type noResult struct{ error }

func (e noResult) Unwrap() error { return e.error }

// commandOf returns the command that tries the branches of an exploration.
func commandOf(r explore.Runner) storedCommand {
	return storedCommand{Command: r.Command, Dir: r.Dir, Bindings: r.Bindings}
}

// newExplorer returns an explorer with the flags of a verb.
func (p *program) newExplorer(c *cli.Context, w *workspace.Workspace) *explorer {
	var asks *asker
	approve := p.newApprover(c, w, func() *asker {
		if asks == nil {
			asks = p.newAsker()
			asks.start()
		}
		return asks
	})
	return &explorer{p: p, w: w, supply: supply{approve: approve}, adopt: c.Bool("adopt")}
}

// An explorer carries explorations out.
type explorer struct {
	p         *program
	w         *workspace.Workspace
	supply    supply
	adopt     bool
	learnings []explore.Similar
	options   explore.Options
}

// open opens what carries out explorations with a runner.
func (x *explorer) open(ctx context.Context, r explore.Runner) error {
	folder, err := exploreFolder(r.Dir)
	if err != nil {
		return err
	}
	x.options = explore.Options{Folder: folder, Learnings: x.learnings, Note: x.p.noteShared(), NewID: uuid.NewString}
	if r.Model != "" {
		x.options.Model, err = x.supply.model(ctx, r.Model)
	}
	return err
}

// carryOut carries out what is left of an exploration, judges it, and prints what it
// comes to.
func (x *explorer) carryOut(ctx context.Context, e *explore.Exploration) error {
	release, err := x.w.HoldExploration(ctx, e.ID)
	if err != nil {
		return err
	}
	defer release()
	return x.finish(ctx, e)
}

// finish does what carryOut does for who holds the exploration.
func (x *explorer) finish(ctx context.Context, e *explore.Exploration) error {
	if err := x.judge(ctx, e); err != nil {
		return err
	}
	return x.concluded(ctx, e)
}

// judge tries what is left to be tried, remembers what became of it, and judges it.
func (x *explorer) judge(ctx context.Context, e *explore.Exploration) error {
	if err := x.run(ctx, e); err != nil {
		return err
	}
	if err := explore.Remember(ctx, x.w, e); err != nil {
		return err
	}
	if e.Evaluation == nil {
		if err := explore.Conclude(ctx, x.w, e, cmp.Or(e.Method, explore.Best), x.options); err != nil {
			return notJudged(e, err)
		}
	}
	return nil
}

// notJudged is the error for an exploration that cannot be judged: its results are there.
func notJudged(e *explore.Exploration, err error) error {
	told := *workspace.Explain(err)
	if errors.Is(err, context.Canceled) {
		told.Message = "the exploration was stopped before it was judged"
	}
	told.Hint = "the results are kept; 'bough explore resume " + e.ID + "' judges them, 'bough explore evaluate' by another method"
	return &told
}

// run tries what is left to be tried, and shows how far it is.
func (x *explorer) run(ctx context.Context, e *explore.Exploration) error {
	watched, stop := explore.UntilCancelled(ctx, x.w, e.ID)
	defer stop()
	b := x.p.newBoard(e)
	x.options.Tell = b.tell
	err := explore.Run(watched, x.w, e, x.options)
	cancelled := errors.Is(context.Cause(watched), explore.ErrCancelled)
	stop()
	b.close()
	os.Remove(filepath.Join(x.options.Folder, e.ID)) // it stays if something in it does
	switch {
	case cancelled && err == nil:
		x.note(x.w.ForgetCancel(ctx, e.ID))
		x.note(explore.Remember(ctx, x.w, e))
		return &workspace.Error{
			Code: workspace.Failed, Message: "the exploration " + e.ID + " was cancelled", Err: explore.ErrCancelled,
			Hint: "'bough explore evaluate " + e.ID + " --evaluate best' judges what there was before",
		}
	case ctx.Err() != nil:
		return &workspace.Error{
			Code: workspace.Failed, Message: fmt.Sprintf("the exploration was stopped; %d of %d branches have ended", x.over(e), len(e.Branches)), Err: err,
			Hint: "'bough explore resume " + e.ID + "' goes on",
		}
	}
	return err
}

// over returns how many branches have ended.
func (x *explorer) over(e *explore.Exploration) (n int) {
	for _, b := range e.Branches {
		if b.Status == explore.Completed || b.Status == explore.Failed {
			n++
		}
	}
	return n
}

// note tells what went wrong beside what was done.
func (x *explorer) note(err error) {
	if err != nil {
		x.p.note(err.Error())
	}
}

// concluded moves the head if that is asked for, and prints what an exploration comes to.
func (x *explorer) concluded(ctx context.Context, e *explore.Exploration) error {
	p := x.p
	none := len(e.Evaluation.From) == 0
	if x.adopt && !none {
		if err := explore.Adopt(ctx, x.w, e, ""); err != nil {
			return err
		}
	}
	if p.json {
		if err := p.printJSON(e); err != nil {
			return err
		}
	} else {
		p.judged(e, x.adopt)
	}
	if none {
		return noResult{&workspace.Error{
			Code: workspace.Failed, Message: "no branch has a result",
			Hint: "'bough explore show " + e.ID + "' says what became of them",
		}}
	}
	if !p.json {
		p.result(e.Evaluation.Result)
	}
	return nil
}

// result prints what an exploration comes to, as it is but on a terminal.
func (p *program) result(text string) {
	if p.paint.width > 0 {
		text = clean(text)
	}
	fmt.Fprintln(p.stdout, strings.TrimRight(text, "\n"))
}

// judged tells how an exploration came to what it comes to.
func (p *program) judged(e *explore.Exploration, adopted bool) {
	v := e.Evaluation
	for _, reason := range v.Reasons {
		fmt.Fprintln(p.stderr, p.talk.dim(line(reason)))
	}
	if e.Runner.Keep && e.Runner.Command != "" {
		if folder, err := exploreFolder(e.Runner.Dir); err == nil {
			fmt.Fprintf(p.stderr, "The folders of the branches are in %s\n", clean(filepath.Join(folder, e.ID)))
		}
	}
	switch {
	case adopted && e.Adopted != nil:
		fmt.Fprintf(p.stderr, "Explored %s; the head is at %s\n", clean(e.ID), place(e.Session, *e.Adopted))
	case e.Outcome != nil:
		fmt.Fprintf(p.stderr, "Explored %s; the outcome is %s, and 'bough explore adopt %s' moves the head there\n", clean(e.ID), place(e.Session, *e.Outcome), clean(e.ID))
	}
}

// statuses counts the branches of an exploration by status.
func statuses(e *explore.Exploration) string {
	counts := map[explore.Status]int{}
	for _, b := range e.Branches {
		counts[b.Status]++
	}
	var parts []string
	for _, s := range slices.Sorted(maps.Keys(counts)) {
		parts = append(parts, fmt.Sprintf("%d %s", counts[s], line(string(s))))
	}
	return strings.Join(parts, ", ")
}
