package main

import (
	"fmt"

	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/lines"
	"github.com/urfave/cli/v2"
)

func (p *program) restoreVerb() verb {
	return verb{
		name:  "restore",
		args:  "CHECKPOINT",
		short: "go back to a checkpoint",
		long: `Moves the head to the end of a checkpoint. The next message creates a branch of the checkpoint.
Neither the checkpoint nor any later message changes. Prints the new head.`,
		example: `bough restore "Before the budget"
bough append "Let us spend less."`,
		min:     1,
		choices: []choice{chooseCheckpoint},
		max:     1,
		changes: true,
		action: func(c *cli.Context, w *workspace.Workspace) error {
			pos, err := w.Restore(c.Context, c.Args().First())
			if err != nil {
				return err
			}
			return p.position(pos)
		},
	}
}

func (p *program) rewindVerb() verb {
	return verb{
		name:    "rewind",
		aliases: []string{"continue-from"},
		args:    "REF [--strict] [--partial]",
		short:   "move the head to any message",
		long: `Moves the head to REF. The messages after REF stay; the next message begins another branch of the
same conversation. Prints the new head.`,
		example: `bough rewind "Plan the trip@msg_2b0c3457"
bough append "Let me ask that differently."`,
		flags:   cutFlags(),
		min:     1,
		choices: []choice{chooseMessage},
		max:     1,
		changes: true,
		action: func(c *cli.Context, w *workspace.Workspace) error {
			pos, err := w.Rewind(c.Context, c.Args().First(), cutOptions(c))
			if err != nil {
				return err
			}
			return p.position(pos)
		},
	}
}

// refOrHead returns the argument of a verb, HEAD if there is none.
func refOrHead(c *cli.Context) string {
	if c.NArg() == 0 {
		return "HEAD"
	}
	return c.Args().First()
}

func (p *program) position(pos *lines.Position) error {
	if p.json {
		return p.printJSON(pos)
	}
	p.steppedBack(pos.Adjustment, string(pos.Head.Message))
	if pos.ReadOnly {
		fmt.Fprintln(p.stderr, "This is a checkpoint: the next message creates a branch of it.")
	}
	fmt.Fprintln(p.stdout, place(string(pos.Head.Session), string(pos.Head.Message)))
	return nil
}

// place returns the printed REF of a message, or of a session if message is "".
func place(session, message string) string {
	if message == "" {
		return clean(session)
	}
	return clean(session) + "@" + clean(message)
}
