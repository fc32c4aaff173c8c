package main

import (
	"fmt"

	"github.com/bough-dev/bough/internal/api"
	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/suggest"
	"github.com/urfave/cli/v2"
)

// suggestLimit is the default number of suggestions.
const suggestLimit = 10

func (p *program) suggestVerb() verb {
	return verb{
		name:  "suggest",
		args:  "[SESSION] [-n N]",
		short: "list branches that are worth comparing or merging",
		long: `Lists, the most valuable first, explorations without an adopted result, branches that were continued
far and never merged, and branches that end with a complete, unused answer, while the conversation
continued elsewhere. Each has its reasons and the commands for the next step.

A branch is not listed if it was merged or picked, if it has a bookmark, or if the head or the head
of an agent is in it. Tool calls and their results are not counted. With SESSION, lists only
branches of this conversation and of the conversations that it was branched from.`,
		example: `bough suggest
bough suggest "Plan the trip"`,
		flags: []cli.Flag{
			&cli.IntFlag{Name: "limit", Aliases: []string{"n"}, Value: suggestLimit, Usage: "list only the best `N`, 0 for all"},
		},
		max: 1,
		action: func(c *cli.Context, w *workspace.Workspace) error {
			o := suggest.Options{Session: c.Args().First(), Limit: c.Int("limit")}
			switch {
			case c.NArg() > 0 && o.Session == "":
				return usageError("SESSION is empty")
			case o.Limit < 0:
				return usageError("--limit takes 0 or a positive number")
			}
			l, err := w.Suggest(c.Context, o)
			if err != nil {
				return err
			}
			if p.json {
				return p.printJSON(l)
			}
			p.suggestions(l)
			return nil
		},
	}
}

func (p *program) suggestions(l *suggest.List) {
	for _, s := range l.Suggestions {
		head := p.paint.fit(line(s.Title), p.paint.width*2/5) // leaves room for the text
		if s.Text != "" {
			head += ": " + line(s.Text)
		}
		written := age(s.Time)
		fmt.Fprintln(p.stdout, p.paint.bold(p.paint.fit(head, p.paint.width-width(written)-2))+"  "+p.paint.dim(written))
		fmt.Fprintln(p.stdout, "  "+p.paint.fit(api.ReasonsText(s.Reasons), p.paint.width-2))
		for _, step := range nextSteps(s) {
			fmt.Fprintln(p.stdout, "  "+p.paint.yellow(step))
		}
	}
	if n := l.Total - len(l.Suggestions); n > 0 {
		fmt.Fprintf(p.stderr, "%s not listed; --limit 0 lists all.\n", count(n, "more suggestion"))
	}
	if l.Total == 0 {
		fmt.Fprintln(p.stderr, "Nothing to compare or merge.")
	}
}

// nextSteps returns the commands that do something about a suggestion.
func nextSteps(s suggest.Suggestion) []string {
	if s.Main == nil {
		return []string{"bough explore adopt " + clean(string(s.Exploration))}
	}
	ref := func(at suggest.Place) string { return place(tail(at.Session), shortMessage(string(at.Message))) }
	return []string{
		"bough compare " + ref(*s.Main) + " " + ref(s.Place),
		"bough merge " + ref(s.Place) + " --into " + ref(*s.Main),
	}
}
