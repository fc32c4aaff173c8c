package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/bough-dev/bough/cmd/bough/internal/block"
	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/search"
	"github.com/urfave/cli/v2"
)

func (p *program) searchVerb() verb {
	return verb{
		name:  "search",
		args:  "[TEXT] [-e REGEXP] [-l] [-C N] [--in SESSION] [--since TIME] [--from TOOL] [FLAG ...]",
		short: "find messages in all conversations",
		long: `Finds the messages that contain all words of TEXT, in their text, thinking, tool calls with
arguments, and tool results. Words match inside longer words and ignore case. "A phrase" in double
quotes matches its words in sequence, and -word excludes messages with that word; quote such a TEXT
for the shell as one argument. After --, a hyphen is an ordinary character:
'bough search -- --no-telemetry' finds that word. Without TEXT, all messages that match the flags
are found.

Prints the conversations, last active first, with at most five messages of each: those of the user
first, then those of the assistant, then those of tools. Every verb accepts the printed REFs. A
message is printed once, in the conversation where it began; --json lists the copies of it. A TIME
is a date or an age: 2026-02-03, 2026-02, yesterday, 7d, '2 weeks ago'.`,
		example: `bough search lisbon hotel
bough search '"by the sea" -rain' --role user --since 30d
bough search -l hotel --since 2026-02
bough search -e 'hotels? (near|by)' -C 1
bough search --tool web_search --in "Plan the trip"
bough show 3d9c07ab@849dde0b`,
		flags: append([]cli.Flag{
			&cli.StringFlag{Name: "regexp", Aliases: []string{"e"}, Usage: "only messages that match `REGEXP`, a Go regular expression; begin it with (?i) to ignore case"},
			&cli.BoolFlag{Name: "list", Aliases: []string{"l"}, DisableDefaultText: true, Usage: "list only the conversations, with their number of matches"},
			&cli.IntFlag{Name: "context", Aliases: []string{"C"}, DefaultText: "0", Usage: "print `N` messages before and after each"},
			&cli.StringFlag{Name: "role", Usage: "only messages of this `ROLE`: user, assistant, system, tool"},
			&cli.StringFlag{Name: "tool", Usage: "only calls and results of the tool `NAME`, ignoring case"},
			&cli.StringFlag{Name: "since", Usage: "only messages of this `TIME` or later"},
			&cli.StringFlag{Name: "until", Usage: "only messages up to this `TIME`; a date includes the whole day"},
			&cli.StringFlag{Name: "in", Usage: "only the conversation of `SESSION`, with all its files and branches"},
			&cli.IntFlag{Name: "limit", Value: 50, Usage: "at most `N` messages, with -l conversations; 0 for all"},
			&cli.IntFlag{Name: "per-session", DefaultText: "5, with --in all", Usage: "at most `N` messages of each conversation, 0 for all"},
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
			if c.Bool("list") {
				p.foundSessions(f)
			} else {
				p.found(f, o.Limit)
			}
			return nil
		},
	}
}

// searchOptions parses the flags and arguments of search. The last literal arguments came
// after "--".
func searchOptions(c *cli.Context, literal int, now time.Time) (search.Options, error) {
	args := c.Args().Slice()
	plain := len(args) - min(literal, len(args))
	o := search.Options{
		Text:    strings.Join(args[:plain], " "),
		Words:   strings.Join(args[plain:], " "),
		Regexp:  c.String("regexp"),
		Role:    c.String("role"),
		Tool:    c.String("tool"),
		In:      c.String("in"),
		Limit:   c.Int("limit"),
		Context: c.Int("context"),
	}
	switch {
	case c.Bool("list"):
		o.PerSession = 1
	case c.IsSet("per-session"):
		o.PerSession = c.Int("per-session")
	case o.In == "":
		o.PerSession = 5
	}
	usage := func(format string, args ...any) error {
		e := usageError(format, args...)
		e.Hint = seeHelp("search")
		return e
	}
	for _, name := range []string{"regexp", "role", "tool", "since", "until", "in"} {
		if c.IsSet(name) && c.String(name) == "" {
			return o, usage("--%s is empty", name)
		}
	}
	if strings.TrimSpace(o.Text+o.Words+o.Regexp) == "" && o.Role == "" && o.Tool == "" && !c.IsSet("since") && !c.IsSet("until") {
		return o, usage("'bough search' needs TEXT or a flag that selects messages")
	}
	var err error
	if o.Where, err = whereOptions(c, "from"); err != nil {
		return o, err
	}
	for _, name := range []string{"limit", "per-session", "context"} {
		if c.Int(name) < 0 {
			return o, usage("--%s takes 0 or more", name)
		}
	}
	if c.Bool("list") && (c.IsSet("per-session") || c.IsSet("context")) {
		return o, usage("--list excludes --per-session and --context")
	}
	if o.Since, err = timeFlag(c, "since", now); err != nil {
		return o, err
	}
	o.Until, err = timeEndFlag(c, "until", now)
	return o, err
}

// found prints the matches of a search, by conversation.
func (p *program) found(f *search.Result, limit int) {
	if len(f.Matches) == 0 {
		fmt.Fprintln(p.stderr, "No matches.")
		return
	}
	at := 0
	for i, one := range f.Sessions {
		if i > 0 {
			fmt.Fprintln(p.stdout)
		}
		about := line(one.Piece) + " · " + p.time(one.LastActive)
		title := p.paint.fit(line(one.Title), p.paint.width-width(about)-2)
		fmt.Fprintln(p.stdout, p.paint.bold(title)+"  "+p.paint.dim(about))
		shown := 0
		for ; at < len(f.Matches) && f.Matches[at].Session == one.Session; at++ {
			p.match(f.Matches[at])
			shown++
		}
		if more := one.Total - shown; more > 0 {
			text := count(more, "more message")
			if one.AtLeast {
				text = "at least " + text
			}
			fmt.Fprintln(p.stdout, p.paint.dim(fmt.Sprintf("  … %s; --in %s lists all", text, line(one.Piece))))
		}
	}
	if f.More && len(f.Matches) == limit {
		p.notShown(fmt.Sprintf("%d of %s shown", len(f.Matches), count(f.Total, "message")), f.NotSearched)
	}
}

// match prints a match with its context.
func (p *program) match(m search.Match) {
	p.context(m.Before)
	head := p.paint.yellow(line(m.Ref)) + "  " + p.paint.role(line(m.Role))
	if len(m.Tools) > 0 {
		head += " " + line(strings.Join(m.Tools, ", "))
	}
	after := p.time(m.CreatedAt)
	if n := len(m.Also); n > 0 {
		after += fmt.Sprintf(", also in %d", n)
	}
	fmt.Fprintln(p.stdout, "  "+head+"  "+p.paint.dim(after))
	if m.Snippet != "" {
		fmt.Fprintln(p.stdout, "    "+p.snippet(m))
	}
	p.context(m.After)
}

// context prints the messages around a match, one per line.
func (p *program) context(list []search.Context) {
	for _, m := range list {
		head := line(m.Ref) + "  " + line(m.Role) + "  "
		fmt.Fprintln(p.stdout, strings.TrimRight("  "+p.paint.dim(head+block.Cut(line(m.Text), p.columns()-2-width(head))), " "))
	}
}

// foundSessions prints the conversations that have matches.
func (p *program) foundSessions(f *search.Result) {
	if len(f.Sessions) == 0 {
		fmt.Fprintln(p.stderr, "No matches.")
		return
	}
	rows := [][3]string{{"SESSION", "MATCHES", "ACTIVE"}}
	widths, total := [3]int{}, 0
	for _, one := range f.Sessions {
		matches := fmt.Sprint(one.Total)
		if one.AtLeast {
			matches += "+"
		}
		rows = append(rows, [3]string{line(one.Piece), matches, p.time(one.LastActive)})
		total += one.Total
	}
	for _, row := range rows {
		for i, cell := range row {
			widths[i] = max(widths[i], width(cell))
		}
	}
	for i, row := range rows {
		text := fmt.Sprintf("%s  %*s  %s  ", pad(row[0], widths[0]), widths[1], row[1], pad(row[2], widths[2]))
		if i == 0 {
			fmt.Fprintln(p.stdout, p.paint.dim(text+"TITLE"))
			continue
		}
		fmt.Fprintln(p.stdout, text+p.paint.bold(p.paint.fit(line(f.Sessions[i-1].Title), p.paint.width-width(text))))
	}
	if total < f.Total || f.NotSearched > 0 {
		p.notShown(count(len(f.Sessions), "conversation")+" shown", f.NotSearched)
	}
}

// notShown prints that the search stopped at the limit.
func (p *program) notShown(shown string, notSearched int) {
	if notSearched > 0 {
		shown += fmt.Sprintf("; %s not searched", count(notSearched, "older conversation"))
	}
	fmt.Fprintln(p.stderr, shown+"; --limit 0 searches all.")
}

// snippet formats the snippet of a match, with the matched words marked. On a narrow
// terminal it begins at the first of them.
func (p *program) snippet(m search.Match) string {
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
