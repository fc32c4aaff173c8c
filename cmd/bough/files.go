package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/fault"
	"github.com/bough-dev/bough/workspace/files"
	"github.com/urfave/cli/v2"
)

func (p *program) filesVerb() verb {
	return verb{
		name:  "files",
		args:  "[DIR]",
		short: "keep states of the files that go with a conversation",
		long: `A state is what a folder held at a moment: its files, symbolic links and folders, byte for byte, in
the folder states of the workspace. Without a verb, prints what a state of DIR would hold now, and
what it would not, with the reason. DIR is the current directory, or the folder above it that has
states. Nothing in the folder is changed, and git is not needed.

A state does not hold what .gitignore and .boughignore ignore, except files that git tracks, and
never .git, node_modules, __pycache__, virtual environments and caches with a CACHEDIR.TAG. These are
omitted and listed: files over 16 MiB (large), folders without tracked files that have more than
20,000 files or 1 GiB (folder_large), files with names of secrets such as .env (secret), tracked files
that .boughignore ignores (ignored_tracked), and what cannot be read (unreadable, locked, special,
unsettled). The home folder, the temporary folder and the like are refused, what is below them is not.`,
		example: `bough files
bough files ~/src/trip
bough files diff HEAD~4`,
		max:    1,
		subs:   []verb{p.filesSnapVerb(), p.filesLsVerb(), p.filesDiffVerb(), p.filesShowVerb(), p.filesExportVerb(), p.filesLogVerb(), p.filesForgetVerb(), p.filesTurnVerb(), p.filesApplyVerb()},
		action: p.filesAction,
	}
}

func dirFlag() cli.Flag {
	return &cli.StringFlag{Name: "dir", DefaultText: "the current directory, or the folder with states that contains it", Usage: "use the folder `D`"}
}

func (p *program) filesAction(c *cli.Context, w *workspace.Workspace) error {
	dir := c.Args().First()
	if c.NArg() > 0 && dir == "" {
		return usageError("DIR is empty")
	}
	cover, err := w.Folder(dir).Coverage(c.Context)
	if err != nil {
		return p.misspelled(err, dir)
	}
	if p.json {
		return p.printJSON(cover)
	}
	p.meter.clear()
	fmt.Fprintf(p.stdout, "%s: %s, %s\n", p.paint.bold(line(cover.Folder)), count(cover.Files, "file"), size(cover.Bytes))
	p.leftOut(cover.Left)
	if st := cover.State; st != nil {
		fmt.Fprintf(p.stdout, "Newest state: %s, %s\n", st.ID, age(st.Time))
	} else {
		fmt.Fprintln(p.stderr, "No state yet. 'bough files snap' takes one.")
	}
	if s := cover.Store; s.States > 0 {
		fmt.Fprintf(p.stdout, "In the workspace: %s, %s\n", count(s.States, "state"), size(s.Bytes))
	}
	return nil
}

// misspelled adds to the error for a folder that does not exist that its name may be a misspelled
// verb.
func (p *program) misspelled(err error, dir string) error {
	var e *fault.Error
	if !errors.As(err, &e) || e.Code != fault.NotFound || dir == "" || strings.ContainsAny(dir, `./\~`) {
		return err
	}
	with := *e
	with.Message += didYouMean(dir, allNames(p.filesVerb().subs))
	with.Hint = seeHelp("files")
	return &with
}

// leftOut prints what a state does not hold.
func (p *program) leftOut(list []files.Left) {
	for _, l := range list {
		var facts []string
		if l.Files > 1 {
			facts = append(facts, count(l.Files, "file"))
		}
		if l.Bytes > 0 {
			facts = append(facts, size(l.Bytes))
		}
		row := fmt.Sprintf("omitted  %-15s  %s", l.Why, line(l.Path))
		if len(facts) > 0 {
			row += " (" + strings.Join(facts, ", ") + ")"
		}
		fmt.Fprintln(p.stdout, row)
	}
}

func (p *program) filesSnapVerb() verb {
	return verb{
		parent: "files",
		name:   "snap",
		args:   "[REF] [--dir D] [--secrets]",
		short:  "take a state of a folder",
		long: `Takes a state of the folder for the message at REF or, without REF, at the head; without a head, the
state belongs to no message. Only what is new takes space. Prints the id of the state.`,
		example: `bough files snap
bough files snap "Plan the trip@last" --dir ~/src/trip`,
		flags: []cli.Flag{
			dirFlag(),
			&cli.BoolFlag{Name: "secrets", DisableDefaultText: true, Usage: "hold files with names of secrets too"},
		},
		max:     1,
		changes: true,
		action: func(c *cli.Context, w *workspace.Workspace) error {
			if c.NArg() > 0 && c.Args().First() == "" {
				return usageError("REF is empty")
			}
			st, err := w.Folder(c.String("dir")).Snap(c.Context, c.Args().First(), files.SnapOptions{Secrets: c.Bool("secrets")})
			if err != nil {
				return err
			}
			if p.json {
				return p.printJSON(st)
			}
			p.meter.clear()
			fmt.Fprintf(p.stderr, "Took a state of %s: %s, %s, %s new\n", line(st.Dir), count(st.Files, "file"), size(st.Bytes), size(st.NewBytes))
			if n := len(st.Left); n > 0 {
				fmt.Fprintf(p.stderr, "%s omitted; 'bough files' lists them\n", count(n, "path"))
			}
			fmt.Fprintln(p.stdout, st.ID)
			return nil
		},
	}
}
