package main

import (
	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/files"
	"github.com/bough-dev/bough/workspace/restores"
	"github.com/urfave/cli/v2"
)

func (p *program) filesTurnVerb() verb {
	return verb{
		parent: "files",
		name:   "turn",
		args:   "REF [--patch] [--dir D], or REF --undo [--dir D] [--dry-run] [--whole, --keep, --take or --merge] [--only PATH]",
		short:  "show the files that a turn changed, or revert them",
		long: `Lists what the turn of the message at REF changed, as 'bough files diff' does. A turn is a message
of the user with what follows it, up to the next message of the user. This needs a state from before
the turn and one from after it; for a turn that was stopped, the state of the next prompt.

--undo reverts these changes and keeps later ones. If a later change touched the same path, that is
a conflict: nothing is changed, and the paths are listed. --keep leaves these paths as they are,
--take restores them as they were before the turn, --merge reverts only the lines that the turn
changed. --whole makes the folder exactly the state before the turn. 'bough undo' reverts it.
--dry-run only prints what would change.`,
		example: `bough files turn HEAD
bough files turn HEAD~3 --undo --dry-run`,
		flags: append(planFlags(), dirFlag(),
			&cli.BoolFlag{Name: "undo", DisableDefaultText: true, Usage: "revert the changes"},
			&cli.BoolFlag{Name: "patch", Aliases: []string{"p"}, DisableDefaultText: true, Usage: "print the lines that differ"},
		),
		min:     1,
		max:     1,
		choices: []choice{chooseMessage},
		changes: true,
		action: func(c *cli.Context, w *workspace.Workspace) error {
			folder, ref := w.Folder(c.String("dir")), c.Args().First()
			if c.Bool("undo") {
				if c.Bool("patch") {
					return usageError("--undo and --patch exclude each other")
				}
				return p.restoreFiles(c, w, func(o restores.Options) (*restores.Restore, error) { return folder.UndoTurn(c.Context, ref, o) })
			}
			if err := needs(c, "--undo", "dry-run", "whole", "keep", "take", "merge", "only"); err != nil {
				return err
			}
			d, err := folder.Turn(c.Context, ref, files.DiffOptions{Patch: c.Bool("patch")})
			if err != nil {
				return err
			}
			if p.json {
				return p.printJSON(d)
			}
			p.changes(d.Changes, c.Bool("patch"))
			return nil
		},
	}
}

func (p *program) filesApplyVerb() verb {
	return verb{
		parent: "files",
		name:   "apply",
		args:   "BRANCH [--into D] [--dry-run] [--whole, --keep, --take or --merge] [--only PATH]",
		short:  "apply the file changes of a branch to your folder",
		long: `Applies the changes of BRANCH, in its own folder, to the folder D: the difference between the state
at its branch point and its newest state. Changes after the newest state are not applied;
'bough files snap' in the folder of the branch takes one. What changed in both folders is a
conflict: nothing is done, and the paths are listed. --keep leaves these paths as they are, --take
takes those of the branch, --merge merges the lines. --whole makes the folder exactly what the
branch has. 'bough undo' reverts it. --dry-run only prints what would change.`,
		example: `bough files apply "With rye" --dry-run
bough files apply "With rye" --into ~/src/trip`,
		flags:   append(planFlags(), &cli.StringFlag{Name: "into", DefaultText: "the folder with states that contains the current directory", Usage: "change the folder `D`"}),
		min:     1,
		max:     1,
		choices: []choice{chooseSession},
		changes: true,
		action: func(c *cli.Context, w *workspace.Workspace) error {
			return p.restoreFiles(c, w, func(o restores.Options) (*restores.Restore, error) {
				return w.Folder(c.String("into")).Apply(c.Context, c.Args().First(), o)
			})
		},
	}
}

// needs returns an error if one of the flags names is set, which need another one.
func needs(c *cli.Context, other string, names ...string) error {
	for _, name := range names {
		if c.IsSet(name) {
			return usageError("--%s needs %s", name, other)
		}
	}
	return nil
}
