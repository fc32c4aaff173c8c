package main

import (
	"fmt"
	"time"

	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace"
	"github.com/urfave/cli/v2"
)

func partialFlag() cli.Flag {
	return &cli.BoolFlag{
		Name:               "partial",
		DisableDefaultText: true,
		Usage:              "take what is there where files of the conversation are missing or damaged",
	}
}

func readOptions(c *cli.Context) workspace.ReadOptions {
	return workspace.ReadOptions{Partial: c.Bool("partial")}
}

func (p *program) showVerb() verb {
	return verb{
		name:  "show",
		args:  "REF [--partial]",
		short: "read a conversation, or the path to one message",
		long: `Prints the messages from the beginning to REF, over all files of the conversation, each
once. With --json it prints a whole session file on one line: every number, escape and
unknown member as its file has it.`,
		example: `bough show "Plan the trip"
bough show "Plan the trip@msg_2b0c3457" --json > until-there.json`,
		flags: []cli.Flag{partialFlag()},
		min:   1,
		max:   1,
		action: func(c *cli.Context, w *workspace.Workspace) error {
			conv, err := w.Show(c.Context, c.Args().First(), readOptions(c))
			if err != nil {
				return err
			}
			if p.json {
				return p.printJSON(conv)
			}
			p.conversation(conv)
			return nil
		},
	}
}

func (p *program) conversation(c *workspace.Conversation) {
	fmt.Fprintln(p.stdout, p.paint.bold(p.paint.fit(line(c.Entry.Title), p.paint.width)))
	about := fmt.Sprintf("%s · %s · %s", c.Entry.ID, c.Entry.Kind, count(len(c.Messages), "message"))
	if c.Entry.Kind == session.Checkpoint {
		about += " · read-only"
	}
	fmt.Fprintln(p.stdout, p.paint.dim(about))
	for i, m := range c.Messages {
		fmt.Fprintln(p.stdout)
		head := p.paint.role(clean(m.Role())) + "  " + p.paint.yellow(clean(m.ID))
		if t, ok := m.Time(); ok {
			head += "  " + p.paint.dim(ago(time.Since(t)))
		}
		if c.Joined[i] {
			head += "  " + p.paint.dim("(joined: parent missing)")
		}
		fmt.Fprintln(p.stdout, head)
		fmt.Fprintln(p.stdout, clean(m.Text()))
	}
}
