package main

import (
	"fmt"
	"slices"

	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/lines"
	"github.com/bough-dev/bough/workspace/restores"
	"github.com/urfave/cli/v2"
)

func (p *program) restoreVerb() verb {
	return verb{
		name:  "restore",
		args:  "CHECKPOINT [--files or --both] [--dir D] [--dry-run] [--whole, --keep, --take or --merge] [--only PATH]",
		short: "go back to a checkpoint",
		long: `Moves the head to the end of a checkpoint. The next message creates a branch of the checkpoint.
Neither the checkpoint nor any later message changes. Prints the new head.
` + withFiles,
		example: `bough restore "Before the budget"
bough append "Let us spend less."
bough restore "Before the budget" --both --dry-run`,
		flags:   append(filesOrBoth(), planFlags()...),
		min:     1,
		choices: []choice{chooseCheckpoint},
		max:     1,
		changes: true,
		action: func(c *cli.Context, w *workspace.Workspace) error {
			head, restored, err := goesBack(c)
			if err != nil {
				return err
			}
			name, folder := c.Args().First(), w.Folder(c.String("dir"))
			switch {
			case restored && head:
				return p.restoreBoth(c, func(o restores.Options) (*lines.Position, error) { return folder.Restore(c.Context, name, o) })
			case restored:
				return p.restoreFiles(c, w, func(o restores.Options) (*restores.Restore, error) { return folder.RestoreFiles(c.Context, name, o) })
			}
			pos, err := w.Restore(c.Context, name)
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
		args:    "REF [--strict] [--partial] [--files or --both] [--dir D] [--dry-run] [--whole, --keep, --take or --merge] [--only PATH]",
		short:   "move the head to any message",
		long: `Moves the head to REF. The messages after REF stay; the next message begins another branch of the
same conversation. Prints the new head.
` + withFiles,
		example: `bough rewind "Plan the trip@msg_2b0c3457"
bough append "Let me ask that differently."
bough rewind HEAD~2 --both
bough rewind HEAD~2 --files --only src/main.go --dry-run`,
		flags:   slices.Concat(cutFlags(), filesOrBoth(), planFlags()),
		min:     1,
		choices: []choice{chooseMessage},
		max:     1,
		changes: true,
		action: func(c *cli.Context, w *workspace.Workspace) error {
			head, restored, err := goesBack(c)
			if err != nil {
				return err
			}
			ref, folder := c.Args().First(), w.Folder(c.String("dir"))
			switch {
			case restored && head:
				return p.restoreBoth(c, func(o restores.Options) (*lines.Position, error) {
					return folder.Rewind(c.Context, ref, cutOptions(c), o)
				})
			case restored:
				return p.restoreFiles(c, w, func(o restores.Options) (*restores.Restore, error) { return folder.RestoreFiles(c.Context, ref, o) })
			}
			pos, err := w.Rewind(c.Context, ref, cutOptions(c))
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
