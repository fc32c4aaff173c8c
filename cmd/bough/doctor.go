package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/doctor"
	"github.com/urfave/cli/v2"
)

// damageFound is the error of a check that found problems, which are already printed.
type damageFound struct{}

func (damageFound) Error() string { return "problems found" }

func (p *program) doctorVerb() verb {
	return verb{
		name:    "doctor",
		args:    "[--fix [--dialect bough|penguin]] [--merge-copies]",
		short:   "check the files of a workspace and repair them",
		long:    doctorBegin + problemKinds(),
		example: `bough doctor --fix`,
		flags: []cli.Flag{
			&cli.BoolFlag{Name: "fix", DisableDefaultText: true, Usage: "repair what can be repaired without loss"},
			&cli.BoolFlag{Name: "merge-copies", DisableDefaultText: true, Usage: "only add the messages of conflict copies to their sessions"},
			&cli.StringFlag{Name: "dialect", Usage: "with --fix, write all links as `DIALECT` does"},
		},
		changes: true,
		action: func(c *cli.Context, w *workspace.Workspace) error {
			if c.Bool("merge-copies") {
				return p.mergeCopies(c, w)
			}
			report, err := w.Doctor(c.Context, doctor.Options{Fix: c.Bool("fix"), Dialect: c.String("dialect")})
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

const doctorBegin = `Checks every file and writes nothing. The exit code is 5 if there are problems. With --fix, doctor
repairs what can be repaired without loss and deletes nothing: it moves the files that it replaces
to .bough/trash. A damaged file that changed within the last second may be one that another program
is writing: --fix waits up to ten seconds until it no longer changes, and otherwise skips it.

If two machines changed a session, Dropbox, Syncthing, OneDrive, iCloud and similar programs create
a conflict copy beside it. With --merge-copies, doctor adds the messages of each copy to its
session, by id, and moves the copy to the trash; 'bough undo' undoes that. A copy with a message
that differs from the session's message of the same id is kept, and the exit code is 4.

It detects:
`

// problemKinds lists the problems that doctor finds, and how --fix repairs
// them.
func problemKinds() string {
	var lines []string
	for _, a := range doctor.Kinds {
		lines = append(lines, fmt.Sprintf("  %-21s%s", a.Kind, a.About))
		if a.Repair != "" {
			lines = append(lines, fmt.Sprintf("  %-21s--fix: %s", "", a.Repair))
		}
	}
	return strings.Join(lines, "\n")
}

func (p *program) report(r *doctor.Report) {
	for _, problem := range r.Problems {
		state := p.paint.yellow("wrong")
		if problem.Fixed {
			state = p.paint.green("fixed")
		} else if problem.Note {
			state = p.paint.dim("note ")
		}
		fmt.Fprintf(p.stdout, "%s  %s  %s\n       %s\n", state, problem.Kind, clean(problem.Path), clean(problem.Detail))
	}
	if !slices.ContainsFunc(r.Problems, func(p doctor.Problem) bool { return !p.Note }) {
		fmt.Fprintln(p.stdout, "No problems found.")
	}
}

// mergeCopies merges conflict copies and prints the result for each.
func (p *program) mergeCopies(c *cli.Context, w *workspace.Workspace) error {
	if c.Bool("fix") || c.IsSet("dialect") {
		return usageError("--merge-copies excludes --fix and --dialect")
	}
	merged, err := w.MergeCopies(c.Context)
	if err != nil {
		return err
	}
	refused := slices.ContainsFunc(merged.Copies, func(c doctor.MergedCopy) bool { return c.Status == doctor.CopyRefused })
	if p.json {
		err = p.printJSON(merged)
	} else {
		p.mergedCopies(merged)
	}
	if err == nil && refused {
		return refusedFound{}
	}
	return err
}

// refusedFound is the error of a verb that refused a part of the request, which is already
// printed.
type refusedFound struct{}

func (refusedFound) Error() string { return "a part was refused" }

func (p *program) mergedCopies(merged *doctor.MergedCopies) {
	for _, c := range merged.Copies {
		status, about := p.paint.green(string(c.Status)), ""
		switch c.Status {
		case doctor.CopyMerged, doctor.CopyRestored:
			about = count(c.Messages, "message") + " added to " + c.Session
		case doctor.CopyContained:
			about = "nothing new for " + c.Session
		case doctor.CopyRefused:
			status, about = p.paint.yellow(string(c.Status)), c.Detail
		}
		fmt.Fprintf(p.stdout, "%s  %s\n       %s\n", status, clean(c.Path), line(about))
	}
	if len(merged.Copies) == 0 {
		fmt.Fprintln(p.stderr, "No conflict copies.")
	}
}

// conflictNote returns a note about n conflict copies.
func conflictNote(n int) string {
	if n == 1 {
		return "1 conflict copy is not listed; 'bough doctor' lists it, 'bough doctor --merge-copies' merges it"
	}
	return fmt.Sprintf("%d conflict copies are not listed; 'bough doctor' lists them, 'bough doctor --merge-copies' merges them", n)
}
