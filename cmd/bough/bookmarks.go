package main

import (
	"fmt"
	"strings"

	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/bookmark"
	"github.com/urfave/cli/v2"
)

func (p *program) bookmarkVerb() verb {
	return verb{
		name:  "bookmark",
		args:  "[REF] LABEL [--summary S] [--scope S] [--move] or --rm LABEL",
		short: "add a label to a message, or remove one",
		long: `Adds the label LABEL to the message at REF or, without REF, at the head. Neither the conversation
nor the head changes, so messages of a checkpoint can be bookmarked too. A label is one line and
marks one message; --move moves it to another. A label can be used wherever a verb takes a REF,
unless it is also an id or a title. --rm removes the bookmark and keeps the message.`,
		example: `bough bookmark "Plan the trip@msg_2b0c3457" "before the budget" --summary "all wishes"
bough show "before the budget"
bough bookmark --rm "before the budget"`,
		flags: []cli.Flag{
			&cli.StringFlag{Name: "summary", Usage: "describe the bookmark with `WORDS`"},
			&cli.StringFlag{Name: "scope", DefaultText: "message", Usage: "the `SCOPE` of the bookmark: message, branch (the path to the message) or subtree"},
			&cli.BoolFlag{Name: "move", DisableDefaultText: true, Usage: "move the label if another message has it"},
			&cli.BoolFlag{Name: "rm", DisableDefaultText: true, Usage: "remove the bookmark LABEL"},
		},
		min:     1,
		max:     2,
		changes: true,
		action: func(c *cli.Context, w *workspace.Workspace) error {
			if c.Bool("rm") {
				return p.removeBookmark(c, w)
			}
			ref, label := "HEAD", c.Args().First()
			if c.NArg() == 2 {
				ref, label = c.Args().Get(0), c.Args().Get(1)
			}
			o := workspace.BookmarkOptions{Summary: c.String("summary"), Scope: bookmark.Scope(c.String("scope")), Move: c.Bool("move")}
			b, err := w.Bookmark(c.Context, ref, label, o)
			if err != nil {
				return err
			}
			return p.bookmarked(b, "Bookmarked")
		},
	}
}

func (p *program) removeBookmark(c *cli.Context, w *workspace.Workspace) error {
	for _, name := range []string{"summary", "scope", "move"} {
		if c.IsSet(name) {
			return bookmarkUsage("--rm takes no --%s", name)
		}
	}
	if c.NArg() > 1 {
		return bookmarkUsage("'bough bookmark --rm' takes LABEL; got 2 arguments")
	}
	b, err := w.RemoveBookmark(c.Context, c.Args().First())
	if err != nil {
		return err
	}
	return p.bookmarked(b, "Removed bookmark")
}

func bookmarkUsage(format string, args ...any) error {
	e := usageError(format, args...)
	e.Hint = seeHelp("bookmark")
	return e
}

// bookmarked prints the result of a change to a bookmark.
func (p *program) bookmarked(b *bookmark.Bookmark, did string) error {
	if p.json {
		return p.printJSON(b)
	}
	fmt.Fprintf(p.stderr, "%s %q\n", did, clean(b.Label))
	fmt.Fprintln(p.stdout, place(b.Session, b.Message))
	return nil
}

func (p *program) bookmarksVerb() verb {
	return verb{
		name:  "bookmarks",
		args:  "[SESSION]",
		short: "list the bookmarks",
		long: `Lists all bookmarks or, with SESSION, those in its conversation, oldest first: the label, a short
id of the session and of the message, the time of the bookmark, and its summary. Bookmarks in a
removed session are omitted until the session is restored.`,
		example: `bough bookmarks
bough bookmarks "Plan the trip"`,
		max: 1,
		action: func(c *cli.Context, w *workspace.Workspace) error {
			if c.NArg() > 0 && c.Args().First() == "" {
				return usageError("SESSION is empty")
			}
			list, err := w.Bookmarks(c.Context, workspace.BookmarksOptions{In: c.Args().First()})
			if err != nil {
				return err
			}
			if p.json {
				return p.printJSON(list)
			}
			p.bookmarks(list.Bookmarks)
			return nil
		},
	}
}

// widestLabel is how many columns of a label are shown beside others on a terminal.
const widestLabel = 28

// bookmarks prints bookmarks, one on a line.
func (p *program) bookmarks(list []bookmark.Bookmark) {
	if len(list) == 0 {
		fmt.Fprintln(p.stderr, "No bookmarks. 'bough bookmark REF LABEL' adds one.")
		return
	}
	rows := [][4]string{{"LABEL", "MESSAGE", "MADE", "SUMMARY"}}
	for _, b := range list {
		summary := line(b.Summary)
		if b.Scope != bookmark.Message && b.Scope != "" {
			summary = strings.TrimSpace("(" + line(string(b.Scope)) + ") " + summary)
		}
		place := line(tail(b.Session)) + "@" + line(shortMessage(b.Message))
		rows = append(rows, [4]string{p.paint.fit(line(b.Label), widestLabel), place, ageOf(b.CreatedAt), summary})
	}
	widths := [3]int{}
	for _, row := range rows {
		for i := range widths {
			widths[i] = max(widths[i], width(row[i]))
		}
	}
	for i, row := range rows {
		label, place := pad(row[0], widths[0]), pad(row[1], widths[1])
		rest := p.paint.fit(strings.TrimRight(pad(row[2], widths[2])+"  "+row[3], " "), p.paint.width-width(label)-width(place)-4)
		if i == 0 {
			fmt.Fprintln(p.stdout, p.paint.dim(label+"  "+place+"  "+rest))
			continue
		}
		fmt.Fprintln(p.stdout, p.paint.bold(label)+"  "+p.paint.yellow(place)+"  "+rest)
	}
}

// labelled formats bookmarks for the line of a message, "" for none. A bookmark on another
// message is printed with the id of that message.
func (p *program) labelled(list []bookmark.Bookmark, message string) string {
	var labels []string
	for _, b := range list {
		label := p.paint.fit(line(b.Label), widestLabel)
		if b.Message != message {
			label += " at " + line(shortMessage(b.Message))
		}
		labels = append(labels, label)
	}
	if len(labels) == 0 {
		return ""
	}
	return "[" + strings.Join(labels, ", ") + "]"
}
