package main

import (
	"context"
	"errors"

	"github.com/bough-dev/bough/internal/api"
	"github.com/bough-dev/bough/remote"
	"github.com/bough-dev/bough/workspace"
	"github.com/urfave/cli/v2"
)

func dryRunFlag() cli.Flag {
	return &cli.BoolFlag{Name: "dry-run", DisableDefaultText: true, Usage: "only print what would be done"}
}

func statesFlag() cli.Flag {
	return &cli.BoolFlag{Name: "files", DefaultText: "as set by 'bough remote add' or 'remote set'", Usage: "exchange states of files too; --files=false does not"}
}

// filesChoice returns whether states of files are to be exchanged, nil if that is not said.
func filesChoice(c *cli.Context) *bool {
	if !c.IsSet("files") {
		return nil
	}
	choice := c.Bool("files")
	return &choice
}

func (p *program) pushVerb() verb {
	return verb{
		name:  "push",
		args:  "[NAME] [--files] [--dry-run]",
		short: "send what this workspace has and a remote does not",
		long: `Sends new messages, sessions, titles, bookmarks, agents, explorations, learnings, attachments and
removals to the remote NAME, encrypted. Push never overwrites objects of other machines. If there is
nothing to send, it makes no request. Automatic checkpoints, running turns, the trash and settings
are not sent. States of files are sent only with --files: those that belong to the conversations,
each content once, with the paths of their folders. The position of the head is sent too: other
machines can name it MACHINE/HEAD, and their own heads do not move.`,
		example: `bough push`,
		flags:   []cli.Flag{statesFlag(), dryRunFlag()},
		max:     1,
		changes: true,
		action: func(c *cli.Context, w *workspace.Workspace) error {
			return p.exchange(c, w, c.Args().First(), func(ctx context.Context, r *remote.Remote) (*remote.Result, error) {
				return r.Push(ctx, remote.PushOptions{DryRun: c.Bool("dry-run"), Files: filesChoice(c)})
			})
		},
	}
}

func (p *program) pullVerb() verb {
	return verb{
		name:  "pull",
		args:  "[SESSION|NAME] [--remote NAME] [--files] [--only KIND…] [--dry-run]",
		short: "get what other machines sent to a remote",
		long: `Gets the sessions that other machines sent and applies them as one operation, which 'bough undo' can
undo. Prints those that changed or are new. With SESSION, only that conversation and those that it
needs; 'bough ls --remote' lists what is there. NAME is the name of a remote, and takes precedence
over a title; the default is the only remote, or the one named origin. KIND is sessions, bookmarks,
agents, explorations, learnings, attachments or files. With --files, or if 'bough remote add' or
'bough remote set' had it, pull also gets the states of files of the conversations. It changes no
file; 'bough rewind REF --files --dir D' restores a state to a folder.

If two machines changed the same thing, both sides are kept. Messages that both added to one
conversation become branches of it. The later of two titles is used. A conversation that one machine
removed and another one continued is restored. Two bookmarks with the same label are renamed
LABEL@MACHINE; if two agents have the same name, the later one is renamed NAME-MACHINE. A conflict
is not an error.`,
		example: `bough pull
bough pull "Plan the trip"
bough pull --only bookmarks --only agents`,
		flags: []cli.Flag{
			remoteFlag(),
			statesFlag(),
			&cli.StringSliceFlag{Name: "only", DefaultText: "all", Usage: "apply only things of this `KIND`, repeatable"},
			dryRunFlag(),
		},
		max:     1,
		changes: true,
		action: func(c *cli.Context, w *workspace.Workspace) error {
			name, session := c.String("remote"), c.Args().First()
			if _, err := remote.Find(w, session); session != "" && name == "" && err == nil {
				name, session = session, "" // as with push and sync
			}
			return p.exchange(c, w, name, func(ctx context.Context, r *remote.Remote) (*remote.Result, error) {
				return api.Pull(ctx, r, session, remote.PullOptions{Only: c.StringSlice("only"), Files: filesChoice(c), DryRun: c.Bool("dry-run")})
			})
		},
	}
}

func (p *program) syncVerb() verb {
	return verb{
		name:  "sync",
		args:  "[NAME] [--files] [--dry-run]",
		short: "pull from a remote, and push to it",
		long: `Does what 'bough pull' and then 'bough push' do. 'bough watch --remote' does it whenever something
changes.`,
		example: `bough sync`,
		flags:   []cli.Flag{statesFlag(), dryRunFlag()},
		max:     1,
		changes: true,
		action: func(c *cli.Context, w *workspace.Workspace) error {
			return p.exchange(c, w, c.Args().First(), func(ctx context.Context, r *remote.Remote) (*remote.Result, error) {
				return r.Sync(ctx, remote.PullOptions{Files: filesChoice(c), DryRun: c.Bool("dry-run")})
			})
		},
	}
}

// exchange opens a remote, exchanges something with it, and prints the result.
func (p *program) exchange(c *cli.Context, w *workspace.Workspace, name string, do func(context.Context, *remote.Remote) (*remote.Result, error)) error {
	r, info, err := p.openRemote(c.Context, w, name)
	if err != nil {
		return err
	}
	defer r.Close()
	result, err := do(c.Context, r)
	switch {
	case result == nil:
	case p.json:
		err = errors.Join(p.printJSON(result), err)
	default:
		p.meter.clear()
		p.exchanged(result, info, c.Command.Name, titles(c.Context, w))
	}
	return err
}
