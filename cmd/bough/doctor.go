package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/bough-dev/bough/workspace"
	"github.com/urfave/cli/v2"
)

// damageFound ends a doctor's visit that found something: all is told already.
type damageFound struct{}

func (damageFound) Error() string { return "something is wrong" }

func (p *program) doctorVerb() verb {
	return verb{
		name:    "doctor",
		args:    "[--fix [--dialect bough|penguin]]",
		short:   "find everything that is wrong with the files",
		long:    doctorBegin + ailments(),
		example: `bough doctor --fix`,
		flags: []cli.Flag{
			&cli.BoolFlag{Name: "fix", DisableDefaultText: true, Usage: "mend what can be mended without loss"},
			&cli.StringFlag{Name: "dialect", Usage: "with --fix, write all links as `DIALECT` does"},
		},
		changes: true,
		action: func(c *cli.Context, w *workspace.Workspace) error {
			report, err := w.Doctor(c.Context, workspace.DoctorOptions{Fix: c.Bool("fix"), Dialect: c.String("dialect")})
			if err != nil {
				return err
			}
			if p.json {
				if err := p.printJSON(report); err != nil {
					return err
				}
			} else {
				p.report(report)
			}
			if !report.OK {
				return damageFound{}
			}
			return nil
		},
	}
}

const doctorBegin = `Looks at every file, and writes nothing. Exits with 5 while something is wrong. With --fix it
mends what can be mended without loss, and deletes nothing: what it replaces goes to
.bough/trash. A damaged file that changed within a second may be one that another program is
writing: --fix waits until it does not change any more, and leaves it after ten seconds.

It finds:
`

// ailments lists what doctor finds, and what --fix does about it.
func ailments() string {
	var lines []string
	for _, a := range workspace.Ailments {
		lines = append(lines, fmt.Sprintf("  %-20s%s", a.Kind, a.About))
		if a.Mend != "" {
			lines = append(lines, fmt.Sprintf("  %-20s--fix: %s", "", a.Mend))
		}
	}
	return strings.Join(lines, "\n")
}

func (p *program) report(r *workspace.Report) {
	for _, problem := range r.Problems {
		state := p.paint.yellow("wrong")
		if problem.Fixed {
			state = p.paint.green("fixed")
		} else if problem.Note {
			state = p.paint.dim("note ")
		}
		fmt.Fprintf(p.stdout, "%s  %s  %s\n       %s\n", state, problem.Kind, clean(problem.Path), clean(problem.Detail))
	}
	if !slices.ContainsFunc(r.Problems, func(p workspace.Problem) bool { return !p.Note }) {
		fmt.Fprintln(p.stdout, "Nothing is wrong.")
	}
}
