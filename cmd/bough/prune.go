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
		long: `By default, keeps all automatic checkpoints of the last day, one of every ten older ones, none older
than 30 days, and at most 1,000; the settings retention.* change these limits. Checkpoints with a
name or a bookmark are always kept. Removed checkpoints stay in the trash for a week. A pack is
rewritten if the remaining checkpoints need less than half of it. Prints for each checkpoint whether
it is kept, and why.

When a checkpoint is deleted from the trash, the automatic states of folders at the same message are
deleted too. If the states take more space than the setting files.limit, the oldest automatic ones
are deleted as well, except those of the last week that 'bough undo' needs. Undo does not restore
states.`,
		example: `bough prune --dry-run`,
		flags: append([]cli.Flag{
			&cli.BoolFlag{Name: "dry-run", DisableDefaultText: true, Usage: "only print what would be removed"},
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

// retentionFlags are the flags for the retention of automatic checkpoints.
func retentionFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "keep-all", DefaultText: "24h", Usage: "keep all checkpoints up to this age: a `TIME` such as 2d, or forever"},
		&cli.IntFlag{Name: "every", DefaultText: "10", Usage: "keep one of `N` older checkpoints"},
		&cli.StringFlag{Name: "max-age", DefaultText: "720h", Usage: "remove all checkpoints above this age: a `TIME` such as '2 months', or forever"},
		&cli.IntFlag{Name: "limit", Aliases: []string{"most"}, DefaultText: "1000", Usage: "keep at most `N`; -1 means no limit"},
	}
}

// retention parses the retention flags of a verb. It returns the zero value for a verb
// without them, and an error for a flag that is zero, which would mean the default.
func retention(c *cli.Context, now time.Time) (r checkpoint.Retention, err error) {
	if c.Command == nil || findFlag(c.Command.Flags, "keep-all") == nil {
		return r, nil // such a verb may have another --limit
	}
	if r.KeepAll, err = keepFlag(c, "keep-all", now); err != nil {
		return r, err
	}
	if r.MaxAge, err = keepFlag(c, "max-age", now); err != nil {
		return r, err
	}
	r.EveryNth, r.Limit = c.Int("every"), c.Int("limit")
	for name, zero := range map[string]bool{"keep-all": r.KeepAll == 0, "every": r.EveryNth == 0, "max-age": r.MaxAge == 0, "limit": r.Limit == 0} {
		if zero && c.IsSet(name) {
			return r, usageError("--%s must not be zero", name)
		}
	}
	return r, nil
}

// keepFlag returns the age in a flag. It is negative for "forever" and, as in earlier
// versions, for a negative number of seconds.
func keepFlag(c *cli.Context, name string, now time.Time) (time.Duration, error) {
	if d, err := time.ParseDuration(c.String(name)); err == nil && d < 0 || c.String(name) == "forever" {
		return -1, nil
	}
	return ageFlag(c, name, now)
}

func (p *program) pruning(pruning *workspace.PruneResult, dry bool) {
	removed := 0
	for _, c := range pruning.Checkpoints {
		verdict := p.paint.green("keep")
		if !c.Kept {
			verdict = p.paint.yellow("drop")
			removed++
		}
		fmt.Fprintf(p.stdout, "%s  %s  %-14s  %s\n", verdict, clean(c.ID), age(c.CreatedAt), line(c.Reason))
	}
	for _, st := range pruning.States {
		fmt.Fprintf(p.stdout, "%s  %s  %-14s  %s\n", p.paint.yellow("drop"), clean(st.ID), age(st.Time), line("state of "+st.Dir+": "+st.Reason))
	}
	if n := len(pruning.States); n > 0 && dry {
		fmt.Fprintf(p.stderr, "Dry run: would delete %s of folders\n", count(n, "state"))
	} else if n > 0 {
		fmt.Fprintf(p.stderr, "Deleted %s of folders\n", count(n, "state"))
	}
	switch {
	case len(pruning.Checkpoints) == 0:
		fmt.Fprintln(p.stderr, "No automatic checkpoints.")
	case dry:
		fmt.Fprintf(p.stderr, "Dry run: would remove %s of %d\n", count(removed, "checkpoint"), len(pruning.Checkpoints))
	case removed == 0:
		fmt.Fprintln(p.stderr, "Nothing to remove.")
	default:
		fmt.Fprintf(p.stderr, "Removed %s of %d; 'bough undo' restores them\n", count(removed, "checkpoint"), len(pruning.Checkpoints))
	}
}
