package main

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/bough-dev/bough/workspace"
	"github.com/urfave/cli/v2"
)

func (p *program) logVerb() verb {
	return verb{
		name:  "log",
		args:  "[--in SESSION] [--most N]",
		short: "list what was done, the newest first",
		long: `Lists every change with its number. 'external' is what other programs were seen to have
changed. What 'bough undo' took back is marked so. It is the whole log unless --most says
less.`,
		example: `bough log --most 20`,
		flags: []cli.Flag{
			inFlag("only what changed this `SESSION`"),
			&cli.IntFlag{Name: "most", DefaultText: "all", Usage: "only the newest `N`"},
		},
		action: func(c *cli.Context, w *workspace.Workspace) error {
			if c.IsSet("most") && c.Int("most") < 1 {
				return usageError("--most takes a number from 1 on")
			}
			ops, err := w.Log(c.Context, workspace.LogOptions{In: c.String("in"), Most: c.Int("most")})
			if err != nil {
				return err
			}
			if p.json {
				return p.printJSON(ops)
			}
			p.operations(ops.Operations)
			return nil
		},
	}
}

func inFlag(usage string) cli.Flag { return &cli.StringFlag{Name: "in", Usage: usage} }

func (p *program) undoVerb() verb {
	return p.takeBackVerb("undo", (*workspace.Workspace).Undo, "take back the newest change", `Takes back the newest change that is not taken back yet; repeat it to go further back. What
was made goes to the trash, what was removed comes back, and a message that was added is
taken out again. Whatever would destroy something newer is refused, and so is what another
program has changed since; --in goes on with another session. Automatic checkpoints and
prunes are passed over. 'bough redo' undoes the undo.`)
}

func (p *program) redoVerb() verb {
	return p.takeBackVerb("redo", (*workspace.Workspace).Redo, "do again what was undone", `Takes the newest undo back, byte for byte, unless something was done since.`)
}

// takeBack is what undo and redo do.
type takeBack func(*workspace.Workspace, context.Context, workspace.UndoOptions) (*workspace.Operations, error)

func (p *program) takeBackVerb(name string, do takeBack, short, long string) verb {
	return verb{
		name:    name,
		args:    "[--in SESSION]",
		short:   short,
		long:    long,
		example: "bough " + name,
		flags:   []cli.Flag{inFlag("only look at what changed this `SESSION`")},
		changes: true,
		action: func(c *cli.Context, w *workspace.Workspace) error {
			if c.IsSet("in") && c.String("in") == "" {
				return usageError("--in names no session")
			}
			ops, err := do(w, c.Context, workspace.UndoOptions{In: c.String("in")})
			if err != nil {
				return err
			}
			if p.json {
				return p.printJSON(ops)
			}
			o := ops.Operations[0]
			fmt.Fprintf(p.stdout, "%d took back %d (%s)\n", o.Seq, o.Undoes, clean(fmt.Sprint(o.Args["verb"])))
			return nil
		},
	}
}

// operations prints operations, one on a line.
func (p *program) operations(list []workspace.Operation) {
	if len(list) == 0 {
		fmt.Fprintln(p.stderr, "Nothing was done yet.")
		return
	}
	digits := len(fmt.Sprint(list[0].Seq))
	for _, o := range list {
		text := fmt.Sprintf("%*d  %-14s  %-12s  ", digits, o.Seq, age(o.Time), clean(o.Verb))
		what := p.paint.fit(line(about(o)), p.paint.width-len(text))
		if o.Undone {
			fmt.Fprintln(p.stdout, p.paint.dim(text+what+" (taken back)"))
			continue
		}
		fmt.Fprintln(p.stdout, text+what)
	}
}

// about says in a few words what an operation was about.
func about(o workspace.Operation) string {
	text := func(name string) string {
		s, _ := o.Args[name].(string)
		return s
	}
	var words []string
	for _, title := range []string{text("agent"), text("title"), text("name"), text("label")} {
		if title != "" {
			words = append(words, strconv.Quote(title))
		}
	}
	switch {
	case o.Undoes != 0:
		words = append(words, fmt.Sprintf("took back %d (%s)", o.Undoes, text("verb")))
	case text("message") != "" && len(o.Sessions) > 0:
		words = append(words, tail(o.Sessions[0])+"@"+head(text("message")), text("role"))
		return strings.TrimSpace(strings.Join(words, " "))
	case o.Args["auto"] == true:
		words = append(words, "automatic")
	}
	const most = 3
	for i, id := range o.Sessions {
		if i == most {
			words = append(words, fmt.Sprintf("and %d more", len(o.Sessions)-most))
			break
		}
		words = append(words, tail(id))
	}
	return strings.Join(words, " ")
}

// head and tail shorten an id to as much as a person needs to recognise it.
func head(id string) string { return id[:min(len(id), 8)] }
func tail(id string) string { return id[max(0, len(id)-8):] }
