package main

import (
	"fmt"

	"github.com/bough-dev/bough/workspace"
	"github.com/urfave/cli/v2"
)

func (p *program) packVerb() verb {
	return verb{
		name:  "pack",
		args:  "[SESSION | --all]",
		short: "pack checkpoints, so that they share their messages",
		long: `Packs the checkpoints of SESSION, by default that of the head, or of all sessions: each becomes a
recipe in packed/, which is a session file without messages, and all packed checkpoints of a
conversation share its messages, compressed. So a packed checkpoint costs its recipe and the
messages that are new since the one before. All verbs take packed checkpoints; other programs see
them only after 'bough unpack'. The plain files stay in the trash for a week. New automatic
checkpoints from 128 KiB on are packed anyway; 'bough config pack' changes that.`,
		example: `bough pack "Plan the trip"
bough pack --all`,
		flags: []cli.Flag{
			&cli.BoolFlag{Name: "all", DisableDefaultText: true, Usage: "the checkpoints of all sessions"},
		},
		choices: []choice{chooseSession}, max: 1, changes: true,
		action: func(c *cli.Context, w *workspace.Workspace) error {
			name := refOrHead(c)
			if c.Bool("all") {
				if c.NArg() > 0 {
					return usageError("--all and a SESSION exclude each other")
				}
				name = ""
			}
			packed, err := w.Pack(c.Context, name)
			if packed == nil || err != nil {
				return err
			}
			if p.json {
				return p.printJSON(packed)
			}
			var bytes, stored int64
			for _, s := range packed.Checkpoints {
				bytes, stored = bytes+s.Bytes, stored+s.Stored
			}
			if len(packed.Checkpoints) == 0 {
				fmt.Fprintln(p.stderr, "No checkpoint to pack.")
				return nil
			}
			fmt.Fprintf(p.stderr, "Packed %s: %s became %s; the plain files are in the trash\n", count(len(packed.Checkpoints), "checkpoint"), size(bytes), size(stored))
			return nil
		},
	}
}

func (p *program) unpackVerb() verb {
	return verb{
		name:  "unpack",
		args:  "CHECKPOINT",
		short: "turn a packed checkpoint into a plain session file",
		long: `Writes the session file of a packed checkpoint to conversations/, byte for byte the file that
'bough checkpoint' without --packed would have written, so that other programs see it. The recipe
is moved to the trash. Prints the checkpoint's id.`,
		example: `bough unpack "Before the budget"`,
		choices: []choice{choosePacked}, min: 1, max: 1, changes: true,
		action: func(c *cli.Context, w *workspace.Workspace) error {
			s, err := w.Unpack(c.Context, c.Args().First())
			if err != nil {
				return err
			}
			return p.snapshot("Unpacked", s)
		},
	}
}
