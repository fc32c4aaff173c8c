package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/user"
	"strings"

	"github.com/bough-dev/bough/internal/config"
	"github.com/bough-dev/bough/internal/gitrepo"
	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/project"
	"github.com/urfave/cli/v2"
)

func (p *program) remoteMapVerb() verb {
	return verb{
		parent: "remote",
		name:   "map",
		args:   "[PROJECT FOLDER] [--rm PROJECT]",
		short:  "list projects, and set where they are on this machine",
		long: `A conversation belongs to a folder, whose path differs between machines. Other machines find the
folder by its project: the address of its git repository, without user, password and query, and the
path inside the repository; or, for a folder outside of a repository, a name that you give here.
'bough resume' and 'bough ls --dir' then use the folder of the project on the machine where they
run.

Without arguments, lists the projects of conversations and where they are here, as far as it is
known: from conversations that were made here, or because you set it. With PROJECT and FOLDER, sets
it; for a folder that is not in a repository, PROJECT is any name, the same on all machines. States
of files of the project, taken on other machines, are then restored to it without --dir. What you
set is never sent; the records of an imported transcript have the path of their folder, and so do
states of files that are sent.`,
		example: `bough remote map
bough remote map github.com/me/site ~/src/site
bough remote map notes ~/Documents/notes`,
		flags:   []cli.Flag{&cli.StringFlag{Name: "rm", Usage: "forget the folder that was set for `PROJECT`"}},
		max:     2,
		changes: true,
		action: func(c *cli.Context, w *workspace.Workspace) error {
			switch {
			case c.IsSet("rm") && c.NArg() > 0:
				return usageError("--rm takes no other arguments")
			case c.NArg() == 1:
				return usageError("'bough remote map' needs PROJECT and FOLDER, or neither")
			case c.NArg() == 2 && strings.TrimSpace(c.Args().Get(1)) == "":
				return usageError("FOLDER is empty")
			case c.NArg() == 0 && !c.IsSet("rm"):
				list, err := w.Projects(c.Context)
				if err != nil {
					return err
				}
				return p.listProjects(list)
			}
			name, folder := c.String("rm"), c.Args().Get(1)
			if c.NArg() == 2 {
				name = c.Args().First()
			}
			place, err := w.MapProject(c.Context, name, folder)
			if err != nil {
				return err
			}
			if p.json {
				return p.printJSON(place)
			}
			if folder == "" {
				fmt.Fprintf(p.stderr, "The folder of %s is no longer set\n", line(place.ID))
				return nil
			}
			fmt.Fprintf(p.stderr, "%s is in %s on this machine\n", line(place.ID), clean(place.Folder))
			return nil
		},
	}
}

func (p *program) listProjects(list []project.Place) error {
	if p.json {
		return p.printJSON(struct {
			Projects []project.Place `json:"projects"`
		}{list})
	}
	if len(list) == 0 {
		fmt.Fprintln(p.stderr, "No conversation belongs to a known project. 'bough remote map PROJECT FOLDER' names a folder.")
		return nil
	}
	rows := [][3]string{{"PROJECT", "SESSIONS", "FOLDER"}}
	unknown := 0
	for _, one := range list {
		folder := clean(one.Folder)
		switch {
		case folder == "":
			folder = "not known here"
			unknown++
		case one.Named:
			folder += " (set)"
		}
		rows = append(rows, [3]string{line(one.ID), fmt.Sprint(one.Sessions), folder})
	}
	widest := 0
	for _, row := range rows {
		widest = max(widest, width(row[0]))
	}
	for i, row := range rows {
		text := fmt.Sprintf("%s  %*s  ", pad(row[0], widest), len("SESSIONS"), row[1])
		if i == 0 {
			fmt.Fprintln(p.stdout, p.paint.dim(text+row[2]))
			continue
		}
		fmt.Fprintln(p.stdout, text+row[2])
	}
	if unknown > 0 {
		fmt.Fprintln(p.stderr, "'bough remote map PROJECT FOLDER' sets where a project is on this machine.")
	}
	return nil
}

// person returns how the user is called: by the setting user.name, else by git, else by the system.
func person() string {
	if path, err := config.UserPath(); err == nil {
		if f, err := config.Read(path, config.User); err == nil {
			var name string
			if json.Unmarshal(f.Value("user.name"), &name) == nil && strings.TrimSpace(name) != "" {
				return strings.TrimSpace(name)
			}
		}
	}
	git, _ := gitrepo.User(os.Getenv)
	if e, ok := git.Last("user.name"); ok && strings.TrimSpace(e.Value) != "" {
		return strings.TrimSpace(e.Value)
	}
	if u, err := user.Current(); err == nil {
		return u.Username
	}
	return os.Getenv("USER")
}
