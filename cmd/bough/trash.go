package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/trash"
	"github.com/urfave/cli/v2"
)

func (p *program) trashVerb() verb {
	return verb{
		name:  "trash",
		args:  "[--purge [--older TIME]]",
		short: "list the files in the trash, or delete them",
		long: `Lists the files in the trash, newest first: those that verbs such as 'bough rm', 'bough undo',
'bough prune', 'bough pack', 'bough agent rm' and 'bough doctor --fix' removed or replaced. --purge
deletes them permanently, with the packed messages that no other checkpoint needs; 'bough undo'
cannot restore them after that.`,
		example: `bough trash --purge --older 30d`,
		flags: []cli.Flag{
			&cli.BoolFlag{Name: "purge", DisableDefaultText: true, Usage: "delete the files"},
			&cli.StringFlag{Name: "older", DefaultText: "all", Usage: "only files that have been in the trash for this `TIME` or longer, such as 30d"},
		},
		changes: true,
		action: func(c *cli.Context, w *workspace.Workspace) error {
			if c.IsSet("older") && !c.Bool("purge") {
				return usageError("--older requires --purge")
			}
			older, err := ageFlag(c, "older", time.Now())
			if err != nil {
				return err
			}
			list := w.Trash
			if c.Bool("purge") {
				o := trash.PurgeOptions{MinAge: older}
				list = func(ctx context.Context) (*trash.List, error) { return w.PurgeTrash(ctx, o) }
			}
			t, err := list(c.Context)
			if err != nil {
				return err
			}
			if p.json {
				return p.printJSON(t)
			}
			var bytes int64
			for _, f := range t.Files {
				bytes += f.Bytes
				fmt.Fprintf(p.stdout, "%-14s  %8s  %s\n", age(f.RemovedAt), size(f.Bytes), strings.TrimRight(clean(f.File)+"  "+line(f.Title), " "))
			}
			switch {
			case len(t.Files) == 0:
				fmt.Fprintln(p.stderr, "The trash is empty.")
			case c.Bool("purge"):
				fmt.Fprintf(p.stderr, "Deleted %s, %s\n", count(len(t.Files), "file"), size(bytes))
			default:
				fmt.Fprintf(p.stderr, "%s, %s\n", count(len(t.Files), "file"), size(bytes))
			}
			return nil
		},
	}
}
