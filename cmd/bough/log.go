package main

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/bough-dev/bough/internal/lookup"
	"github.com/bough-dev/bough/internal/operation"
	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/history"
	"github.com/bough-dev/bough/workspace/restores"
	"github.com/clipperhouse/displaywidth"
	"github.com/urfave/cli/v2"
)

func (p *program) logVerb() verb {
	return verb{
		name:  "log",
		args:  "[--in SESSION] [--limit N] [--all] [--remote]",
		short: "list the operations, newest first",
		long: `Lists every change with its number, newest first. 'external' marks changes by other programs,
'(undone)' those that were undone. An import is one line, and so is a pull, because 'bough undo'
undoes it as a whole; --all and --json list each of its conversations.

--remote lists what all machines of the remote did, each with the name of its machine, as of the last
push or pull. The order is the same on all machines, and does not depend on their clocks.`,
		example: `bough log --limit 20`,
		flags: []cli.Flag{
			inFlag("only changes of this `SESSION`"),
			&cli.IntFlag{Name: "limit", Aliases: []string{"n"}, DefaultText: "all", Usage: "only the newest `N`"},
			&cli.BoolFlag{Name: "all", DisableDefaultText: true, Usage: "list each conversation of an import or a pull"},
			&cli.BoolFlag{Name: "remote", DisableDefaultText: true, Usage: "list the operations of all machines of the remote"},
		},
		action: func(c *cli.Context, w *workspace.Workspace) error {
			if c.IsSet("limit") && c.Int("limit") < 1 {
				return usageError("--limit takes a positive number")
			}
			if c.Bool("remote") {
				return p.logRemote(c, w)
			}
			fold := !p.json && !c.Bool("all")
			ops, err := w.Log(c.Context, history.LogOptions{In: c.String("in"), Limit: c.Int("limit"), Groups: fold})
			if err != nil {
				return err
			}
			if p.json {
				return p.printJSON(ops)
			}
			p.operations(rowsOf(ops.Operations, fold), titles(c.Context, w))
			return nil
		},
	}
}

func inFlag(usage string) cli.Flag { return &cli.StringFlag{Name: "in", Usage: usage} }

func (p *program) undoVerb() verb {
	v := p.takeBackVerb("undo", (*workspace.Workspace).Undo, "undo the newest change", `Undoes the newest change that is not undone; repeat it to go further back. Sessions that the change
created move to the trash, removed sessions are restored, and added messages are deleted. -n undoes
the newest N changes, --to all changes after an operation of 'bough log', --in only changes of one
session. Undo refuses a change that a newer one depends on, a change whose files another program
changed since, and a removal whose files were deleted from the trash. If files of a folder were
changed since, --keep leaves those, --take overwrites them, and --merge merges their lines.
Automatic operations are skipped: automatic checkpoints and the prunes after them, imports by
'bough watch' and by hooks, and 'bough forget', which cannot be undone. 'bough redo' reverts the
undo.`)
	v.args = "[--in SESSION] [-n N or --to OPERATION] [--keep, --take or --merge]"
	v.flags = append(v.flags,
		&cli.IntFlag{Name: "limit", Aliases: []string{"n"}, DefaultText: "1", Usage: "undo the newest `N` changes"},
		&cli.Int64Flag{Name: "to", DefaultText: "the newest change", Usage: "undo all changes after this `OPERATION`"},
	)
	return v
}

func (p *program) redoVerb() verb {
	return p.takeBackVerb("redo", (*workspace.Workspace).Redo, "redo the newest undo", `Repeats the changes that the newest undo undid, byte for byte. It refuses if their files changed since.`)
}

// takeBack is the signature of undo and redo.
type takeBack func(*workspace.Workspace, context.Context, history.UndoOptions) (*history.Operations, error)

func (p *program) takeBackVerb(name string, do takeBack, short, long string) verb {
	return verb{
		name:    name,
		args:    "[--in SESSION] [--keep, --take or --merge]",
		short:   short,
		long:    long,
		example: "bough " + name,
		flags: []cli.Flag{
			inFlag("only consider changes of this `SESSION`"),
			&cli.BoolFlag{Name: restores.Keep, DisableDefaultText: true, Usage: "leave files of folders that were changed since"},
			&cli.BoolFlag{Name: restores.Take, DisableDefaultText: true, Usage: "overwrite these files; a state keeps their content"},
			&cli.BoolFlag{Name: restores.Merge, DisableDefaultText: true, Usage: "merge them line by line"},
		},
		changes: true,
		action: func(c *cli.Context, w *workspace.Workspace) error {
			o, err := undoOptions(c)
			if err != nil {
				return err
			}
			ops, err := do(w, c.Context, o)
			if err != nil {
				return err
			}
			if p.json {
				return p.printJSON(ops)
			}
			_, err = fmt.Fprintln(p.stdout, line(undid(ops.Operations, titles(c.Context, w))))
			return err
		},
	}
}

func undoOptions(c *cli.Context) (o history.UndoOptions, err error) {
	o = history.UndoOptions{In: c.String("in"), Count: c.Int("limit"), To: operation.Seq(c.Int64("to"))}
	for _, name := range []string{restores.Keep, restores.Take, restores.Merge} {
		if c.Bool(name) && o.Conflicts != "" {
			return o, usageError("--%s and --%s exclude each other", o.Conflicts, name)
		}
		if c.Bool(name) {
			o.Conflicts = name
		}
	}
	switch {
	case c.IsSet("in") && o.In == "":
		return o, usageError("--in is empty")
	case c.IsSet("limit") && o.Count < 1:
		return o, usageError("-n takes a positive number")
	case c.IsSet("to") && o.To < 1:
		return o, usageError("--to takes the number of an operation")
	case c.IsSet("limit") && c.IsSet("to"):
		return o, usageError("-n and --to exclude each other")
	}
	return o, nil
}

// undid describes the operations that an undo undid or a redo repeated.
func undid(list []history.Operation, titles map[string]string) string {
	did := "Undid"
	if list[0].Verb != operation.Undo {
		did = "Redid"
	}
	of := make([]history.Operation, len(list))
	for i, o := range list {
		of[i] = history.Operation{Seq: o.Undoes, Verb: fmt.Sprint(o.Args["verb"])}
		if o.Original != nil {
			of[i] = *o.Original
		}
	}
	if len(of) == 1 {
		return strings.TrimSpace(fmt.Sprintf("%s operation %d: %s %s", did, of[0].Seq, of[0].Verb, about(of[0], titles)))
	}
	verb, first, last := madeBy(of[0]), of[0].Seq, of[0].Seq
	for _, o := range of {
		first, last = min(first, o.Seq), max(last, o.Seq)
		if madeBy(o) != verb {
			verb = ""
		}
	}
	if verb == "" {
		return fmt.Sprintf("%s operations %d..%d: %s", did, first, last, count(len(of), "operation"))
	}
	return fmt.Sprintf("%s operations %d..%d: %s, %s", did, first, last, verb, count(len(of), thing(verb)))
}

// madeBy returns the verb that made an operation: of one of a group, that of the group.
func madeBy(o history.Operation) string {
	if verb, ok := o.Args["for"].(string); ok && o.Group != 0 {
		return verb
	}
	return o.Verb
}

// titles returns the titles of the sessions by id, nil if they cannot be read.
func titles(ctx context.Context, w *workspace.Workspace) map[string]string {
	titles := map[string]string{}
	if l, err := w.List(ctx, ""); err == nil {
		for _, e := range l.Sessions {
			titles[e.ID] = e.Title
		}
	}
	return titles
}

// thing returns the noun for an operation of a group.
func thing(verb string) string {
	if verb == "import" {
		return "conversation"
	}
	return "operation"
}

// A logRow is a row of the log: an operation, or those of a group, newest first.
type logRow []history.Operation

// rowsOf returns the rows of operations. With fold, the operations of a group share one
// row, at the position of the newest.
func rowsOf(list []history.Operation, fold bool) (rows []logRow) {
	at := map[operation.Seq]int{}
	for _, o := range list {
		n, known := at[o.Group]
		if fold && o.Group != 0 && known {
			rows[n] = append(rows[n], o)
			continue
		}
		at[o.Group] = len(rows)
		rows = append(rows, logRow{o})
	}
	return rows
}

// about describes the row in a few words.
func (r logRow) about(titles map[string]string) string {
	newest, oldest := r[0], r[len(r)-1]
	if len(r) == 1 {
		return about(newest, titles)
	}
	text := count(len(r), thing(newest.Verb))
	if madeBy(newest) != newest.Verb {
		text = strings.TrimSpace(about(oldest, titles) + " and " + count(len(r)-1, "more operation"))
	}
	if newest.Verb == operation.Pull {
		text = from(newest, text)
	}
	if newest.Undoes != 0 {
		text = fmt.Sprintf("undid %s (%v)", count(len(r), "operation"), newest.Args["verb"])
	}
	return fmt.Sprintf("%s, %d..%d", text, oldest.Seq, newest.Seq)
}

// from adds the remote of a pull to a text.
func from(o history.Operation, text string) string {
	if remote, _ := o.Args["remote"].(string); remote != "" {
		return text + " from " + clean(remote)
	}
	return text
}

const allUndone = " (undone)"

// undone returns a mark for the undone part of the row.
func (r logRow) undone() string {
	n := 0
	for _, o := range r {
		if o.Undone {
			n++
		}
	}
	switch n {
	case 0:
		return ""
	case len(r):
		return allUndone
	}
	return fmt.Sprintf(" (%d undone)", n)
}

// operations prints operations, one row per line.
func (p *program) operations(rows []logRow, titles map[string]string) {
	if len(rows) == 0 {
		fmt.Fprintln(p.stderr, "No operations.")
		return
	}
	digits, verb := len(fmt.Sprint(rows[0][0].Seq)), 0
	for _, r := range rows {
		verb = min(max(verb, width(clean(madeBy(r[0])))), len("doctor --merge-copies"))
	}
	for _, r := range rows {
		text := fmt.Sprintf("%*d  %-14s  %s  ", digits, r[0].Seq, age(r[0].Time), pad(clean(madeBy(r[0])), verb))
		undone := r.undone()
		text += p.paint.fit(line(r.about(titles)), p.paint.width-len(text)) + undone
		if undone == allUndone {
			text = p.paint.dim(text)
		}
		fmt.Fprintln(p.stdout, text)
	}
}

// about describes an operation in a few words: by the titles in its arguments,
// else by those of its sessions.
func about(o history.Operation, titles map[string]string) string {
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
	if len(words) == 0 && len(o.Sessions) > 0 && titles[o.Sessions[0]] != "" {
		words = append(words, strconv.Quote(displaywidth.TruncateString(line(titles[o.Sessions[0]]), 40, "…")))
	}
	switch {
	case o.Undoes != 0:
		words = append(words, fmt.Sprintf("undid %d (%s)", o.Undoes, text("verb")))
	case text("message") != "" && len(o.Sessions) > 0:
		words = append(words, tail(o.Sessions[0])+"@"+head(text("message")), text("role"))
		if title := titles[text("from")]; o.Verb == "merge" && title != "" {
			words = append(words, "of", strconv.Quote(displaywidth.TruncateString(line(title), 40, "…")))
		}
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
	if o.Verb == operation.Pull {
		return from(o, strings.Join(words, " "))
	}
	return strings.Join(words, " ")
}

// head and tail shorten an id to its first or last eight characters.
func head(id string) string { return clean(id[:min(len(id), 8)]) }
func tail(id string) string { return clean(lookup.Short(id)) }
