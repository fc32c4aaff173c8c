package main

import (
	"fmt"

	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace"
	"github.com/urfave/cli/v2"
)

func (p *program) renameVerb() verb {
	return verb{
		name:    "rename",
		args:    "SESSION TITLE",
		short:   "give a session another title",
		long:    `Changes the title and nothing else.`,
		example: `bough rename 4b9ad01c "By train instead"`,
		min:     2,
		max:     2,
		changes: true,
		action: func(c *cli.Context, w *workspace.Workspace) error {
			entry, err := w.Rename(c.Context, c.Args().Get(0), c.Args().Get(1))
			if err != nil {
				return err
			}
			return p.done(entry, "Renamed")
		},
	}
}

func (p *program) rmVerb() verb {
	return verb{
		name:  "rm",
		args:  "SESSION [--force or --line]",
		short: "move a session to the trash",
		long: `Moves the session's file to .bough/trash. It is refused while other sessions come from this
one: checkpoints and branches hold all they need, and --force removes what they were taken
from; a conversation's own files are only removed together, with --line. A tree of an agent
stays too, unless --force says that it leaves the agent; its only tree stays in any case.`,
		example: `bough rm "By train instead"`,
		flags: []cli.Flag{
			&cli.BoolFlag{Name: "force", DisableDefaultText: true, Usage: "remove it although checkpoints or branches come from it, or an agent has it"},
			&cli.BoolFlag{Name: "line", DisableDefaultText: true, Usage: "remove all files of the conversation"},
		},
		min:     1,
		choices: []choice{chooseSession},
		max:     1,
		changes: true,
		action: func(c *cli.Context, w *workspace.Workspace) error {
			o := workspace.RemoveOptions{Force: c.Bool("force"), Line: c.Bool("line")}
			entry, err := w.Remove(c.Context, c.Args().First(), o)
			if err != nil {
				return err
			}
			return p.done(entry, "Removed")
		},
	}
}

func (p *program) done(e *workspace.Entry, did string) error {
	if p.json {
		return p.printJSON(e)
	}
	title := clean(e.Title)
	if e.Kind == session.Continuation {
		title += " (continued)"
	}
	fmt.Fprintf(p.stderr, "%s %q\n", did, title)
	fmt.Fprintln(p.stdout, clean(e.ID))
	return nil
}
