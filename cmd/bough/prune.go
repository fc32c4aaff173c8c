package main

import (
	"fmt"

	"github.com/bough-dev/bough/checkpoint"
	"github.com/bough-dev/bough/workspace"
	"github.com/urfave/cli/v2"
)

func (p *program) pruneVerb() verb {
	return verb{
		name:  "prune",
		args:  "[--dry-run] [--keep-all TIME] [--every N] [--max-age TIME] [--most N]",
		short: "remove old automatic checkpoints",
		long: `Keeps all automatic checkpoints of a day, then one of every ten, none that is older than
30 days, and at most 1,000. Those with a name, or a bookmark in them, are kept for ever. What is
removed stays in the trash for a week. Prints what is done with each, and why.`,
		example: `bough prune --dry-run`,
		flags: append([]cli.Flag{
			&cli.BoolFlag{Name: "dry-run", DisableDefaultText: true, Usage: "only say what would be done"},
		}, retentionFlags()...),
		changes: true,
		action: func(c *cli.Context, w *workspace.Workspace) error {
			if err := checkRetention(c); err != nil {
				return err
			}
			o := workspace.PruneOptions{DryRun: c.Bool("dry-run")}
			pruning, err := w.Prune(c.Context, o)
			if err != nil {
				return err
			}
			if p.json {
				return p.printJSON(pruning)
			}
			p.pruning(pruning, o.DryRun)
			return nil
		},
	}
}

// retentionFlags are the flags that say how long automatic checkpoints are kept.
func retentionFlags() []cli.Flag {
	return []cli.Flag{
		&cli.DurationFlag{Name: "keep-all", DefaultText: "24h", Usage: "keep all that are no older than `TIME`"},
		&cli.IntFlag{Name: "every", DefaultText: "10", Usage: "of those that are older keep one of `N`"},
		&cli.DurationFlag{Name: "max-age", DefaultText: "720h", Usage: "keep none that is older than `TIME`; -1s keeps them for ever"},
		&cli.IntFlag{Name: "most", DefaultText: "1000", Usage: "keep at most `N`; -1 sets no limit"},
	}
}

// checkRetention refuses zero, which would mean the default.
func checkRetention(c *cli.Context) error {
	for _, name := range []string{"keep-all", "every", "max-age", "most"} {
		if c.IsSet(name) && c.Duration(name) == 0 && c.Int(name) == 0 {
			return usageError("--%s is not zero; see 'bough help prune'", name)
		}
	}
	return nil
}

func retention(c *cli.Context) checkpoint.Retention {
	return checkpoint.Retention{
		KeepAll:  c.Duration("keep-all"),
		EveryNth: c.Int("every"),
		MaxAge:   c.Duration("max-age"),
		Most:     c.Int("most"),
	}
}

func (p *program) pruning(pruning *workspace.Pruning, dry bool) {
	removed := 0
	for _, c := range pruning.Checkpoints {
		verdict := p.paint.green("keep")
		if !c.Kept {
			verdict = p.paint.yellow("drop")
			removed++
		}
		fmt.Fprintf(p.stdout, "%s  %s  %-14s  %s\n", verdict, c.ID, age(c.CreatedAt), c.Reason)
	}
	switch {
	case len(pruning.Checkpoints) == 0:
		fmt.Fprintln(p.stderr, "There are no automatic checkpoints.")
	case dry:
		fmt.Fprintf(p.stderr, "%s of %d would be removed\n", count(removed, "checkpoint"), len(pruning.Checkpoints))
	case removed == 0:
		fmt.Fprintln(p.stderr, "Nothing is to be removed.")
	default:
		fmt.Fprintf(p.stderr, "%s of %d removed; 'bough undo' brings them back\n", count(removed, "checkpoint"), len(pruning.Checkpoints))
	}
}
