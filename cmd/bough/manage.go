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
		short:   "change the title of a session",
		long:    `Changes only the title.`,
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
		long: `Moves the session's file to .bough/trash; 'bough undo' restores it. A session that checkpoints or
branches were made from is removed only with --force; they contain all their messages and stay
complete. A conversation of several files is removed only as a whole, with --line. --force also
removes a tree from its agent, but never the agent's only tree.`,
		example: `bough rm "By train instead"`,
		flags: []cli.Flag{
			&cli.BoolFlag{Name: "force", DisableDefaultText: true, Usage: "remove the session even if checkpoints or branches were made from it, or if it is a tree of an agent"},
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
