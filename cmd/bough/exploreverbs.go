package main

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/bough-dev/bough/explore"
	"github.com/bough-dev/bough/internal/api"
	"github.com/bough-dev/bough/workspace"
	"github.com/urfave/cli/v2"
)

func (p *program) exploreLsVerb() verb {
	return verb{
		name:    "ls",
		short:   "list explorations, newest first",
		example: `bough explore ls`,
		action: func(c *cli.Context, w *workspace.Workspace) error {
			list, err := p.explorerOf(w).List(c.Context)
			if err != nil {
				return err
			}
			if p.json {
				return p.printJSON(api.ExplorationsOf(list))
			}
			for _, e := range list {
				about := ageOf(e.CreatedAt) + "  " + statuses(e)
				if e.Adopted != nil {
					about += ", adopted"
				}
				fmt.Fprintln(p.stdout, strings.TrimRight(p.paint.yellow(shortMessage(e.ID))+"  "+p.paint.fit(about+"  "+line(e.Question), p.paint.width-10), " "))
			}
			if len(list) == 0 {
				fmt.Fprintln(p.stderr, "No explorations. 'bough explore REF' creates one.")
			}
			return nil
		},
	}
}

func (p *program) exploreShowVerb() verb {
	return verb{
		name:  "show",
		args:  "ID",
		short: "show the branches and the result of an exploration",
		long: `Prints a line for each branch, and the result, also while branches run. ID is an id or a unique
prefix of at least four characters. The session of a branch is an ordinary conversation.`,
		example: `bough explore show 849dde0b`,
		min:     1,
		max:     1,
		action: func(c *cli.Context, w *workspace.Workspace) error {
			e, err := p.explorerOf(w).Open(c.Context, c.Args().First())
			if err != nil {
				return err
			}
			if p.json {
				return p.printJSON(e)
			}
			fmt.Fprintln(p.stdout, p.paint.bold(p.paint.fit(cmp.Or(line(e.Question), line(e.ID)), p.paint.width-1)))
			fmt.Fprintln(p.stdout, p.paint.dim(fmt.Sprintf("%s · %s · %s", clean(e.ID), place(e.Session, e.Node), ageOf(e.CreatedAt))))
			for _, l := range boardLines(e.Branches, time.Now(), p.paint) {
				fmt.Fprintln(p.stdout, l)
			}
			if v := e.Evaluation; v != nil {
				fmt.Fprintln(p.stdout)
				for _, reason := range v.Reasons {
					fmt.Fprintln(p.stdout, p.paint.dim(line(reason)))
				}
				if len(v.From) > 0 {
					fmt.Fprintln(p.stdout, strings.TrimRight(clean(v.Result), "\n"))
				}
			}
			return nil
		},
	}
}

func (p *program) exploreEvaluateVerb() verb {
	return verb{
		name:  "evaluate",
		args:  "ID --evaluate METHOD [--adopt] [--allow-command]",
		short: "evaluate an exploration by another method",
		long: `Evaluates the results of a finished exploration by another method. No branch runs again. The
outcome is printed and added as another message below the explored one.`,
		example: `bough explore evaluate 849dde0b --evaluate consensus`,
		flags:   []cli.Flag{evaluateFlag(), adoptFlag(), allowCommandFlag()},
		min:     1,
		max:     1,
		changes: true,
		action: func(c *cli.Context, w *workspace.Workspace) error {
			if !c.IsSet("evaluate") {
				e := usageError("no method: give --evaluate METHOD")
				e.Hint = seeHelp("explore evaluate")
				return e
			}
			method, err := explore.ParseMethod(c.String("evaluate"))
			if err != nil {
				return err
			}
			x := p.newExplorer(c, w)
			defer x.supply.close()
			return x.finished(x.Evaluate(c.Context, c.Args().First(), method))
		},
	}
}

func (p *program) exploreAdoptVerb() verb {
	return verb{
		name:  "adopt",
		args:  "ID [BRANCH] [--files] [--dry-run] [--whole] [--keep or --take or --merge] [--only PATH ...]",
		short: "move the head to the outcome of an exploration",
		long: `Moves the head to the outcome or, with BRANCH (a strategy or an id), to the result of that branch,
which becomes a message below the explored one. If the explored conversation belongs to an agent,
the head of the agent moves, otherwise that of the workspace. Prints the new head.

With --files, the changes of the branch in its folder are applied to the explored folder, or to the
repository that contains it. If a path also changed there since the exploration began, that is a
conflict: nothing is changed, and the paths are listed. --keep leaves these paths as they are,
--take takes those of the branch, --merge merges both line by line. --whole makes the folder exactly
what the branch left. Commits that the branch made do not come. 'bough undo' reverts it.`,
		example: `bough explore adopt 849dde0b radix
bough explore adopt 849dde0b --files --dry-run`,
		flags:   append([]cli.Flag{filesFlag("apply the files too")}, planFlags()...),
		min:     1,
		max:     2,
		changes: true,
		action: func(c *cli.Context, w *workspace.Workspace) error {
			if c.NArg() > 1 && c.Args().Get(1) == "" {
				return usageError("BRANCH is empty")
			}
			if c.Bool("files") {
				return p.adoptFiles(c, w)
			}
			for _, f := range planFlags() {
				if c.IsSet(f.Names()[0]) {
					return usageError("--%s needs --files", f.Names()[0])
				}
			}
			e, err := p.explorerOf(w).Adopt(c.Context, c.Args().First(), c.Args().Get(1))
			if err != nil {
				return err
			}
			if p.json {
				return p.printJSON(e)
			}
			fmt.Fprintln(p.stdout, place(e.Session, *e.Adopted))
			return nil
		},
	}
}

// adoptFiles adopts an outcome with the files.
func (p *program) adoptFiles(c *cli.Context, w *workspace.Workspace) error {
	o, err := restoreOptions(c)
	if err != nil {
		return err
	}
	e, r, err := p.explorerOf(w).AdoptFiles(c.Context, c.Args().First(), c.Args().Get(1), o)
	if err != nil {
		return err
	}
	if p.json {
		err = p.printJSON(&api.AdoptedFiles{Exploration: e, Files: r})
	} else {
		p.restored(r, o.DryRun)
		if !o.DryRun {
			fmt.Fprintln(p.stdout, place(e.Session, *e.Adopted))
		}
	}
	if err == nil && len(r.Conflicts) > 0 {
		return refusedFound{}
	}
	return err
}

func (p *program) exploreCancelVerb() verb {
	return verb{
		name:  "cancel",
		args:  "ID",
		short: "cancel an exploration, also from another terminal",
		long: `Stops the running branches, starts no others, and waits until all have stopped. Existing results
are kept, and 'bough explore evaluate' evaluates them. A cancelled exploration cannot be resumed.`,
		example: `bough explore cancel 849dde0b`,
		min:     1,
		max:     1,
		changes: true,
		action: func(c *cli.Context, w *workspace.Workspace) error {
			ctx, stop := context.WithTimeout(c.Context, max(p.wait, time.Second))
			defer stop()
			e, err := p.explorerOf(w).Cancel(ctx, c.Args().First())
			if err != nil {
				return err
			}
			if p.json {
				return p.printJSON(e)
			}
			fmt.Fprintf(p.stderr, "Cancelled: %s\n", statuses(e))
			fmt.Fprintln(p.stdout, clean(e.ID))
			return nil
		},
	}
}

func (p *program) exploreResumeVerb() verb {
	return verb{
		name:  "resume",
		args:  "ID [--adopt] [--allow-command]",
		short: "continue an interrupted exploration",
		long: `Runs the unfinished branches with the same runner, and evaluates the results by the method of the
original command.`,
		example: `bough explore resume 849dde0b`,
		flags:   []cli.Flag{adoptFlag(), allowCommandFlag()},
		min:     1,
		max:     1,
		changes: true,
		action: func(c *cli.Context, _ *workspace.Workspace) error {
			w, err := p.openShared(c.Context)
			if err != nil {
				return err
			}
			x := p.newExplorer(c, w)
			defer x.supply.close()
			return x.finished(x.resume(c.Context, c.Args().First()))
		},
	}
}

func (p *program) exploreStatsVerb() verb {
	return verb{
		name:    "stats",
		short:   "show success, duration and confidence of each strategy",
		long:    `Sums up the learnings ('bough learnings'), the most successful strategy first.`,
		example: `bough explore stats`,
		action: func(c *cli.Context, w *workspace.Workspace) error {
			stats, err := p.explorerOf(w).Statistics(c.Context)
			if err != nil {
				return err
			}
			if p.json {
				return p.printJSON(api.Strategies{Strategies: stats})
			}
			rows := [][]string{{"STRATEGY", "SUCCEEDED", "RATE", "TIME", "CONFIDENCE"}}
			for _, s := range stats {
				rows = append(rows, []string{
					p.paint.fit(line(s.Strategy), widestLabel), fmt.Sprintf("%d of %d", s.Succeeded, s.Runs), fmt.Sprintf("%.0f %%", 100*s.Rate),
					formatDuration(time.Duration(s.Seconds * float64(time.Second))), confident(s.Confidence),
				})
			}
			if len(stats) == 0 {
				fmt.Fprintln(p.stderr, "No learnings.")
				return nil
			}
			for i, l := range columns(rows) {
				if i == 0 {
					l = p.paint.dim(l)
				}
				fmt.Fprintln(p.stdout, l)
			}
			return nil
		},
	}
}

func (p *program) learningsVerb() verb {
	return verb{
		name:  "learnings",
		args:  "[--similar TEXT]",
		short: "list the outcomes of explored strategies",
		long: `Prints a line for each explored branch, newest first; with --similar, only those of questions
similar to TEXT, most similar first. WORKSPACE/.bough/learnings.jsonl stores them; delete that file
to forget them.`,
		example: `bough learnings --similar "sort a list of a million names"`,
		flags:   []cli.Flag{&cli.StringFlag{Name: "similar", Usage: "only outcomes of questions similar to `TEXT`"}},
		action: func(c *cli.Context, w *workspace.Workspace) error {
			known, err := p.explorerOf(w).Learnings(c.Context)
			if err != nil {
				return err
			}
			var similar *string
			if c.IsSet("similar") {
				text := c.String("similar")
				similar = &text
			}
			document := api.LearningsOf(known, similar)
			if p.json {
				return p.printJSON(document)
			}
			list := document.Learnings
			for _, l := range list {
				verdict := p.paint.green("succeeded")
				if !l.Success {
					verdict = p.paint.yellow("failed   ")
				}
				about := fmt.Sprintf("%s  %s", confident(l.Confidence), line(l.Strategy))
				fmt.Fprintf(p.stdout, "%s  %s\n", verdict, p.paint.fit(about+"  "+line(l.Context), p.paint.width-11))
				for _, insight := range l.Insights {
					fmt.Fprintln(p.stdout, p.paint.dim("  "+p.paint.fit(line(insight), p.paint.width-3)))
				}
			}
			if len(list) == 0 {
				fmt.Fprintln(p.stderr, "No learnings.")
			}
			return nil
		},
	}
}
