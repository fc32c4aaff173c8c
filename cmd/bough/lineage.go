package main

import (
	"fmt"

	"github.com/bough-dev/bough/workspace"
	"github.com/urfave/cli/v2"
)

func (p *program) lineageVerb() verb {
	return verb{
		name:    "lineage",
		args:    "SESSION [--partial]",
		short:   "list the ancestors of a session, root first",
		long:    `Prints one id per line, from the root to SESSION itself.`,
		example: `bough lineage 4b9ad01c`,
		flags:   []cli.Flag{partialFlag()},
		min:     1,
		choices: []choice{chooseSession},
		max:     1,
		action: func(c *cli.Context, w *workspace.Workspace) error {
			lineage, err := w.Lineage(c.Context, c.Args().First(), readOptions(c))
			if err != nil {
				return err
			}
			if p.json {
				return p.printJSON(lineage)
			}
			for _, id := range lineage.IDs {
				fmt.Fprintln(p.stdout, clean(id))
			}
			return nil
		},
	}
}
