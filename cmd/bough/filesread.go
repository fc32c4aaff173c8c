package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/bough-dev/bough/internal/lookup"
	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/files"
	"github.com/urfave/cli/v2"
)

// stateNames is what help says about the names of states.
const stateNames = `A state is named by its id or a unique prefix of it, or by a REF: the state of its message, else of
the nearest message before it.`

func (p *program) filesLsVerb() verb {
	return verb{
		parent: "files",
		name:   "ls",
		args:   "[SESSION]",
		short:  "list the states",
		long: `Lists the states of all folders or, with SESSION, those that belong to its messages, oldest first: a
short id, the time, the files and their size, the message, why the state was taken (prompt, end,
checkpoint, restore or manual; 'late' if the assistant had already continued when the folder was
read), and the folder.`,
		example: `bough files ls
bough files ls "Plan the trip"`,
		max: 1,
		action: func(c *cli.Context, w *workspace.Workspace) error {
			if c.NArg() > 0 && c.Args().First() == "" {
				return usageError("SESSION is empty")
			}
			list, err := w.States(c.Context, c.Args().First())
			if err != nil {
				return err
			}
			if p.json {
				return p.printJSON(list)
			}
			if len(list.States) == 0 {
				fmt.Fprintln(p.stderr, "No states. 'bough files snap' takes one.")
			}
			for _, st := range list.States {
				message := "-"
				if st.Message != "" {
					message = tail(string(st.Session)) + "@" + shortMessage(string(st.Message))
				}
				why := st.At
				if st.Late {
					why += ", late"
				}
				fmt.Fprintf(p.stdout, "%s  %s  %s  %s  %s  %s  %s\n", p.paint.yellow(lookup.Short(st.ID)), pad(age(st.Time), len("10 minutes ago")),
					pad(count(st.Files, "file"), len("10,000 files")), pad(size(st.Bytes), len("999 kB")), pad(message, len("12345678@12345678")), pad(clean(why), len("prompt, late")), line(folderOf(st)))
			}
			return nil
		},
	}
}

// folderOf names the folder of a state, with its machine if that is another one.
func folderOf(st files.State) string {
	if st.Machine != "" {
		return st.Machine + ":" + st.Dir
	}
	return st.Dir
}

func (p *program) filesDiffVerb() verb {
	return verb{
		parent: "files",
		name:   "diff",
		args:   "[A] [B] [PATH…] [--patch] [--dir D]",
		short:  "compare two states, or a state with the files now",
		long: `Lists what changed from A to B: A added, M changed, D deleted, P only the permission bits, T the type.
A is by default the state at the head or, without a head, the newest one; B is by default now, the
files as they are. With PATHs, which are relative to the folder, only these and what is below them.
--patch prints the lines that differ, except of binary files and files over 1 MiB.
` + stateNames,
		example: `bough files diff
bough files diff HEAD~4 HEAD --patch
bough files diff "Plan the trip@first" now src/main.go`,
		flags: []cli.Flag{
			dirFlag(),
			&cli.BoolFlag{Name: "patch", Aliases: []string{"p"}, DisableDefaultText: true, Usage: "print the lines that differ"},
		},
		max: 1 << 20,
		action: func(c *cli.Context, w *workspace.Workspace) error {
			args := c.Args()
			if slices.Contains(args.Slice(), "") {
				return usageError("an argument is empty")
			}
			from, to := args.Get(0), cmp.Or(args.Get(1), files.Now)
			o := files.DiffOptions{Patch: c.Bool("patch"), Paths: args.Slice()[min(2, args.Len()):]}
			d, err := w.Folder(c.String("dir")).Diff(c.Context, from, to, o)
			if err != nil {
				return err
			}
			if p.json {
				return p.printJSON(d)
			}
			p.meter.clear()
			p.noteInexact(cmp.Or(from, "HEAD"), d.From)
			p.noteInexact(to, d.To)
			p.changes(d.Changes, o.Patch)
			return nil
		},
	}
}

// noteInexact says that a state was taken for an earlier message than the REF names.
func (p *program) noteInexact(name string, st *files.State) {
	if st != nil && !st.Exact {
		fmt.Fprintf(p.stderr, "No state at %s; the nearest earlier one is %s, %s\n", line(name), lookup.Short(st.ID), age(st.Time))
	}
}

// changes prints the changes of files.
func (p *program) changes(list []files.Change, patch bool) {
	letters := map[string]string{"added": "A", "changed": "M", "deleted": "D", "mode": "P", "type": "T"}
	for _, c := range list {
		name := line(c.Path)
		for _, v := range []*files.Version{c.To, c.From} {
			if v != nil && v.Type == "folder" {
				name += "/"
			}
			if v != nil {
				break
			}
		}
		if c.Patch == "" || !patch {
			fmt.Fprintf(p.stdout, "%s  %s%s\n", letters[c.Kind], name, unshown(c.Unshown))
			continue
		}
		p.patch(c.Patch)
	}
}

// patch prints a difference of two texts.
func (p *program) patch(patch string) {
	for text := range strings.Lines(clean(patch)) {
		switch {
		case strings.HasPrefix(text, "+"):
			text = p.paint.green(strings.TrimSuffix(text, "\n")) + "\n"
		case strings.HasPrefix(text, "-"):
			text = p.paint.found(strings.TrimSuffix(text, "\n")) + "\n"
		}
		fmt.Fprint(p.stdout, text)
	}
}

func unshown(why string) string {
	if why == "" {
		return ""
	}
	return " (" + why + ")"
}

func (p *program) filesShowVerb() verb {
	return verb{
		parent: "files",
		name:   "show",
		args:   "STATE [PATH] [--dir D]",
		short:  "print a file of a state, or list a folder of it",
		long: `Prints the bytes of the file at PATH, which is relative to the folder, or lists the folder at PATH, by
default the whole one: permission bits, size and name. On a terminal, control characters are replaced.
` + stateNames,
		example: `bough files show HEAD
bough files show HEAD~2 src/main.go > old.go`,
		flags: []cli.Flag{dirFlag()},
		min:   1,
		max:   2,
		action: func(c *cli.Context, w *workspace.Workspace) error {
			if c.Args().First() == "" {
				return usageError("STATE is empty")
			}
			at := "."
			if c.NArg() > 1 {
				at = c.Args().Get(1)
			}
			e, err := w.Folder(c.String("dir")).Show(c.Context, c.Args().First(), at)
			if err != nil {
				return err
			}
			if p.json {
				return p.printJSON(e)
			}
			p.noteInexact(c.Args().First(), &e.State)
			switch {
			case e.Type == "link":
				fmt.Fprintln(p.stdout, line(e.Target))
			case e.Type == "folder":
				p.entries(e.Entries)
			case p.paint.width > 0:
				fmt.Fprint(p.stdout, clean(string(e.Content)))
			default:
				_, err = p.stdout.Write(e.Content)
			}
			return err
		},
	}
}

// entries lists what a folder of a state holds.
func (p *program) entries(list []files.Name) {
	for _, e := range list {
		name, bytes := line(e.Name), size(e.Size)
		switch e.Type {
		case "folder":
			name, bytes = name+"/", "-"
		case "link":
			name += "@"
		}
		fmt.Fprintf(p.stdout, "%3s  %6s  %s\n", e.Mode, bytes, name)
	}
}

func (p *program) filesExportVerb() verb {
	return verb{
		parent: "files",
		name:   "export",
		args:   "STATE TARGET [--git] [--dir D]",
		short:  "write what a state holds to a new folder",
		long: `Writes what a state holds to the folder TARGET, which must be new or empty: nothing is overwritten.
Links are written as links, and permission bits are those of the state. With --git, TARGET is a new
repository of git with one commit, whose message names the state and the message of the conversation;
TARGET must be in no other repository. 'git fetch TARGET' in yours makes the commit FETCH_HEAD.
` + stateNames,
		example: `bough files export HEAD~4 /tmp/before
bough files export HEAD~4 /tmp/before --git && git fetch /tmp/before && git diff FETCH_HEAD`,
		flags: []cli.Flag{
			&cli.BoolFlag{Name: "git", DisableDefaultText: true, Usage: "make TARGET a repository of git with a commit of the state"},
			dirFlag(),
		},
		min:     2,
		max:     2,
		changes: true,
		action: func(c *cli.Context, w *workspace.Workspace) error {
			if c.Args().First() == "" {
				return usageError("STATE is empty")
			}
			x, err := w.Folder(c.String("dir")).Export(c.Context, c.Args().Get(0), c.Args().Get(1), files.ExportOptions{Git: c.Bool("git")})
			if err != nil {
				return err
			}
			if p.json {
				return p.printJSON(x)
			}
			p.noteInexact(c.Args().First(), &x.State)
			for _, name := range x.Missing {
				fmt.Fprintf(p.stderr, "missing, because its content was deleted permanently: %s\n", line(name))
			}
			fmt.Fprintf(p.stderr, "Wrote %s, %s\n", count(x.Files, "file"), size(x.Bytes))
			if x.Commit != "" {
				fmt.Fprintf(p.stderr, "Committed them as %s\n", line(x.Commit))
			}
			fmt.Fprintln(p.stdout, line(x.Dir))
			return nil
		},
	}
}
