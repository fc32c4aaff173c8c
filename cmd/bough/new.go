package main

import (
	"fmt"

	"github.com/bough-dev/bough/workspace"
	"github.com/urfave/cli/v2"
)

func (p *program) newVerb() verb {
	return verb{
		name:  "new",
		args:  "[--title T]",
		short: "begin an empty conversation",
		long: `Makes a session without messages and moves the head there, so that 'bough append TEXT'
goes into it. The workspace is made if it is not there. Prints the session's id.`,
		example: `bough new --title "Plan the trip"
bough append "Where shall we go in May?"`,
		flags:   []cli.Flag{&cli.StringFlag{Name: "title", Usage: "the title `T`"}},
		hint:    "the title goes after --title, in quotes",
		changes: true,
		action: func(c *cli.Context, w *workspace.Workspace) error {
			entry, err := w.New(c.Context, c.String("title"))
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
