package main

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/origin"
	"github.com/urfave/cli/v2"
)

func (p *program) filesLogVerb() verb {
	return verb{
		parent: "files",
		name:   "log",
		args:   "PATH [SESSION] [--limit N] [--patch] [--dir D]",
		short:  "list the turns that changed a file or a folder",
		long: `Lists what changed PATH, newest first: the message, the lines that were added and removed, the date,
the title of the conversation and the first words of the prompt. 'you' is what changed between turns.
With SESSION, only turns of this conversation. --patch prints the lines that differ, except of binary
files and files over 1 MiB.

The list is computed from the states of the folder and, for older changes or without states, from
the arguments of tools that edit files, as for 'bough blame'.`,
		example: `bough files log main.go
bough files log src "Plan the trip" --patch`,
		flags: []cli.Flag{
			&cli.IntFlag{Name: "limit", DefaultText: "all", Usage: "list only the `N` newest changes"},
			&cli.BoolFlag{Name: "patch", Aliases: []string{"p"}, DisableDefaultText: true, Usage: "print the lines that differ"},
			dirFlag(),
		},
		min: 1,
		max: 2,
		action: func(c *cli.Context, w *workspace.Workspace) error {
			o := origin.LogOptions{Session: c.Args().Get(1), Limit: c.Int("limit"), Patch: c.Bool("patch")}
			switch {
			case c.Args().First() == "":
				return usageError("PATH is empty")
			case c.NArg() > 1 && o.Session == "":
				return usageError("SESSION is empty")
			case c.IsSet("limit") && o.Limit < 1:
				return usageError("--limit takes a positive number")
			}
			name, err := pathOf(c, c.Args().First(), false)
			if err != nil {
				return err
			}
			l, err := w.Folder(c.String("dir")).Log(c.Context, name, o)
			if err != nil {
				return err
			}
			if p.json {
				return p.printJSON(l)
			}
			p.meter.clear()
			p.fileLog(l, o.Patch)
			return nil
		},
	}
}

// fileLog prints what changed a path.
func (p *program) fileLog(l *origin.Log, patch bool) {
	for _, c := range l.Changes {
		id, about := c.By, ""
		if c.Turn != nil {
			id, about = turnNames(*c.Turn)
			about = strings.TrimSuffix(about+": "+line(c.Turn.Text), ": ")
		}
		if !c.Sure {
			id += "?"
		}
		lines := fmt.Sprintf("+%d -%d", c.Added, c.Removed)
		row := fmt.Sprintf("%s  %s  %s  ", p.paint.yellow(pad(id, len("12345678?"))), p.paint.dim(date(c.Time)), pad(lines, len("+999 -999")))
		used := len("12345678?") + len("2006-01-02") + max(len(lines), len("+999 -999")) + 3*len("  ")
		fmt.Fprintln(p.stdout, strings.TrimRight(row+p.paint.fit(about, p.paint.width-used), " "))
		p.changedFiles(l, c, patch)
	}
	if n := l.Total - len(l.Changes); n > 0 {
		fmt.Fprintf(p.stderr, "%s not listed\n", count(n, "older change"))
	}
	if len(l.Changes) == 0 {
		fmt.Fprintln(p.stderr, "No changes.")
	}
	if l.From == origin.FromCalls {
		fmt.Fprintln(p.stderr, "There are no states of it, so only what tools wrote is known. 'bough files snap' takes a state.")
	}
}

// changedFiles prints the files of a change, unless it is the file that was asked for.
func (p *program) changedFiles(l *origin.Log, c origin.Change, patch bool) {
	for _, f := range c.Files {
		switch {
		case f.OldPath != "":
			fmt.Fprintf(p.stdout, "    renamed from %s to %s\n", line(f.OldPath), line(f.Path))
		case f.Path != l.Path || f.Kind != "changed" || f.Unshown != "":
			kind := cmp.Or(map[string]string{"mode": "permission bits of"}[f.Kind], f.Kind)
			fmt.Fprintf(p.stdout, "    %s %s%s\n", kind, line(f.Path), unshown(f.Unshown))
		}
		if patch {
			p.patch(f.Patch)
		}
	}
}
