package main

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/lines"
	"github.com/urfave/cli/v2"
)

func (p *program) lsVerb() verb {
	return verb{
		name:  "ls",
		args:  "[--title TEXT] [--since TIME] [--date TIME] [--kind KIND] [--tool TOOL] [--dir DIR] [--branch NAME] [--model NAME] [--sort KEY] [--limit N] [--all] [--remote [NAME]]",
		short: "list the sessions, last active first",
		long: `Lists every session with a unique short form of its id. A long conversation has several files: the
first and its continuations. '*' marks the head. A session without a title is listed with the first
words of its user. A TIME is a date or an age: 2026-02-03, 2026-02, yesterday, 7d, '2 weeks ago'.

The conversations of sub-agents are below the calls that began them, in 'bough tree' and 'bough
show'; they are listed here only with --all, or if the conversation that began them is missing.

--remote lists what the remote, or the remote NAME, has and this workspace does not, see 'bough help
remote'.`,
		example: `bough ls --since 7d
bough ls --date 2026-02 --title parser
bough ls --sort messages --limit 10
bough ls --kind checkpoint
bough ls --tool claude-code --dir .`,
		flags: append([]cli.Flag{
			&cli.StringFlag{Name: "title", Usage: "only sessions with `TEXT` in their title, ignoring case"},
			&cli.StringFlag{Name: "since", Usage: "only sessions active at this `TIME` or later"},
			&cli.StringFlag{Name: "date", Usage: "only sessions active in this `TIME`: a day, a week, a month or a year"},
			&cli.StringFlag{Name: "kind", Usage: "only sessions of this `KIND`: root, continuation, branch or checkpoint (including Penguin's)"},
			&cli.StringFlag{Name: "sort", DefaultText: "active", Usage: "sort by `KEY`: active, created, messages or title"},
			&cli.IntFlag{Name: "limit", DefaultText: "all", Usage: "list at most `N`"},
			&cli.BoolFlag{Name: "all", DisableDefaultText: true, Usage: "list the conversations of sub-agents too"},
			&cli.BoolFlag{Name: "remote", DisableDefaultText: true, Usage: "list the sessions of the remote that are not here"},
		}, whereFlags("tool")...),
		max: 1,
		action: func(c *cli.Context, w *workspace.Workspace) error {
			if c.Bool("remote") {
				return p.lsRemote(c, w)
			}
			if c.Args().Present() {
				return usageError("only --remote takes a name; got %q", c.Args().First())
			}
			o, err := listOptions(c, time.Now())
			if err != nil {
				return err
			}
			listing, err := w.Sessions(c.Context, o)
			if err != nil {
				return err
			}
			copies, err := w.ConflictCopies(c.Context)
			if err != nil {
				return err
			}
			if len(copies) > 0 {
				p.note(conflictNote(len(copies)))
			}
			if p.json {
				return p.printJSON(listing)
			}
			head, err := w.Head(c.Context)
			if err != nil {
				return err
			}
			if n := listing.SubAgents; n > 0 {
				defer fmt.Fprintf(p.stderr, "%s of sub-agents not listed; --all lists them.\n", count(n, "session"))
			}
			if len(listing.Sessions) == 0 && filtered(c) {
				fmt.Fprintln(p.stderr, "No session matches.")
				return nil
			}
			p.list(listing.Sessions, head)
			if n := len(listing.Sessions); 0 < n && n < listing.Total {
				fmt.Fprintf(p.stderr, "%d of %s listed; --limit 0 lists all.\n", n, count(listing.Total, "session"))
			}
			return nil
		},
	}
}

// filtered reports whether flags select some sessions.
func filtered(c *cli.Context) bool {
	return slices.ContainsFunc([]string{"title", "since", "date", "kind", "tool", "dir", "branch", "model"}, c.IsSet)
}

// listOptions parses the flags of ls.
func listOptions(c *cli.Context, now time.Time) (o workspace.ListOptions, err error) {
	usage := func(format string, args ...any) error {
		e := usageError(format, args...)
		e.Hint = seeHelp("ls")
		return e
	}
	if c.IsSet("title") && strings.TrimSpace(c.String("title")) == "" {
		return o, usage("--title is empty")
	}
	if c.Int("limit") < 0 {
		return o, usage("--limit takes 0 or more")
	}
	o = workspace.ListOptions{
		Kind:  session.Kind(c.String("kind")),
		Title: strings.TrimSpace(c.String("title")),
		Sort:  workspace.SortKey(c.String("sort")),
		Limit: c.Int("limit"),

		SubAgents: c.Bool("all"),
	}
	if o.Where, err = whereOptions(c, "tool"); err != nil {
		return o, err
	}
	if o.Since, err = timeFlag(c, "since", now); err != nil {
		return o, err
	}
	start, end, err := spanFlag(c, "date", now)
	if err != nil {
		return o, err
	}
	if start.Equal(end) && !start.IsZero() {
		return o, usage("--date takes a day, a week, a month or a year, not %q; --since does", c.String("date"))
	}
	if start.After(o.Since) {
		o.Since = start
	}
	o.Until = end
	return o, nil
}

// whereFlags are the flags that select conversations by tool, folder, git branch and model;
// tool is the name of the flag for the tool.
func whereFlags(tool string) []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: tool, Usage: "only conversations imported from this `TOOL`; 'bough help import' lists the tools"},
		&cli.StringFlag{Name: "dir", Usage: "only conversations about the folder `DIR` or a folder below it"},
		&cli.StringFlag{Name: "branch", Usage: "only conversations on the git branch `NAME`"},
		&cli.StringFlag{Name: "model", Usage: "only conversations with a model whose name contains `NAME`"},
	}
}

func whereOptions(c *cli.Context, tool string) (lines.Where, error) {
	w := lines.Where{Dir: c.String("dir"), Branch: c.String("branch"), Model: c.String("model")}
	for _, name := range []string{tool, "dir", "branch", "model"} {
		if c.IsSet(name) && c.String(name) == "" {
			return w, usageError("--%s is empty", name)
		}
	}
	if name := c.String(tool); name != "" {
		list, err := formatsNamed(tool, name)
		if err != nil {
			return w, err
		}
		for _, f := range list {
			w.Tools = append(w.Tools, f.Name)
		}
	}
	if w.Dir != "" {
		var err error
		if w.Dir, err = filepath.Abs(w.Dir); err != nil {
			return w, err
		}
	}
	return w, nil
}

func (p *program) list(entries []workspace.Entry, head *lines.Position) {
	if len(entries) == 0 {
		p.noSessions()
		return
	}
	short := shortIDs(entries)
	titles := make(map[string]string, len(entries)) // of conversations, by the session that begins them
	rows := make([][4]string, 1, 1+len(entries))
	rows[0] = [4]string{"SESSION", "KIND", "MESSAGES", "ACTIVE"}
	for _, e := range entries {
		if e.Kind != session.Continuation {
			titles[e.ID] = e.Title
		}
		rows = append(rows, [4]string{short(e.ID), line(string(e.Kind)), fmt.Sprint(e.MessageCount - e.HeaderCount), age(e.LastActive)})
	}
	widths := [4]int{}
	for _, row := range rows {
		for i, cell := range row {
			widths[i] = max(widths[i], len(cell))
		}
	}
	used := 2 + widths[0] + widths[1] + widths[2] + widths[3] + 4*2
	for i, row := range rows {
		mark, title := " ", "TITLE"
		if i > 0 {
			e := entries[i-1]
			title = line(e.Title)
			if e.Kind == session.Continuation {
				title = line(continued(e, titles))
			}
			if head != nil && head.Head.Session == e.ID {
				mark = "*"
			}
		}
		text := fmt.Sprintf("%s %s  %s  %*s  %s  ", mark, pad(row[0], widths[0]), pad(row[1], widths[1]), widths[2], row[2], pad(row[3], widths[3]))
		if i == 0 {
			fmt.Fprintln(p.stdout, p.paint.dim(text+title))
			continue
		}
		fmt.Fprintln(p.stdout, text+p.paint.bold(p.paint.fit(title, p.paint.width-used)))
	}
}

// noSessions prints why the list is empty.
func (p *program) noSessions() {
	if len(p.noted) > 0 {
		fmt.Fprintln(p.stderr, "No session can be read. 'bough doctor' lists the problems.")
	} else {
		fmt.Fprintln(p.stderr, "No sessions. 'bough new' creates one.")
	}
}

// continued returns the title of a continuation, made from that of its conversation.
func continued(e workspace.Entry, titles map[string]string) string {
	for _, id := range slices.Backward(e.Lineage) {
		if title, ok := titles[id]; ok {
			return title + " (continued)"
		}
	}
	return e.Title
}

// shortIDs returns a function that shortens an id to its last eight characters if these are
// unique among entries.
func shortIDs(entries []workspace.Entry) func(string) string {
	seen := make(map[string]int, len(entries))
	for _, e := range entries {
		seen[tail(e.ID)]++
	}
	return func(id string) string {
		if seen[tail(id)] > 1 {
			return clean(id)
		}
		return tail(id)
	}
}
