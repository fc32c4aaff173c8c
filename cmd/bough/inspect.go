package main

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace/inspect"
	"github.com/urfave/cli/v2"
)

func (p *program) inspectVerb() verb {
	return verb{
		name:  "inspect",
		args:  "FILE…",
		short: "describe a file and find damage in it",
		long: `Prints the type of each FILE: a session or another file of a workspace, a transcript of another
assistant, or other JSON, also compressed or in an archive; - is standard input. For each damaged
file it prints the problem and its byte offset; for each conversation the number of messages, their
times and the ends of its branches. It needs no workspace and changes nothing.

The exit code is 5 if a file is damaged.`,
		example: `bough inspect ~/Downloads/conversations.json
bough inspect conversations/*.json --json`,
		min: 1,
		max: 1 << 20,
		standalone: func(c *cli.Context) error {
			files := []inspect.Result{}
			for _, path := range c.Args().Slice() {
				list, err := inspect.File(c.Context, path, p.stdin)
				if err != nil {
					return err
				}
				files = append(files, list...)
			}
			if p.json {
				if err := p.printJSON(map[string]any{"files": files}); err != nil {
					return err
				}
			} else {
				for _, f := range files {
					p.inspection(f)
				}
			}
			if slices.ContainsFunc(files, func(f inspect.Result) bool { return !f.Whole }) {
				return damageFound{}
			}
			return nil
		},
	}
}

// inspection prints the description of one file.
func (p *program) inspection(f inspect.Result) {
	kind := map[inspect.Kind]string{
		inspect.SessionFile: "session file", inspect.TranscriptFile: f.Format + " transcript",
		inspect.CheckpointFile: "checkpoint of Penguin", inspect.IndexFile: "session index", inspect.RecipeFile: "packed checkpoint",
		inspect.BookmarksFile: "bookmarks", inspect.HeadFile: "head", inspect.AgentFile: "agent",
		inspect.ExplorationFile: "exploration", inspect.LogFile: "log of operations",
		inspect.LinesFile: "JSON lines", inspect.JSONFile: "JSON", inspect.UnknownFile: "not JSON",
	}[f.Kind]
	about := []string{kind, size(f.Bytes)}
	switch {
	case f.Kind == inspect.LinesFile || f.Kind == inspect.LogFile:
		about = append(about, count(f.Entries, "line"))
	case f.Entries > 0:
		entries := fmt.Sprintf("%d entries", f.Entries)
		if f.Entries == 1 {
			entries = "1 entry"
		}
		about = append(about, entries)
	}
	state := p.paint.green("whole")
	if !f.Whole {
		state = p.paint.yellow("damaged")
	}
	fmt.Fprintf(p.stdout, "%s: %s, %s\n", clean(f.Path), strings.Join(about, ", "), state)
	for _, problem := range f.Problems {
		at := fmt.Sprintf("byte %d", problem.Offset)
		if problem.Line > 0 {
			at = fmt.Sprintf("line %d, %s", problem.Line, at)
		}
		if problem.Note {
			at = "note: " + at
		}
		fmt.Fprintf(p.stdout, "  %s: %s\n", at, line(problem.Detail))
	}
	for _, c := range f.Conversations {
		p.inspectedConversation(c)
	}
}

func (p *program) inspectedConversation(c inspect.Conversation) {
	fmt.Fprintln(p.stdout, "  "+p.paint.bold(p.paint.fit(line(cmp.Or(c.Title, string(c.ID), "untitled")), p.paint.width-2)))
	row := func(name, text string) {
		if text != "" {
			fmt.Fprintln(p.stdout, p.paint.fit(fmt.Sprintf("    %-9s %s", name, line(text)), p.paint.width))
		}
	}
	row("id", string(c.ID))
	row("kind", c.Kind)
	messages := count(c.Messages, "message")
	var roles []string
	for _, role := range slices.Sorted(maps.Keys(c.Roles)) {
		roles = append(roles, fmt.Sprintf("%d %s", c.Roles[role], role))
	}
	if len(roles) > 0 {
		messages += " (" + strings.Join(roles, ", ") + ")"
	}
	if c.Orphans > 0 {
		messages += ", " + count(c.Orphans, "orphan")
	}
	row("messages", messages)
	switch {
	case c.Begins.IsZero():
	case c.LastTime.IsZero():
		row("time", session.Bough.Time(c.Begins))
	default:
		row("time", session.Bough.Time(c.Begins)+" to "+session.Bough.Time(c.LastTime))
	}
	if c.First != nil {
		row("begins", c.First.Role+": "+c.First.Text)
	}
	const most = 10
	for i, end := range c.Ends {
		if i == most {
			row("", "and "+count(len(c.Ends)-most, "more end"))
			break
		}
		row("ends", fmt.Sprintf("%s at %s, message %d: %s", end.Role, end.ID, end.Depth, end.Text))
	}
}
