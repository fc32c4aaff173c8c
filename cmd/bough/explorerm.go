package main

import (
	"fmt"

	"github.com/bough-dev/bough/workspace"
	"github.com/urfave/cli/v2"
)

func (p *program) exploreRmVerb() verb {
	return verb{
		name:  "rm",
		args:  "ID [--branches]",
		short: "move an exploration to the trash",
		long: `Moves the file of a finished exploration to .bough/trash. The outcome, adopted results and
learnings stay. --branches also moves the conversations of its branches, except those that were
continued or that the head, a bookmark or an agent refers to. 'bough undo' restores everything.`,
		example: `bough explore rm 849dde0b --branches`,
		flags:   []cli.Flag{&cli.BoolFlag{Name: "branches", DisableDefaultText: true, Usage: "also move the conversations of its branches"}},
		min:     1,
		max:     1,
		changes: true,
		action: func(c *cli.Context, w *workspace.Workspace) error {
			removed, err := p.explorerOf(w).Remove(c.Context, c.Args().First(), c.Bool("branches"))
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
				fmt.Fprintf(p.stderr, "Kept %s: in use\n", clean(id))
			}
			return nil
		},
	}
}
