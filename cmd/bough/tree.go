package main

import (
	"fmt"
	"slices"

	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/lines"
	"github.com/bough-dev/bough/workspace/merge"
	"github.com/urfave/cli/v2"
)

func (p *program) treeVerb() verb {
	return verb{
		name:  "tree",
		args:  "[SESSION] [--messages] [--svg] [-o FILE] [--force] [--partial]",
		short: "show where conversations branch",
		long: `Draws every conversation with its checkpoints and branches, each with the message that it starts
from; with SESSION, only the tree that contains it. All files of one conversation share a line. '*'
marks the head, '←' a branch that the conversation above it merged, and '⤷' the conversation of a
sub-agent that a call of the conversation above it began.

With --messages it draws the messages of SESSION, over all its files. The tree forks at a message
with several answers. The messages between two forks share a line, which shows the first words of
the first one.

--svg draws a picture instead: the conversations with their checkpoints, bookmarks, branches and
sub-agents, and the forks inside of them. Each branch has a lane of its own, the path to the head is
highlighted, and messages between two forks are folded. It is written to standard output or, with
-o, to FILE, which is replaced only with --force. A browser shows it in light and dark colors.`,
		example: `bough tree "Plan the trip"
bough tree "Plan the trip" --messages
bough tree "Plan the trip" --svg -o trip.svg`,
		flags: []cli.Flag{
			&cli.BoolFlag{Name: "messages", DisableDefaultText: true, Usage: "draw the messages of SESSION"},
			&cli.BoolFlag{Name: "svg", DisableDefaultText: true, Usage: "write a picture in SVG"},
			&cli.StringFlag{Name: "output", Aliases: []string{"o"}, Usage: "write the picture to `FILE`"},
			&cli.BoolFlag{Name: "force", DisableDefaultText: true, Usage: "replace FILE if it exists"},
			partialFlag(),
		},
		max: 1,
		action: func(c *cli.Context, w *workspace.Workspace) error {
			if c.Bool("svg") || c.String("output") != "" {
				return p.treePicture(c, w)
			}
			if c.Bool("messages") {
				return p.messageTreeVerb(c, w)
			}
			if c.Bool("partial") {
				return usageError("--partial requires --messages")
			}
			forest, err := w.Tree(c.Context, c.Args().First())
			if err != nil {
				return err
			}
			if p.json {
				return p.printJSON(forest)
			}
			head, err := w.Head(c.Context)
			if err != nil {
				return err
			}
			p.forest(forest.Roots, head)
			return nil
		},
	}
}

func (p *program) forest(roots []workspace.TreeEntry, head *lines.Position) {
	if len(roots) == 0 {
		p.noSessions()
		return
	}
	d := drawing{program: p, short: shortIDs(entriesOf(roots))}
	if head != nil {
		d.head = head.Head.Session
	}
	for _, n := range roots {
		d.draw(n, "", "")
	}
}

func entriesOf(nodes []workspace.TreeEntry) []workspace.Entry {
	var list []workspace.Entry
	for _, n := range nodes {
		list = append(append(list, n.Entry), entriesOf(n.Children)...)
	}
	return list
}

type drawing struct {
	*program
	short func(string) string
	head  string
}

// draw prints a session, folded with its continuations, and its checkpoints and branches.
// first is the prefix of its own line, rest that of the lines below.
func (d *drawing) draw(n workspace.TreeEntry, first, rest string) {
	files, messages, active, headHere := 1, n.MessageCount-n.HeaderCount, n.LastActive, n.ID == d.head
	merges := n.Merges
	var below []workspace.TreeEntry
	for at := n; ; {
		var next *workspace.TreeEntry
		for i, child := range at.Children {
			if next == nil && child.Kind == session.Continuation {
				next = &at.Children[i]
				continue
			}
			below = append(below, child)
		}
		if next == nil {
			break
		}
		files, messages, active = files+1, messages+next.MessageCount-next.HeaderCount, next.LastActive
		headHere = headHere || next.ID == d.head
		merges = append(slices.Clip(merges), next.Merges...)
		at = *next
	}
	about := count(messages, "message")
	if files > 1 {
		about += fmt.Sprintf(" in %d files", files)
	}
	about += " · " + age(active)
	kind := kindMark(n.Kind)
	if n.BegunBy != nil && first != "" {
		kind = subAgentMark
		if at := n.BegunBy.Message; at != "" {
			about = fmt.Sprintf("at %s · %s", shortMessage(string(at)), about)
		}
	}
	if n.BranchPoint != "" {
		about = fmt.Sprintf("at %s · %s", shortMessage(string(n.BranchPoint)), about)
	}
	mark := ""
	if headHere {
		mark = " " + d.paint.green("*")
	}
	d.row(first+kind, n.Title, n.ID, about, mark)
	for i, m := range merges {
		corner := "├─ "
		if i == len(merges)-1 && len(below) == 0 {
			corner = "└─ "
		}
		d.row(rest+corner+mergeMark, m.Title, m.Session, fmt.Sprintf("up to %s · merged at %s", shortMessage(m.From), shortMessage(m.Message)), "")
	}
	for i, child := range below {
		if i == len(below)-1 {
			d.draw(child, rest+"└─ ", rest+"   ")
		} else {
			d.draw(child, rest+"├─ ", rest+"│  ")
		}
	}
}

// mergedText says which branch a message merged.
func mergedText(m merge.Mark) string { return fmt.Sprintf("merged %q", line(m.Title)) }

// row prints a line of the tree.
func (d *drawing) row(first, title, id, about, mark string) {
	used := width(first) + width(d.short(id)) + width(about) + 6
	fmt.Fprintf(d.stdout, "%s%s  %s  %s%s\n", d.paint.dim(first),
		d.paint.bold(d.paint.fit(line(title), d.paint.width-used)), d.paint.yellow(d.short(id)), d.paint.dim(about), mark)
}

// mergeMark marks a branch that the conversation above it merged.
const mergeMark = "← "

// shortMessage cuts the id of a message to a short form for a REF.
func shortMessage(id string) string {
	const uuid = 36
	if len(id) == uuid {
		id = id[:8]
	}
	return clean(id)
}

// kindMark returns the mark of a checkpoint or of a second continuation.
func kindMark(k session.Kind) string {
	switch k {
	case session.Checkpoint:
		return "◆ "
	case session.Continuation:
		return "↳ "
	}
	return ""
}
