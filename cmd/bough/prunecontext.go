package main

import (
	"fmt"

	"github.com/bough-dev/bough/internal/api"
	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/rewrite"
	"github.com/urfave/cli/v2"
)

func (p *program) pruneContextVerb() verb {
	return verb{
		name:  "prune-context",
		args:  "[REF] (--drop MESSAGE | --squash A..B) [--summary T | --model M] [--name N] [--keep-head] [--dry-run]",
		short: "continue without some of the messages",
		long: `Creates a branch with the path to REF, without the messages that --drop names or, with --squash, with
a summary in place of a range, and moves the head to its end. The original stays. --drop is
repeatable, and takes ranges too: A..B are the messages after A up to B; without A they begin with
the conversation, without B they end with it.

The messages before the first that is omitted are in the branch as they are, those after it are
copies as 'bough pick' makes them. A tool call and its results are omitted together. The summary
is T ('-' reads standard input), or the answer of the model M; --dry-run prints the prompt for it.
Prints the branch's id, and how many tokens are saved; they are estimates.`,
		example: `bough prune-context --drop HEAD~3 --drop HEAD~7
bough prune-context "Plan the trip" --squash ..msg_2b0c3457 --model openai:gpt-5
bough prune-context --squash msg_11aa..msg_2b0c --summary "We settled on Lisbon." --dry-run`,
		flags: []cli.Flag{
			&cli.StringSliceFlag{Name: "drop", Usage: "omit `MESSAGE`, an id or a unique prefix of one, a REF, or a range A..B; repeatable"},
			&cli.StringFlag{Name: "squash", Usage: "put a summary in place of the messages `A..B`"},
			&cli.StringFlag{Name: "summary", Usage: "the summary `T`; '-' reads standard input"},
			&cli.StringFlag{Name: "model", Usage: "let `MODEL` write the summary: " + modelForms},
			allowCommandFlag(),
			&cli.StringFlag{Name: "name", Usage: "the title `N`; by default made from the conversation's title"},
			keepHeadFlag(),
			dryRunFlag(),
		},
		max:     1,
		choices: []choice{chooseSession},
		changes: true,
		action: func(c *cli.Context, w *workspace.Workspace) error {
			o, err := p.pruneContextOptions(c, w)
			if err != nil {
				return err
			}
			done, err := w.PruneContext(c.Context, refOrHead(c), o)
			if err != nil {
				return err
			}
			if p.json {
				return p.printJSON(done)
			}
			p.meter.clear()
			p.pruned(done)
			return nil
		},
	}
}

func (p *program) pruneContextOptions(c *cli.Context, w *workspace.Workspace) (o rewrite.PruneContextOptions, err error) {
	o = rewrite.PruneContextOptions{
		Drop: c.StringSlice("drop"), Squash: c.String("squash"), Name: c.String("name"),
		KeepHead: c.Bool("keep-head"), DryRun: c.Bool("dry-run"), Count: api.CountMessage(),
	}
	squash := c.IsSet("squash")
	switch {
	case squash && len(o.Drop) > 0:
		return o, usageError("--drop and --squash exclude each other")
	case squash && o.Squash == "":
		return o, usageError("--squash is empty")
	case !squash && len(o.Drop) == 0:
		return o, usageError("nothing is omitted: give --drop MESSAGE or --squash A..B")
	case !squash && (c.IsSet("summary") || c.IsSet("model")):
		return o, usageError("a summary needs --squash")
	case c.IsSet("summary") && c.IsSet("model"):
		return o, usageError("--summary and --model exclude each other")
	case squash && !c.IsSet("summary") && !c.IsSet("model") && !o.DryRun:
		return o, usageError("--squash needs --summary T or --model M")
	}
	if c.IsSet("summary") {
		if o.Summary, err = p.text(c.String("summary")); err == nil && o.Summary == "" {
			err = usageError("the summary is empty")
		}
		return o, err
	}
	if o.Model = c.String("model"); c.IsSet("model") {
		if _, _, err := parseModel(o.Model); err != nil {
			return o, err
		}
		s := supply{approve: p.newApprover(c, w, p.newAsker)}
		o.Summarize = api.Summarizer(c.Context, s.model, o.Model)
	}
	return o, nil
}

// pruned prints which messages a branch omits.
func (p *program) pruned(done *rewrite.Pruned) {
	did := "Omitted"
	if done.DryRun {
		did = "Dry run: would omit"
	}
	what := count(len(done.Dropped), "message")
	if done.Summary != nil {
		what += ", replaced by a summary"
	}
	fmt.Fprintf(p.stderr, "%s %s:\n", did, what)
	p.copies(done.Dropped)
	fmt.Fprintf(p.stderr, "Shared: %s, copied: %s\n", count(done.Shared, "message"), count(len(done.Messages), "message"))
	t := done.Tokens
	if s := done.Summary; s != nil && s.Text == "" {
		fmt.Fprintf(p.stderr, "Tokens: about %d of %d are summarized\n", t.Saved, t.Before)
	} else {
		fmt.Fprintf(p.stderr, "Tokens: about %d before, %d after; %d saved\n", t.Before, t.After, t.Saved)
	}
	switch {
	case !done.DryRun:
		fmt.Fprintf(p.stderr, "Branched %q\n", clean(done.Title))
		fmt.Fprintln(p.stdout, clean(string(done.Session)))
	case done.Summary != nil && done.Summary.Prompt != "":
		fmt.Fprintln(p.stdout, clean(done.Summary.Prompt))
	}
}
