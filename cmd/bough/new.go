package main

import (
	"fmt"

	"github.com/bough-dev/bough/workspace"
	"github.com/urfave/cli/v2"
)

func (p *program) newVerb() verb {
	return verb{
		name:  "new",
		args:  "[--title T] [--dialect bough|penguin]",
		short: "begin an empty conversation",
		long: `Makes a session without messages and moves the head there, so that 'bough append TEXT'
goes into it. The workspace is made if it is not there. Prints the session's id.

What bough writes opens in the Penguin assistant if the workspace is in Penguin's dialect: it
takes that from the sessions that are there, and in an empty workspace from --dialect.`,
		example: `bough new --title "Plan the trip"
bough append "Where shall we go in May?"`,
		flags: []cli.Flag{
			&cli.StringFlag{Name: "title", Usage: "the title `T`"},
			&cli.StringFlag{Name: "dialect", DefaultText: "as the sessions there, else bough", Usage: "write links and times as `DIALECT` does: bough or penguin"},
		},
		hint:    "the title goes after --title, in quotes",
		changes: true,
		action: func(c *cli.Context, w *workspace.Workspace) error {
			entry, err := w.NewSession(c.Context, workspace.NewOptions{Title: c.String("title"), Dialect: c.String("dialect")})
			if err != nil {
				return err
			}
			if p.json {
				return p.printJSON(entry)
			}
			fmt.Fprintln(p.stdout, entry.ID)
			return nil
		},
	}
}
