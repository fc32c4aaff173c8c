package main

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/bough-dev/bough/internal/api"
	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/forget"
	"github.com/urfave/cli/v2"
	"golang.org/x/term"
)

func (p *program) forgetVerb() verb {
	return verb{
		name:  "forget",
		args:  "SESSION [--copies] [--dry-run] [--yes ID]",
		short: "delete a conversation permanently",
		long: `Deletes all files of a conversation, also from the trash, and its text from the log, bookmarks,
explorations, learnings, tasks and the records of imports and exports. This cannot be undone. The id
of the conversation and those of its sources are kept, so that no import restores it. Other sessions
that contain its messages are listed; --copies deletes those conversations too. Messages that were
sent to a remote stay there and in the local copy of the remote; 'bough remote purge' deletes them.
On a terminal, forget asks twice; otherwise --yes must repeat the id of the conversation.`,
		example: `bough forget "By train instead" --copies`,
		flags: []cli.Flag{
			&cli.BoolFlag{Name: "copies", DisableDefaultText: true, Usage: "also delete the conversations that contain its messages"},
			&cli.BoolFlag{Name: "dry-run", DisableDefaultText: true, Usage: "only list what would be deleted"},
			&cli.StringFlag{Name: "yes", Usage: "confirm with the `ID` of the conversation instead of asking"},
		},
		min:     1,
		max:     1,
		changes: true,
		action: func(c *cli.Context, w *workspace.Workspace) error {
			o := forget.Options{Copies: c.Bool("copies"), DryRun: true}
			f, err := api.Forget(c.Context, w, c.Args().First(), o)
			if err != nil {
				return err
			}
			if !c.Bool("dry-run") {
				if err := p.confirmForget(f, c.IsSet("yes"), c.String("yes")); err != nil {
					return err
				}
				o.DryRun = false
				if f, err = api.Forget(c.Context, w, f.Session, o); err != nil {
					return err
				}
			}
			if p.json {
				return p.printJSON(f)
			}
			did := "Deleted"
			if f.DryRun {
				did = "Dry run: would delete"
			}
			for _, id := range f.Sessions {
				fmt.Fprintln(p.stdout, clean(id))
			}
			fmt.Fprintf(p.stderr, "%s %s permanently\n", did, count(len(f.Sessions), "session file"))
			p.forgetCopies(f, "still contain its messages; --copies deletes them too")
			if !f.DryRun {
				p.noteRemotes(f)
			}
			return nil
		},
	}
}

// forgetCopies lists the sessions that contain messages of a forgotten conversation and are
// kept.
func (p *program) forgetCopies(f *forget.Result, what string) {
	var left []forget.Copy
	for _, c := range f.Copies {
		if !c.Forgotten {
			left = append(left, c)
		}
	}
	if len(left) == 0 {
		return
	}
	fmt.Fprintf(p.stderr, "These %s:\n", what)
	for _, c := range left {
		where := ""
		if c.Trashed {
			where = " (in the trash)"
		}
		fmt.Fprintf(p.stderr, "  %s  %s %q, %s%s\n", clean(c.Session), line(string(c.Kind)), clean(c.Title), count(c.Messages, "message"), where)
	}
}

// confirmForget asks twice whether to delete a conversation, unless --yes repeats its id.
func (p *program) confirmForget(f *forget.Result, given bool, yes string) error {
	named := func(s string) bool { return s == f.Session || s == tail(f.Session) }
	if given && named(yes) {
		return nil
	}
	if given {
		return usageError("--yes takes the id of the conversation, %s", f.Session)
	}
	in, ok := p.stdin.(*os.File)
	if !ok || p.screen == nil || !term.IsTerminal(int(in.Fd())) {
		return usageError("no terminal to confirm on; '--yes %s' deletes it permanently", f.Session)
	}
	lines := bufio.NewScanner(in)
	ask := func(question string) string {
		fmt.Fprint(p.stderr, question)
		lines.Scan()
		return strings.TrimSpace(lines.Text())
	}
	p.forgetCopies(f, "contain its messages and are kept; --copies deletes them too")
	switch strings.ToLower(ask(fmt.Sprintf("Delete %q (%s) permanently? This cannot be undone. [y/N] ", line(f.Title), count(len(f.Sessions), "session file")))) {
	case "y", "yes":
	default:
		return errNotForgotten
	}
	if !named(ask(fmt.Sprintf("Type %s to confirm: ", clean(tail(f.Session))))) {
		return errNotForgotten
	}
	return nil
}

var errNotForgotten = errors.New("nothing was deleted")
