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
		short: "put a label on a message, or take it away",
		long: `Marks the message that REF points to, or the one at the head, also in a checkpoint: the
conversation does not change, and the head stays where it is. A label is one line, on one
message only: --move takes it from the one that has it. Wherever a REF is asked for, the
label does, unless it is also an id or a title. --rm takes the bookmark away; the message
stays.`,
		example: `bough bookmark "Plan the trip@msg_2b0c3457" "before the budget" --summary "all wishes"
bough show "before the budget"
bough bookmark --rm "before the budget"`,
		flags: []cli.Flag{
			&cli.StringFlag{Name: "summary", Usage: "what there is to find, in `WORDS`"},
			&cli.StringFlag{Name: "scope", DefaultText: "message", Usage: "what it is about: the message, the branch (path) to it, or its subtree"},
			&cli.BoolFlag{Name: "move", DisableDefaultText: true, Usage: "take the label from the message that has it"},
			&cli.BoolFlag{Name: "rm", DisableDefaultText: true, Usage: "take the bookmark LABEL away"},
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
	return p.bookmarked(b, "Removed the bookmark")
}

func bookmarkUsage(format string, args ...any) error {
	e := usageError(format, args...)
	e.Hint = seeHelp("bookmark")
	return e
}

// bookmarked tells what was done with a bookmark.
func (p *program) bookmarked(b *workspace.Bookmark, did string) error {
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
		long: `Lists each label, the oldest first, with a piece of the session's id and of the message's,
when it was put there, and its summary: all, or those in the conversation that SESSION is
part of. What is marked in a removed session is left out until that is back.`,
		example: `bough bookmarks
bough bookmarks "Plan the trip"`,
		max: 1,
		action: func(c *cli.Context, w *workspace.Workspace) error {
			if c.NArg() > 0 && c.Args().First() == "" {
				return usageError("no session is named")
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
func (p *program) bookmarks(list []workspace.Bookmark) {
	if len(list) == 0 {
		fmt.Fprintln(p.stderr, "No bookmarks. 'bough bookmark REF LABEL' puts one on a message.")
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

// labelled is bookmarks as they stand beside a message, "" for none. Of those on
// another message it says where they are.
func (p *program) labelled(list []workspace.Bookmark, message string) string {
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
