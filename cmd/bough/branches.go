package main

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace"
	"github.com/clipperhouse/displaywidth"
	"github.com/urfave/cli/v2"
)

func (p *program) branchesVerb() verb {
	return verb{
		name:  "branches",
		args:  "[SESSION] [--partial]",
		short: "list the branches inside a conversation",
		long: `Prints the last message of each branch, oldest first, over all files of the conversation: its
short id, the number of messages on the path to it, its time, and its first words. '*' marks the
head, 'newest' the default parent of the next message if the head is elsewhere, [LABEL] a
bookmark, and 'joins' the number of messages on the path whose parent is missing.
'bough show SESSION@MESSAGE' prints the path to a message.`,
		example: `bough branches "Plan the trip"
bough show "Plan the trip@4f2a90aa"`,
		flags:   []cli.Flag{partialFlag()},
		choices: []choice{chooseSession},
		max:     1,
		action: func(c *cli.Context, w *workspace.Workspace) error {
			o := workspace.BranchesOptions{Messages: true, ReadOptions: readOptions(c)}
			branches, err := w.Branches(c.Context, refOrHead(c), o)
			if err != nil {
				return err
			}
			if p.json {
				return p.printJSON(branches)
			}
			p.branches(branches)
			return nil
		},
	}
}

func (p *program) branches(b *workspace.Branches) {
	if len(b.Leaves) == 0 {
		p.noMessages()
		return
	}
	var ids []string
	for _, leaf := range b.Leaves {
		ids = append(ids, leaf.ID)
	}
	short := shortMessages(ids)
	rows := [][4]string{{"MESSAGE", "DEPTH", "WRITTEN", "TEXT"}}
	for _, leaf := range b.Leaves {
		written := age(leaf.CreatedAt)
		if leaf.Newest {
			written += " · newest"
		}
		if leaf.Joins > 0 {
			written += " · " + count(leaf.Joins, "join")
		}
		rows = append(rows, [4]string{short(leaf.ID), fmt.Sprint(leaf.Depth), written,
			strings.TrimSpace(p.labelled(leaf.Bookmarks, leaf.ID) + " " + firstWords(leaf.Message))})
	}
	widths := [3]int{}
	for _, row := range rows {
		for i := range widths {
			widths[i] = max(widths[i], width(row[i]))
		}
	}
	left := p.paint.width - 2 - widths[0] - 2 - widths[1] - 2
	if left < widths[2]+16 && p.paint.width > 0 {
		widths[2] = 0 // no column, to leave room for words
	}
	for i, row := range rows {
		mark, id, depth := " ", pad(row[0], widths[0]), fmt.Sprintf("%*s", widths[1], row[1])
		rest := p.paint.fit(pad(row[2], widths[2])+"  "+row[3], left)
		if i == 0 {
			fmt.Fprintln(p.stdout, p.paint.dim("  "+id+"  "+depth+"  "+rest))
			continue
		}
		if b.Leaves[i-1].Head {
			mark = p.paint.green("*")
		}
		fmt.Fprintln(p.stdout, strings.TrimRight(mark+" "+p.paint.yellow(id)+"  "+depth+"  "+rest, " "))
	}
	if b.Head != "" && !slices.ContainsFunc(b.Leaves, func(leaf workspace.Leaf) bool { return leaf.Head }) {
		fmt.Fprintf(p.stderr, "The head is at %s: the next message begins another branch there.\n", shortMessage(string(b.Head)))
	}
}

// noMessages prints that a conversation is empty.
func (p *program) noMessages() {
	fmt.Fprintln(p.stderr, "No messages yet. 'bough append' adds one.")
}

// shortMessages returns a function that shortens the id of a message if the short form is
// unique among ids.
func shortMessages(ids []string) func(string) string {
	seen := make(map[string]int, len(ids))
	for _, id := range ids {
		seen[shortMessage(id)]++
	}
	return func(id string) string {
		if short := shortMessage(id); seen[short] == 1 {
			return line(short)
		}
		return line(id)
	}
}

// firstWords returns the first words of a message, on one line.
func firstWords(m session.Message) string {
	const columns, bytes = 100, 1000
	text := m.Text()
	if len(text) > bytes {
		end := bytes
		for !utf8.RuneStart(text[end]) {
			end--
		}
		text = text[:end] + "…"
	}
	return displaywidth.TruncateString(line(text), columns, "…")
}
