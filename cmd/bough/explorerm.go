package main

import (
	"errors"
	"fmt"

	"github.com/bough-dev/bough/explore"
	"github.com/bough-dev/bough/workspace"
	"github.com/urfave/cli/v2"
)

func (p *program) exploreRmVerb() verb {
	return verb{
		name:  "rm",
		args:  "ID [--branches]",
		short: "move an exploration to the trash",
		long: `Moves the file of an exploration that is over to .bough/trash. The outcome, adopted results and
learnings stay. --branches also moves the conversations of its branches, except those that someone
continued or that the head, a bookmark or an agent points at. 'bough undo' brings all of it back.`,
		example: `bough explore rm 849dde0b --branches`,
		flags:   []cli.Flag{&cli.BoolFlag{Name: "branches", DisableDefaultText: true, Usage: "also move the conversations of its branches"}},
		min:     1,
		max:     1,
		changes: true,
		action: func(c *cli.Context, w *workspace.Workspace) error {
			removed, err := p.removeExploration(c, w)
			if err != nil {
				return err
			}
			if p.json {
				return p.printJSON(removed)
			}
			fmt.Fprintf(p.stderr, "Removed exploration %s", clean(removed.ID))
			if n := len(removed.Removed); n > 0 {
				fmt.Fprintf(p.stderr, " and %s", count(n, "session"))
			}
			fmt.Fprintln(p.stderr)
			for _, id := range removed.Kept {
				fmt.Fprintf(p.stderr, "Kept %s: it is in use\n", clean(id))
			}
			return nil
		},
	}
}

// removeExploration removes the exploration that the command line names. Of one whose file
// is damaged nothing is known but that file.
func (p *program) removeExploration(c *cli.Context, w *workspace.Workspace) (*workspace.RemovedExploration, error) {
	id, err := w.ExplorationID(c.Context, c.Args().First())
	if err != nil {
		return nil, err
	}
	release, err := w.HoldExploration(c.Context, id)
	if err != nil {
		return nil, err
	}
	defer release()
	e, err := explore.Open(c.Context, w, id)
	if damaged := new(workspace.Error); errors.As(err, &damaged) && damaged.Code == workspace.Damaged && !c.Bool("branches") {
		return w.RemoveExploration(c.Context, id, nil)
	}
	if err != nil {
		return nil, err
	}
	x := &explorer{p: p, w: w}
	if err := x.open(c.Context, explore.Runner{Dir: e.Runner.Dir}); err != nil {
		return nil, err
	}
	return explore.Remove(c.Context, w, e, c.Bool("branches"), x.options)
}
