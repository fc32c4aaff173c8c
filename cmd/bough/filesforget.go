package main

import (
	"context"
	"fmt"

	"github.com/bough-dev/bough/remote"
	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/files"
	"github.com/urfave/cli/v2"
)

func (p *program) filesForgetVerb() verb {
	return verb{
		parent: "files",
		name:   "forget",
		args:   "PATH [--dir D] [--dry-run] [--yes]",
		short:  "delete the content of a file from all states permanently",
		long: `Deletes the content that the file at PATH had in any state of the folder, for example a secret, from
all states. This cannot be undone. The states stay; the file is missing in them. The same content is
not stored again. The file in the folder itself is not changed. PATH is relative to the folder. It is
never sent to a remote; remotes that have it already are named.`,
		example: `bough files forget config/password.txt --dry-run`,
		flags: []cli.Flag{
			dirFlag(),
			&cli.BoolFlag{Name: "dry-run", DisableDefaultText: true, Usage: "only count what would be deleted"},
			&cli.BoolFlag{Name: "yes", DisableDefaultText: true, Usage: "do not ask"},
		},
		min:     1,
		max:     1,
		changes: true,
		action: func(c *cli.Context, w *workspace.Workspace) error {
			folder, at := w.Folder(c.String("dir")), c.Args().First()
			found, err := folder.Forget(c.Context, at, files.ForgetOptions{DryRun: true})
			if err != nil {
				return err
			}
			what := fmt.Sprintf("%s of %s, which %s", count(len(found.Objects), "content"), line(at), haveIt(found.States))
			if !c.Bool("dry-run") {
				if err := p.confirm("Delete "+what+", permanently? This cannot be undone.", c.Bool("yes")); err != nil {
					return err
				}
				if found, err = folder.Forget(c.Context, at, files.ForgetOptions{}); err != nil {
					return err
				}
			}
			if p.json {
				return p.printJSON(found)
			}
			did := "Deleted "
			if found.DryRun {
				did = "Dry run: would delete "
			}
			fmt.Fprintln(p.stderr, did+what)
			p.noteHeldFiles(c.Context, w, found)
			return nil
		},
	}
}

// noteHeldFiles says which remotes hold contents that were deleted here.
func (p *program) noteHeldFiles(ctx context.Context, w *workspace.Workspace, f *files.Forgotten) {
	p.eachRemote(ctx, w, func(r *remote.Remote, info remote.Info) {
		if held, err := r.Holds(f.Objects); err != nil || held {
			fmt.Fprintf(p.stderr, "The remote %s still holds it, or may do so; 'bough remote purge SESSION --remote %s' takes the states of a conversation out\n", line(info.Name), line(info.Name))
		}
	})
}

func haveIt(states int) string {
	if states == 1 {
		return "1 state has"
	}
	return count(states, "state") + " have"
}
