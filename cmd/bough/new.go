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
		short: "create an empty conversation",
		long: `Creates a session without messages and moves the head there: 'bough append TEXT' adds the first
message. The workspace is created if it does not exist. Prints the session's id.

The Penguin assistant opens the files of a workspace in Penguin's dialect. The existing sessions
determine the dialect of a workspace; --dialect sets that of an empty one.`,
		example: `bough new --title "Plan the trip"
bough append "Where shall we go in May?"`,
		flags: []cli.Flag{
			&cli.StringFlag{Name: "title", Usage: "the title `T`"},
			&cli.StringFlag{Name: "dialect", DefaultText: "that of existing sessions, else bough", Usage: "the `DIALECT` of links and times: bough or penguin"},
		},
		hint:    "give the title with --title, in quotes",
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
