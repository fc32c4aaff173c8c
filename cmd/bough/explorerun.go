package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/bough-dev/bough/explore"
	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/fault"
	"github.com/urfave/cli/v2"
)

// An explorer runs explorations for a verb and shows their progress.
type explorer struct {
	*explore.Explorer
	p      *program
	supply *supply
	plan   *explore.Plan // of Run, nil before
	board  *board        // nil before the first branch begins
}

// newExplorer returns an explorer with the flags of a verb. The caller closes its supply.
func (p *program) newExplorer(c *cli.Context, w *workspace.Workspace) *explorer {
	x := p.explorerWith(w, p.newSupply(c, w))
	x.AdoptOutcome = c.Bool("adopt")
	return x
}

// explorerWith returns an explorer that opens models with a supply.
func (p *program) explorerWith(w *workspace.Workspace, s *supply) *explorer {
	x := &explorer{p: p, supply: s}
	x.Explorer = &explore.Explorer{
		Workspace: w,
		Model:     s.model,
		Approve: func(ctx context.Context, r explore.Runner) error {
			return s.approve.approve(ctx, commandOf(r))
		},
		Progress: x.progress,
		Note:     p.noteShared(),
	}
	return x
}

// explorerOf returns an explorer for reading.
func (p *program) explorerOf(w *workspace.Workspace) *explore.Explorer {
	return &explore.Explorer{Workspace: w, Note: p.note}
}

// commandOf returns the command that tries the branches of an exploration.
func commandOf(r explore.Runner) storedCommand {
	return storedCommand{Command: r.Command, Dir: r.Dir, Bindings: r.Bindings}
}

// run runs the exploration of a plan.
func (x *explorer) run(ctx context.Context, plan *explore.Plan) (*explore.Exploration, error) {
	x.plan = plan
	defer x.closeBoard()
	return x.Run(ctx, plan)
}

// resume continues an exploration.
func (x *explorer) resume(ctx context.Context, name string) (*explore.Exploration, error) {
	defer x.closeBoard()
	return x.Resume(ctx, name)
}

// progress shows the progress of an exploration.
func (x *explorer) progress(e *explore.Exploration) {
	if x.board == nil {
		if x.plan != nil {
			x.begin(e)
		}
		x.board = x.p.newBoard(e)
		return
	}
	x.board.update(e)
}

// begin prints notes before the branches of a plan start, and approves the commands that
// the user typed, which the workspace now stores.
func (x *explorer) begin(e *explore.Exploration) {
	if !x.p.json {
		x.p.reasons(x.plan.Strategies)
	}
	if e.Runner.Command != "" {
		x.p.keepTyped(x.Workspace, commandOf(e.Runner))
	}
	if x.supply.approve.typed[strings.TrimPrefix(e.Runner.Model, "command:")] {
		x.p.keepTypedModel(x.Workspace, e.Runner.Model)
	}
	if frozen := x.plan.Checkpoint; frozen != "" {
		fmt.Fprintf(x.p.stderr, "%s is a checkpoint; exploring its new branch %s\n", clean(frozen), clean(e.Session))
	}
}

func (x *explorer) closeBoard() {
	if x.board != nil {
		x.board.close()
		x.board = nil
	}
}

// noResult is an error that the printed document has too, so that with --json it is not
// printed again.
type noResult struct{ error }

func (e noResult) Unwrap() error { return e.error }

// finished prints an exploration that was evaluated.
func (x *explorer) finished(e *explore.Exploration, err error) error {
	if err != nil {
		return err
	}
	p := x.p
	if p.json {
		if err := p.printJSON(e); err != nil {
			return err
		}
	} else {
		x.evaluated(e)
	}
	if len(e.Evaluation.From) == 0 {
		return noResult{&fault.Error{
			Code: fault.Failed, Message: "no branch has a result",
			Hint: "'bough explore show " + e.ID + "' shows why",
		}}
	}
	if !p.json {
		p.result(e.Evaluation.Result)
	}
	return nil
}

// result prints the result of an exploration, cleaned only for a terminal.
func (p *program) result(text string) {
	if p.paint.width > 0 {
		text = clean(text)
	}
	fmt.Fprintln(p.stdout, strings.TrimRight(text, "\n"))
}

// evaluated prints how an exploration was evaluated, and where the outcome is.
func (x *explorer) evaluated(e *explore.Exploration) {
	p := x.p
	for _, reason := range e.Evaluation.Reasons {
		fmt.Fprintln(p.stderr, p.talk.dim(line(reason)))
	}
	if e.Runner.Keep && e.Runner.Command != "" {
		if folder, err := x.BranchFolders(e); err == nil {
			fmt.Fprintf(p.stderr, "The folders of the branches are in %s\n", clean(folder))
		}
	}
	switch {
	case x.AdoptOutcome && e.Adopted != nil:
		fmt.Fprintf(p.stderr, "Explored %s; the head is at %s\n", clean(e.ID), place(e.Session, *e.Adopted))
	case e.Outcome != nil:
		with := ""
		if e.State != "" {
			with = "; --files brings the files too"
		}
		fmt.Fprintf(p.stderr, "Explored %s; the outcome is %s. 'bough explore adopt %s' moves the head there%s\n", clean(e.ID), place(e.Session, *e.Outcome), clean(e.ID), with)
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

// exploreHint returns how to continue after a failed exploration, "" for any other error.
func exploreHint(err error) string {
	var e *explore.Error
	if !errors.As(err, &e) {
		return ""
	}
	command := func(verb string) string { return "'bough explore " + verb + " " + e.Exploration + "'" }
	switch e.Problem {
	case explore.Interrupted:
		return command("resume") + " continues it"
	case explore.Cancelled:
		return command("evaluate") + " evaluates the results before that"
	case explore.NotStopped:
		return command("show") + " shows how far it is"
	case explore.NotOver:
		return command("resume") + " continues it; " + command("cancel") + " ends it"
	case explore.NotEvaluated:
		return "the results are kept; " + command("resume") + " evaluates them, 'bough explore evaluate' by another method"
	case explore.NoRunner:
		return "give --run CMD or --model M"
	case explore.NoReply:
		return "--from-reply takes an assistant's message, SESSION@MESSAGE"
	}
	return ""
}
