package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/bough-dev/bough/workspace"
	"github.com/urfave/cli/v2"
)

func (p *program) remotePurgeVerb() verb {
	return verb{
		parent: "remote",
		name:   "purge",
		args:   "SESSION [--remote NAME] [--yes]",
		short:  "delete a conversation from a remote",
		long: `Deletes the messages of a session from the remote, for example after 'bough forget'. Each machine
drops what it has written itself with its next push, and deletes it with a later one, after all
machines have read that; until then, purge lists the machines that still have messages there.
Workspaces keep the session, and do not send it again. Its title, its bookmarks and its entries in
the log are deleted too, and so are the states of files that belong only to it, with content that no
other state needs. Copies of its messages in other sessions stay. A bucket that keeps versions of
objects keeps what is deleted from it: let old versions expire there. This cannot be undone.`,
		example: `bough remote purge "Plan the trip"`,
		flags: []cli.Flag{
			remoteFlag(),
			&cli.BoolFlag{Name: "yes", DisableDefaultText: true, Usage: "do not ask"},
		},
		min:     1,
		max:     1,
		changes: true,
		action: func(c *cli.Context, w *workspace.Workspace) error {
			r, info, err := p.openRemote(c.Context, w, c.String("remote"))
			if err != nil {
				return err
			}
			defer r.Close()
			id := c.Args().First()
			title := id
			if one, err := r.KnownSession(c.Context, id); err == nil {
				id, title = one.ID, one.Title
			} else if has, hasErr := r.HasSession(c.Context, id); !isNotFound(err) || hasErr != nil || !has {
				return errors.Join(err, hasErr)
			}
			if err := p.confirm(fmt.Sprintf("Take %q (%s) out of %s permanently? This cannot be undone.", line(title), clean(id), line(info.Name)), c.Bool("yes")); err != nil {
				return err
			}
			purged, err := r.Purge(c.Context, id)
			if err != nil {
				return err
			}
			if p.json {
				return p.printJSON(purged)
			}
			p.meter.clear()
			if len(purged.Holders) == 0 {
				fmt.Fprintf(p.stderr, "Purged %s: %s has no message of it\n", clean(id), line(info.Name))
				return nil
			}
			fmt.Fprintf(p.stderr, "Purged %s; still in objects of %s\n", clean(id), line(strings.Join(purged.Holders, ", ")))
			if len(purged.Newer) > 0 {
				fmt.Fprintf(p.stderr, "%s wrote records that this version of bough does not know: nothing is deleted until bough is updated here, or the machine is retired\n", line(strings.Join(purged.Newer, ", ")))
			}
			if len(purged.Waiting) > 0 {
				fmt.Fprintf(p.stderr, "Not seen yet by %s: 'bough sync' there, or 'bough remote retire MACHINE' if it is gone\n", line(strings.Join(purged.Waiting, ", ")))
			}
			if len(purged.Gone) > 0 {
				fmt.Fprintf(p.stderr, "Retired: %s; what a retired machine sent stays in %s, and only a new remote has none of it\n", line(strings.Join(purged.Gone, ", ")), line(info.Name))
			}
			if len(purged.Gone) == len(purged.Holders) {
				return nil
			}
			fmt.Fprintf(p.stderr, "Then run 'bough sync' here; 'bough remote purge %s' names the machines that still have it\n", clean(id))
			return nil
		},
	}
}
