package main

import (
	"fmt"
	"strings"

	"github.com/bough-dev/bough/remote"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace"
	"github.com/urfave/cli/v2"
)

func (p *program) remoteCheckVerb() verb {
	return verb{
		parent: "remote",
		name:   "check",
		args:   "[NAME] [--read-data]",
		short:  "check what is in a remote",
		long: `Reads the new objects of the remote and the newest base of each machine, and checks that all packs
and the newest record of each machine exist. Prints the machines and the problems: objects that are
missing, rolled back, replaced, not encrypted with the key, or not signed by their machine; and
conflict copies of programs such as Syncthing. Such objects are ignored. The check changes nothing.
The exit code is 5 if something is wrong.

Objects that this machine has read before are not read again, except with --read-data, which
downloads the whole remote: all that a new machine reads, and every pack. It finds records that were
deleted after this machine had read them, and packs whose bytes changed.`,
		example: `bough remote check
bough remote check --read-data`,
		flags: []cli.Flag{&cli.BoolFlag{Name: "read-data", DisableDefaultText: true, Usage: "read also what this machine has read before, and all packs"}},
		max:   1,
		action: func(c *cli.Context, w *workspace.Workspace) error {
			ctx, stop := untilInterrupt(c.Context)
			defer stop()
			r, _, err := p.openRemote(ctx, w, c.Args().First())
			if err != nil {
				return err
			}
			defer r.Close()
			report, err := r.Check(ctx, remote.CheckOptions{ReadData: c.Bool("read-data")})
			if err != nil {
				return err
			}
			if p.json {
				if err := p.printJSON(report); err != nil {
					return err
				}
			} else {
				p.remoteReport(report)
			}
			if !report.OK {
				return damageFound{}
			}
			return nil
		},
	}
}

func (p *program) remoteReport(r *remote.Report) {
	p.meter.clear()
	p.machines(r.Machines)
	for _, one := range r.Problems {
		fmt.Fprintf(p.stdout, "%-12s  %s  %s\n", line(string(one.Kind)), clean(one.Object), line(one.Detail))
	}
	for _, held := range r.Held {
		fmt.Fprintf(p.stdout, "%-12s  record %d of %s needs records that are not there\n", "held", held.Seq, clean(string(held.Machine)))
	}
	for _, name := range r.Copies {
		fmt.Fprintf(p.stdout, "%-12s  %s\n", "copy", line(name))
	}
	for _, name := range r.Packs {
		fmt.Fprintf(p.stdout, "%-12s  %s  missing or damaged\n", "pack", clean(name))
	}
	for _, name := range r.Newer {
		fmt.Fprintf(p.stdout, "%-12s  %s wrote records that this version of bough does not know: nothing is deleted as garbage until bough is updated here, or the machine is retired\n", "newer", line(name))
	}
	if r.OK {
		fmt.Fprintf(p.stderr, "No problems in %s (%s)\n", line(r.Remote), count(int(r.Requests), "request"))
		return
	}
	fmt.Fprintf(p.stderr, "%s in %s\n", count(len(r.Problems)+len(r.Held)+len(r.Copies)+len(r.Packs), "problem"), line(r.Remote))
}

// machines prints the machines of a remote.
func (p *program) machines(list []remote.Machine) {
	widest, people := 0, map[string]bool{}
	for _, m := range list {
		widest = max(widest, width(line(m.Name)))
		people[m.Person] = true
	}
	for _, m := range list {
		about := ""
		if t, ok := session.ParseTime(m.Seen); ok {
			about = "last record " + age(t)
		}
		if m.Person != "" && len(people) > 1 {
			about = strings.TrimPrefix(about+", of "+line(m.Person), ", ")
		}
		if m.Own {
			about = strings.TrimPrefix(about+", this machine", ", ")
		}
		if m.Retired {
			about = strings.TrimPrefix(about+", retired", ", ")
		}
		fmt.Fprintln(p.stdout, strings.TrimRight(fmt.Sprintf("machine  %s  %s  %s", pad(line(m.Name), widest), clean(string(m.ID)), about), " "))
	}
}

func (p *program) remoteRetireVerb() verb {
	return verb{
		parent: "remote",
		name:   "retire",
		args:   "MACHINE [--remote NAME]",
		short:  "stop waiting for a machine that is gone",
		long: `The remote keeps records until every machine has read them. Retires a machine that will not come
back, by its name or id, so that the others no longer keep records for it. Its conversations stay.
If a retired machine comes back, it begins again with what the others have.

If the store lost records of the machine that other machines have read, new machines wait for these
records before they read what the others wrote since. After the machine is retired, new machines
read on without the lost records, and say so. To send their content again, remove the remote and add
it again on a machine that has it.`,
		example: `bough remote retire old-laptop`,
		flags:   []cli.Flag{remoteFlag()},
		min:     1,
		max:     1,
		changes: true,
		action: func(c *cli.Context, w *workspace.Workspace) error {
			r, info, err := p.openRemote(c.Context, w, c.String("remote"))
			if err != nil {
				return err
			}
			defer r.Close()
			result, err := r.Retire(c.Context, c.Args().First())
			if err != nil {
				return err
			}
			if p.json {
				return p.printJSON(result)
			}
			p.meter.clear()
			fmt.Fprintf(p.stderr, "Retired %s in %s\n", line(c.Args().First()), line(info.Name))
			return nil
		},
	}
}
