package main

import (
	"fmt"
	"time"

	"github.com/bough-dev/bough/checkpoint"
	"github.com/bough-dev/bough/workspace"
	"github.com/urfave/cli/v2"
)

func (p *program) pruneVerb() verb {
	return verb{
		name:  "prune",
		args:  "[--dry-run] [--keep-all TIME] [--every N] [--max-age TIME] [--limit N]",
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
		&cli.StringFlag{Name: "keep-all", DefaultText: "24h", Usage: "keep all that are no older than `TIME`, such as 2d, or forever"},
		&cli.IntFlag{Name: "every", DefaultText: "10", Usage: "of those that are older keep one of `N`"},
		&cli.StringFlag{Name: "max-age", DefaultText: "720h", Usage: "keep none that is older than `TIME`, such as '2 months', or forever"},
		&cli.IntFlag{Name: "limit", Aliases: []string{"most"}, DefaultText: "1000", Usage: "keep at most `N`; -1 sets no limit"},
	}
}

// retention returns how long the flags of a verb keep automatic checkpoints, zero for a
// verb without such flags. It refuses a flag that is zero, which would mean the default.
func retention(c *cli.Context, now time.Time) (r checkpoint.Retention, err error) {
	if c.Command == nil || findFlag(c.Command.Flags, "keep-all") == nil {
		return r, nil // --limit of the verb is another one
	}
	if r.KeepAll, err = keepFlag(c, "keep-all", now); err != nil {
		return r, err
	}
	if r.MaxAge, err = keepFlag(c, "max-age", now); err != nil {
		return r, err
	}
	r.EveryNth, r.Most = c.Int("every"), c.Int("limit")
	for name, zero := range map[string]bool{"keep-all": r.KeepAll == 0, "every": r.EveryNth == 0, "max-age": r.MaxAge == 0, "limit": r.Most == 0} {
		if zero && c.IsSet(name) {
			return r, usageError("--%s is not zero; see 'bough help prune'", name)
		}
	}
	return r, nil
}

// keepFlag returns the age that a flag names, negative for "forever" and, as earlier
// versions had it, for a negative number of seconds.
func keepFlag(c *cli.Context, name string, now time.Time) (time.Duration, error) {
	if d, err := time.ParseDuration(c.String(name)); err == nil && d < 0 || c.String(name) == "forever" {
		return -1, nil
	}
	return ageFlag(c, name, now)
}

func (p *program) pruning(pruning *workspace.Pruning, dry bool) {
	removed := 0
	for _, c := range pruning.Checkpoints {
		verdict := p.paint.green("keep")
		if !c.Kept {
			verdict = p.paint.yellow("drop")
			removed++
		}
		fmt.Fprintf(p.stdout, "%s  %s  %-14s  %s\n", verdict, clean(c.ID), age(c.CreatedAt), line(c.Reason))
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
