package main

import (
	"context"
	"maps"
	"os"
	"slices"

	"github.com/bough-dev/bough/cmd/bough/internal/ui"
	"github.com/bough-dev/bough/explore"
	"github.com/bough-dev/bough/workspace"
	"github.com/urfave/cli/v2"
)

func (p *program) uiVerb() verb {
	return verb{
		name:  "ui",
		short: "show the conversations on the terminal",
		long: `Shows the tree of the conversations, with their checkpoints and branches, and beside it the
conversation at the head. Keys move, search, checkpoint, branch, restore conversations and files,
explore, create agents, compare and undo; '?' lists the keys, which include those of the page in a
browser. To explore, name a model, type a command, or choose a command of the setting mcp.commands
that you approved. Changes by other programs appear as they happen. 'bough' alone, on a terminal and
in a workspace, does the same. docs/ui.md describes it.`,
		example: `bough ui`,
		changes: true,
		action: func(c *cli.Context, w *workspace.Workspace) error {
			if p.json || !p.hasPage() {
				e := usageError("'bough ui' needs a terminal")
				e.Hint = "'bough tree' and 'bough show' print the conversations"
				return e
			}
			if _, err := w.Status(c.Context); err != nil {
				return err
			}
			p.meter.end()
			return ui.Run(c.Context, w, p.stdin, p.terminal, ui.Options{
				Models: servedModel,
				Edit: func(ctx context.Context, text string) (string, error) {
					return edited(ctx, editorOrDefault(), text)
				},
				Commands: func() ([]string, error) {
					commands, err := settingCommands(w)
					return slices.Sorted(maps.Keys(commands)), err
				},
				Command: mcpCommand(w),
				Typed: func(r explore.Runner) error {
					s := commandOf(r)
					s.Workspace = realPath(w.Dir())
					return s.keep()
				},
			})
		},
	}
}

// hasPage reports whether standard input and output are a terminal that can show a page.
func (p *program) hasPage() bool {
	return p.hasTerminal() && p.paint.width > 0 && os.Getenv("TERM") != "dumb"
}

// showsUI reports whether 'bough' alone shows the conversations instead of the help: on a
// terminal, in a workspace.
func (p *program) showsUI() bool {
	if p.json || !p.hasPage() {
		return false
	}
	dir, err := p.workspaceDir()
	return err == nil && workspace.Is(dir)
}
