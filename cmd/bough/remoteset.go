package main

import (
	"fmt"

	"github.com/bough-dev/bough/remote"
	"github.com/bough-dev/bough/workspace"
	"github.com/urfave/cli/v2"
)

func (p *program) remoteSetVerb() verb {
	return verb{
		parent: "remote",
		name:   "set",
		args:   "NAME [--files] [--as PERSON]",
		short:  "change how a remote was added",
		long: `Changes the flags of 'bough remote add', from the next exchange on. With --files, each push, pull
and sync exchanges the states of files too; --files=false stops that, and states that were sent stay
in the remote. --as sets the name that others see.

To change the URL or the key, remove the remote and add it again; this workspace is then a new
machine of it, and compares everything again.`,
		example: `bough remote set home --files
bough remote set home --files=false
bough remote set team --as Ada`,
		flags: []cli.Flag{
			&cli.BoolFlag{Name: "files", DefaultText: "unchanged", Usage: "exchange states of files too; --files=false does not"},
			&cli.StringFlag{Name: "as", DefaultText: "unchanged", Usage: "you are `PERSON` for the others"},
		},
		min:     1,
		max:     1,
		changes: true,
		action:  p.remoteSet,
	}
}

func (p *program) remoteSet(c *cli.Context, w *workspace.Workspace) error {
	s := remote.Settings{Files: filesChoice(c)}
	if c.IsSet("as") {
		person := c.String("as")
		if person == "" {
			return usageError("--as is empty")
		}
		s.Person = &person
	}
	if s == (remote.Settings{}) {
		return usageError("nothing to change: name --files or --as")
	}
	r, _, err := p.openRemote(c.Context, w, c.Args().First())
	if err != nil {
		return err
	}
	defer r.Close()
	info, err := r.Set(c.Context, s)
	if err != nil {
		return err
	}
	if p.json {
		return p.printJSON(info)
	}
	files := "no states of files"
	if info.Files {
		files = "states of files too"
	}
	text := fmt.Sprintf("The remote %s gets %s", line(info.Name), files)
	if info.Person != "" {
		text += "; you are " + line(info.Person)
	}
	fmt.Fprintln(p.stderr, text)
	return nil
}
