package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/bough-dev/bough/workspace"
	"github.com/urfave/cli/v2"
)

func (p *program) searchVerb() verb {
	return verb{
		name:  "search",
		args:  "[TEXT] [--role ROLE] [--tool NAME] [--since TIME] [--until TIME] [--in SESSION] [--limit N]",
		short: "find messages in all conversations",
		long: `Finds the messages that say all words of TEXT: what was said and thought, calls of tools with
their arguments, and what tools answered. A word is found inside a longer one too, in upper or
lower case. "Words in double quotes" follow each other; -word is not in the message: give TEXT as
one argument then, in quotes of the shell. After -- no hyphen has a meaning: 'bough search --
--no-telemetry' finds that word. Without TEXT all messages that fit the flags are found.

Prints, the last active conversation first, a REF for 'bough show' and the words around the place.
What checkpoints and branches repeat is found once, where it was said, and --json names them. A TIME is a date, a
time or an age: 2026-02-03, 2026-02, yesterday, 7d, '2 weeks ago'.`,
		example: `bough search lisbon hotel
bough search '"by the sea" -rain' --role user --since 30d
bough search --tool web_search --in "Plan the trip"
bough show 3d9c07ab@849dde0b`,
		flags: append([]cli.Flag{
			&cli.StringFlag{Name: "role", Usage: "only messages of this `ROLE`: user, assistant, system, tool"},
			&cli.StringFlag{Name: "tool", Usage: "only calls of the tool `NAME`, and what it answered"},
			&cli.StringFlag{Name: "since", Usage: "only messages of this `TIME` or later"},
			&cli.StringFlag{Name: "until", Usage: "only messages before this `TIME`; a date is taken to its end"},
			&cli.StringFlag{Name: "in", Usage: "only the conversation that `SESSION` is part of, with all that it holds"},
			&cli.IntFlag{Name: "limit", Value: 50, Usage: "at most `N` messages, 0 for all"},
		}, whereFlags("from")...),
		max: 100,
		action: func(c *cli.Context, w *workspace.Workspace) error {
			o, err := searchOptions(c, p.literal, time.Now())
			if err != nil {
				return err
			}
			f, err := w.Search(c.Context, o)
			if err != nil {
				return err
			}
			if p.json {
				return p.printJSON(f)
			}
			p.found(f, o.Limit)
			return nil
		},
	}
}

// searchOptions returns what is looked for; the last literal arguments came after "--".
func searchOptions(c *cli.Context, literal int, now time.Time) (workspace.SearchOptions, error) {
	args := c.Args().Slice()
	plain := len(args) - min(literal, len(args))
	o := workspace.SearchOptions{
		Text:  strings.Join(args[:plain], " "),
		Words: strings.Join(args[plain:], " "),
		Role:  c.String("role"),
		Tool:  c.String("tool"),
		In:    c.String("in"),
		Limit: c.Int("limit"),
	}
	usage := func(format string, args ...any) error {
		e := usageError(format, args...)
		e.Hint = seeHelp("search")
		return e
	}
	for _, name := range []string{"role", "tool", "since", "until", "in"} {
		if c.IsSet(name) && c.String(name) == "" {
			return o, usage("--%s is empty", name)
		}
	}
	if strings.TrimSpace(o.Text+o.Words) == "" && o.Role == "" && o.Tool == "" && !c.IsSet("since") && !c.IsSet("until") {
		return o, usage("there is nothing to look for")
	}
	var err error
	if o.Where, err = whereOptions(c, "from"); err != nil {
		return o, err
	}
	if o.Limit < 0 {
		return o, usage("--limit takes a number that is not negative")
	}
	if o.Since, err = timeFlag(c, "since", now); err != nil {
		return o, err
	}
	o.Until, err = timeEndFlag(c, "until", now)
	return o, err
}

// found prints messages that were looked for, by conversation.
func (p *program) found(f *workspace.Found, limit int) {
	if len(f.Matches) == 0 {
		fmt.Fprintln(p.stderr, "Nothing was found.")
		return
	}
	ids := map[string][]string{} // of messages, by conversation
	for _, m := range f.Matches {
		ids[m.Session] = append(ids[m.Session], m.ID)
	}
	var short func(string) string
	last := ""
	for i, m := range f.Matches {
		if m.Session != last {
			if i > 0 {
				fmt.Fprintln(p.stdout)
			}
			fmt.Fprintln(p.stdout, p.paint.bold(p.paint.fit(line(m.Title), p.paint.width)))
			last, short = m.Session, shortMessages(ids[m.Session])
		}
		head := p.paint.yellow(line(m.Piece)+"@"+short(m.ID)) + "  " + p.paint.role(line(m.Role))
		if len(m.Tools) > 0 {
			head += " " + line(strings.Join(m.Tools, ", "))
		}
		after := age(m.CreatedAt)
		if n := len(m.Also); n > 0 {
			after += fmt.Sprintf(", also in %d", n)
		}
		fmt.Fprintln(p.stdout, "  "+head+"  "+p.paint.dim(after))
		if m.Snippet != "" {
			fmt.Fprintln(p.stdout, "    "+p.snippet(m))
		}
	}
	if f.More {
		fmt.Fprintf(p.stderr, "There are more than %s; '--limit 0' prints all.\n", count(limit, "message"))
	}
}

// snippet returns the snippet of a match as it is printed, the places marked. On a
// narrow terminal it is cut to the first of them.
func (p *program) snippet(m workspace.Match) string {
	const least = 30
	room := max(p.paint.width-4, least)
	runes, cut := []rune(clean(m.Snippet)), 0
	if p.paint.width > 0 && len(m.Spans) > 0 && width(string(runes[:m.Spans[0][1]])) > room {
		cut = max(0, m.Spans[0][0]-room/3)
	}
	if cut > 0 {
		runes = append([]rune{'…'}, runes[cut:]...)
		cut--
	}
	text := string(runes)
	fits := p.paint.fit(text, room)
	if fits != text {
		runes = []rune(fits)
		runes = runes[:len(runes)-1]
	}
	var b strings.Builder
	at := 0
	for _, s := range m.Spans {
		from, to := min(s[0]-cut, len(runes)), min(s[1]-cut, len(runes))
		b.WriteString(string(runes[at:from]) + p.paint.found(string(runes[from:to])))
		at = to
	}
	b.WriteString(string(runes[at:]))
	if fits != text {
		b.WriteString("…")
	}
	return b.String()
}
