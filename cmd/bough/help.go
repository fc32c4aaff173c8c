package main

import (
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/urfave/cli/v2"
)

func (p *program) helpVerb() verb {
	return verb{
		name:  "help",
		args:  "[VERB [VERB]] [--web [--print]]",
		short: "show the help of bough or of a verb",
		long: `With --web, the manual is opened in a browser: the help of all verbs and all documents, with a search.
They are part of bough, which serves them on this machine until it is interrupted. The address is
printed too; $BROWSER names another browser.`,
		example: `bough help branch
bough help --web
bough help agent chat --web`,
		flags: []cli.Flag{
			&cli.BoolFlag{Name: "web", DisableDefaultText: true, Usage: "open the manual in a browser"},
			&cli.BoolFlag{Name: "print", DisableDefaultText: true, Usage: "with --web, print the address and open no browser"},
		},
		max: 2,
		standalone: func(c *cli.Context) error {
			switch {
			case c.Bool("web"):
				return p.helpWeb(c)
			case c.Bool("print"):
				return usageError("--print goes with --web")
			}
			return p.help(c.Args().Slice()...)
		},
	}
}

// help prints the help of a verb or, without words, of bough.
func (p *program) help(words ...string) error {
	var text strings.Builder
	if len(words) == 0 {
		p.helpBough(&text)
		return p.printText("help", narrowed(text.String(), p.paint.width))
	}
	v, err := p.findVerb(words)
	if err != nil {
		return err
	}
	v.help(&text, p.paint.width)
	return p.printText("help", text.String())
}

// findVerb returns the verb that words name. For no words it returns one without a name.
func (p *program) findVerb(words []string) (v verb, err error) {
	verbs := p.verbs()
	for i, word := range words {
		var ok bool
		if v, ok = find(verbs, word); !ok {
			return verb{}, unknownCommand(strings.Join(words[:i], " "), word, verbs)
		}
		verbs = v.subs
	}
	return v, nil
}

// helpWords returns the words of a command line that name the verb to print the help of.
func (p *program) helpWords(args []string) []string {
	at := firstWord(args)
	if at < 0 {
		return nil
	}
	words := args[at : at+1]
	if v, ok := p.verb(words[0]); ok && len(v.subs) > 0 {
		sub := verbOf(args[at+1:])
		if _, ok := find(v.subs, sub); ok || sub != "" && v.action == nil {
			words = []string{words[0], sub}
		}
	}
	return words
}

func (p *program) helpBough(text *strings.Builder) {
	text.WriteString(helpBegin)
	helpVerbs(text, p.verbs())
	text.WriteString(helpEnd)
}

func helpVerbs(text *strings.Builder, verbs []verb) {
	for _, v := range verbs {
		fmt.Fprintf(text, "  %-24s%s\n", strings.Join(v.names(), ", "), v.short)
	}
}

const helpUsage = "[-w WORKSPACE] [--json] VERB [ARGUMENTS]"

const helpBegin = `bough checkpoints, branches and restores AI conversations kept as plain JSON files.

Usage: bough ` + helpUsage + `

Verbs:
`

const helpEnd = `
Flags, anywhere on the line:
` + helpFlags + `
` + helpNames + `
Getting started:
` + helpFirst + `
Exit codes: ` + helpExit

// The parts of the help, which are sections of the man page.
const (
	helpFlags = `  -w FOLDER                 the workspace; by default $BOUGH_WORKSPACE, else the
                            nearest workspace at or above the current folder,
                            if it belongs to you, else your data folder
  --json                    print one JSON document, including errors
  --no-pager                do not use a pager
  --wait TIME               how long to wait for another process that writes (30s)
  --help                    show the help of bough or of the verb
  --version                 print the version
`

	helpNames = `A SESSION is an id, a title, or at least 4 characters from the beginning of an id or of its printed
short form. A REF is a SESSION, SESSION@MESSAGE (also @first, @last) for the path to that message,
the id of a message, or the label of a bookmark. HEAD or @ is the head, the message to which
'bough append' adds the next one; - is the previous head. REF~3 is three messages before REF, REF^
one. TREE/MESSAGE is a message of an agent's tree, MACHINE/HEAD the head of another machine of a
remote. '-' instead of a text or a file means standard input.
`

	helpFirst = `  bough demo                show the main verbs on a built-in conversation
  bough help VERB           show the help of a verb, with an example
  bough help --web          open the manual in a browser
`

	helpExit = `0 done, 1 failed, 2 usage, 3 not found, 4 refused, 5 damaged, 6 locked or
busy: another program is writing.
`
)

// help writes the help of the verb for a terminal with so many columns, 0 for no terminal.
func (v verb) help(text *strings.Builder, columns int) {
	var about strings.Builder
	fmt.Fprintf(&about, "%s\n\nUsage: %s\n", v.short, strings.TrimSpace("bough "+v.full()+" "+v.args))
	if v.long != "" {
		fmt.Fprintf(&about, "\n%s\n", v.long)
	}
	if len(v.subs) > 0 {
		about.WriteString("\nVerbs:\n")
		helpVerbs(&about, v.subs)
		fmt.Fprintf(&about, "\n'bough help %s VERB' shows the help of each.\n", v.full())
	}
	text.WriteString(narrowed(about.String(), columns))
	fmt.Fprintf(text, "\nExample:\n  %s\n", strings.ReplaceAll(v.example, "\n", "\n  "))
	visible := slices.DeleteFunc(slices.Clone(v.flags), isHidden)
	if len(visible) == 0 {
		return
	}
	fmt.Fprint(text, "\nFlags:\n")
	var flags strings.Builder
	table := tabwriter.NewWriter(&flags, 1, 8, 2, ' ', 0)
	for _, f := range visible {
		fmt.Fprintf(table, "  %s\n", f)
	}
	table.Flush()
	text.WriteString(narrowed(flags.String(), columns))
}

// narrowed returns a text with no line of more than so many columns: paragraphs with longer lines are filled
// again, and a longer line of a table continues below its last column. 0 leaves the text as it is.
func narrowed(text string, columns int) string {
	if columns <= 0 {
		return text
	}
	var out []string
	lines := strings.Split(text, "\n")
	for len(lines) > 0 {
		n := 1 // lines of a paragraph
		if !isFilled(lines[0]) {
			out = append(out, broken(lines[0], hanging(lines[0], columns), columns)...)
			lines = lines[1:]
			continue
		}
		for n < len(lines) && isFilled(lines[n]) {
			n++
		}
		if slices.ContainsFunc(lines[:n], func(s string) bool { return width(s) > columns }) {
			out = append(out, broken(strings.Join(lines[:n], " "), 0, columns)...)
		} else {
			out = append(out, lines[:n]...)
		}
		lines = lines[n:]
	}
	return strings.Join(out, "\n")
}

// isFilled reports whether a line belongs to a paragraph that can be filled again.
func isFilled(line string) bool {
	return line != "" && line[0] != ' ' && !strings.HasPrefix(line, "Usage: ") && !strings.HasSuffix(line, ":")
}

// hanging returns the column at which a line that is too long continues: that of the last column of a table.
func hanging(line string, columns int) int {
	if strings.HasPrefix(line, "Usage: ") {
		return len("Usage: ")
	}
	indent := len(line) - len(strings.TrimLeft(line, " "))
	at := strings.LastIndex(line[indent:], "  ")
	if at < 0 {
		return indent + 2
	}
	if at += indent + 2; at > columns/2 {
		return 6
	}
	return at
}

// broken breaks a line between words so that each has at most so many columns, if its words have. All but the
// first begin with an indent.
func broken(line string, indent, columns int) (lines []string) {
	for width(line) > columns {
		end := 0
		for i, c := range line {
			if c == ' ' && strings.TrimSpace(line[:i]) != "" && (end == 0 || width(line[:i]) <= columns) {
				end = i
			}
		}
		if end == 0 {
			break
		}
		lines = append(lines, strings.TrimRight(line[:end], " "))
		line = strings.Repeat(" ", indent) + strings.TrimLeft(line[end:], " ")
	}
	return append(lines, line)
}

// isHidden reports whether a flag is accepted but not shown.
func isHidden(f cli.Flag) bool {
	visible, ok := f.(cli.VisibleFlag)
	return ok && !visible.IsVisible()
}

// wrapped joins words with commas, in indented lines of at most width characters.
func wrapped(words []string, indent string, width int) string {
	var text strings.Builder
	at := 0 // the length of the last line
	for i, w := range words {
		if i < len(words)-1 {
			w += ","
		}
		switch {
		case at == 0:
			text.WriteString(indent + w)
			at = len(indent)
		case at+1+len(w) > width:
			text.WriteString("\n" + indent + w)
			at = len(indent)
		default:
			text.WriteString(" " + w)
			at++
		}
		at += len(w)
	}
	return text.String()
}
