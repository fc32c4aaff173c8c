package main

import (
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/origin"
	"github.com/urfave/cli/v2"
)

func (p *program) blameVerb() verb {
	return verb{
		name:  "blame",
		args:  "FILE[:LINE] or FILE:A-B [--at STATE] [--dir D]",
		short: "show which turn of which conversation wrote each line of a file",
		long: `Prints for each line of FILE the message that wrote it, the title of its conversation and the date.
Lines are followed through the states of the folder ('bough help files') of all conversations, also
across renames of the file. 'you' marks a line that changed between turns, 'older' a line of the
first state, and '?' a line whose author is uncertain, because several turns ran at the same time or
the turn was stopped.

Without states, and for older lines, the arguments of tools that edit files are searched, in all
conversations; '-' marks a line that no tool wrote: you wrote it, or a command did.

--at STATE takes the file of a state, which is named by its id or by a REF. FILE is then a path of
the folder.`,
		example: `bough blame main.go
bough blame main.go:12-40
bough blame src/main.go --at HEAD~4`,
		flags: []cli.Flag{
			&cli.StringFlag{Name: "at", DefaultText: "the file as it is now", Usage: "the file of the state `STATE`"},
			dirFlag(),
		},
		min: 1,
		max: 1,
		action: func(c *cli.Context, w *workspace.Workspace) error {
			name, o, err := blameArgs(c)
			if err != nil {
				return err
			}
			b, err := w.Folder(c.String("dir")).Blame(c.Context, name, o)
			if err != nil {
				return err
			}
			if p.json {
				return p.printJSON(b)
			}
			p.meter.clear()
			p.noteInexact(o.State, b.State)
			p.blame(b)
			return nil
		},
	}
}

// blameArgs returns the path and the options of a blame.
func blameArgs(c *cli.Context) (name string, o origin.BlameOptions, err error) {
	arg := c.Args().First()
	name, o.First, o.Last = cutLines(arg)
	if name == "" {
		return "", o, usageError("FILE is empty")
	}
	if o.First < 0 {
		return "", o, usageError("%q has no lines; want FILE:LINE or FILE:A-B, counted from 1", arg)
	}
	if c.IsSet("at") {
		if o.State = c.String("at"); o.State == "" {
			return "", o, usageError("--at is empty")
		}
	}
	name, err = pathOf(c, name, o.State != "")
	return name, o, err
}

// cutLines cuts the lines off the end of FILE:LINE or FILE:A-B. They are 0 if there are none, and
// negative if they are wrong.
func cutLines(arg string) (name string, first, last int) {
	i := strings.LastIndexByte(arg, ':')
	if i < 0 || i+1 == len(arg) || strings.Trim(arg[i+1:], "0123456789-") != "" {
		return arg, 0, 0
	}
	a, b, isRange := strings.Cut(arg[i+1:], "-")
	first, err := strconv.Atoi(a)
	last = first
	if isRange && err == nil {
		last, err = strconv.Atoi(b)
	}
	if err != nil || first < 1 || last < first {
		return arg[:i], -1, -1
	}
	return arg[:i], first, last
}

// pathOf returns a path that a user names as the library takes it: absolute or, if it is of a
// state or of a named folder, as it is.
func pathOf(c *cli.Context, name string, ofState bool) (string, error) {
	if filepath.IsAbs(name) || (ofState || c.IsSet("dir")) && filepath.IsLocal(name) {
		return filepath.ToSlash(filepath.Clean(name)), nil
	}
	return filepath.Abs(name)
}

// blame prints the lines of a file with what wrote them.
func (p *program) blame(b *origin.Blame) {
	const titleWidth = 16
	digits := 1
	if n := len(b.Lines); n > 0 {
		digits = len(strconv.Itoa(b.Lines[n-1].Number))
	}
	column := 0 // width of the former names of the file
	for _, l := range b.Lines {
		column = max(column, width(formerName(b, l)))
	}
	if column > 0 {
		column += len("  ")
	}
	for _, l := range b.Lines {
		id, title := writer(b, l)
		if !l.Sure {
			id += "?"
		}
		former := formerName(b, l)
		if former != "" {
			former = "  " + former
		}
		row := fmt.Sprintf("%s  %s  %s%s  %*d  ", p.paint.yellow(pad(id, len("12345678?"))), pad(cutTo(title, titleWidth), titleWidth), p.paint.dim(date(l.Time)), pad(former, column), digits, l.Number)
		used := len("12345678?") + titleWidth + len("2006-01-02") + column + digits + 4*len("  ")
		fmt.Fprintln(p.stdout, strings.TrimRight(row+p.paint.fit(codeLine(l.Text), p.paint.width-used), " "))
	}
	if b.From == origin.FromCalls {
		fmt.Fprintln(p.stderr, "There are no states of the file, so only what tools wrote is known. 'bough files snap' takes a state.")
	}
}

// formerName returns the name that the file had when a line was written, "" if it is the present one.
func formerName(b *origin.Blame, l origin.Line) string {
	if l.Path == b.Path || l.By == origin.ByUnknown || l.By == origin.ByOlder {
		return ""
	}
	return line(l.Path)
}

// codeLine returns a line of a file as one row: without the carriage return of a line break of DOS.
func codeLine(text string) string {
	text = clean(strings.TrimSuffix(text, "\r"))
	return strings.NewReplacer("\t", "    ", "\n", " ").Replace(text)
}

// writer returns the id and the title of what wrote a line.
func writer(b *origin.Blame, l origin.Line) (id, title string) {
	switch {
	case l.Turn != nil:
		return turnNames(b.Turns[*l.Turn])
	case l.By == origin.ByUnknown:
		return "-", ""
	}
	return l.By, ""
}

// turnNames returns the id and the title of a turn.
func turnNames(t origin.Turn) (id, title string) {
	if t.Session == "" {
		return "turn", "(not imported)"
	}
	return cutTo(shortMessage(string(t.Message)), 8), line(t.Title)
}

// cutTo cuts a text to a number of columns.
func cutTo(s string, columns int) string { return paint{width: columns}.fit(s, columns) }

// date formats the day of a time, blanks for nil.
func date(t *time.Time) string {
	if t == nil {
		return pad("", len(time.DateOnly))
	}
	return t.Local().Format(time.DateOnly)
}
