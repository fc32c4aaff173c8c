package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace"
	"github.com/urfave/cli/v2"
)

// messageTreeVerb is 'bough tree SESSION --messages'.
func (p *program) messageTreeVerb(c *cli.Context, w *workspace.Workspace) error {
	tree, err := w.MessageTree(c.Context, refOrHead(c), readOptions(c))
	if err != nil {
		return err
	}
	if p.json {
		return p.printJSON(tree)
	}
	p.messageTree(tree)
	return nil
}

// messageTree draws the tree of messages, one line per straight run. Subtrees that are too
// deep are drawn below, which bounds the width of the drawing and the memory for it.
func (p *program) messageTree(t *workspace.MessageTree) {
	if len(t.Runs) == 0 {
		p.noMessages()
		return
	}
	d := messageDrawing{program: p, runs: t.Runs, names: runNames(t.Runs), children: make([][]int, len(t.Runs)), deepest: 12}
	if p.paint.width > 0 {
		const words, level = 18, 3 // columns
		widest := 0
		for _, name := range d.names {
			widest = max(widest, width(name))
		}
		d.deepest = min(max(1, (p.paint.width-widest-words)/level), d.deepest)
	}
	for i, r := range t.Runs {
		if r.Parent != nil {
			d.children[*r.Parent] = append(d.children[*r.Parent], i)
		}
	}
	var below []int // runs whose children are drawn below
	for i, r := range t.Runs {
		if r.Parent == nil {
			below = append(below, d.draw([]stroke{{run: i}})...)
		}
	}
	for len(below) > 0 {
		i := below[0]
		fmt.Fprintf(p.stdout, "\n%s%s\n", p.paint.yellow(d.names[i]), p.paint.dim(" continues:"))
		below = append(below[1:], d.draw(d.under(stroke{run: i}))...)
	}
}

type messageDrawing struct {
	*program
	runs     []workspace.StraightRun
	names    []string
	children [][]int // of each run
	deepest  int     // maximum number of levels in one part of the drawing
}

// runNames returns a name for each run: its first and its last message.
func runNames(runs []workspace.StraightRun) []string {
	var ids []string
	for _, r := range runs {
		ids = append(ids, r.First)
		if r.Count > 1 {
			ids = append(ids, r.Last)
		}
	}
	short := shortMessages(ids)
	names := make([]string, len(runs))
	for i, r := range runs {
		names[i] = short(r.First)
		if r.Count > 1 {
			names[i] += " … " + short(r.Last)
		}
	}
	return names
}

// A stroke is a run to be drawn: the prefix of its own line, the prefix of the lines below
// it, and its depth in this part of the drawing.
type stroke struct {
	run         int
	first, rest string
	level       int
}

// draw prints strokes, the last one first, and their descendants. It returns the runs whose
// children are too deep.
func (d *messageDrawing) draw(strokes []stroke) (below []int) {
	for len(strokes) > 0 {
		s := strokes[len(strokes)-1]
		strokes = strokes[:len(strokes)-1]
		hidden := s.level == d.deepest && len(d.children[s.run]) > 0
		d.line(s, hidden)
		if hidden {
			below = append(below, s.run)
			continue
		}
		strokes = append(strokes, d.under(s)...)
	}
	return below
}

// under returns the children of a run, last one first.
func (d *messageDrawing) under(s stroke) (strokes []stroke) {
	for k, child := range slices.Backward(d.children[s.run]) {
		first, rest := "├─ ", "│  "
		if k == len(d.children[s.run])-1 {
			first, rest = "└─ ", "   "
		}
		strokes = append(strokes, stroke{child, s.rest + first, s.rest + rest, s.level + 1})
	}
	return strokes
}

// line prints the line of a run.
func (d *messageDrawing) line(s stroke, hidden bool) {
	r, name := d.runs[s.run], d.names[s.run]
	var facts []string
	if hidden {
		facts = append(facts, "continues below")
	}
	if r.Count > 1 {
		facts = append(facts, count(r.Count, "message"))
	}
	if r.Orphan {
		facts = append(facts, "parent missing; treated as a root")
	}
	switch {
	case len(r.Joined) == 1 && r.Joined[0] == session.ID(r.First):
		facts = append(facts, "joined: parent missing")
	case len(r.Joined) == 1:
		facts = append(facts, "joined at "+shortMessage(string(r.Joined[0]))+": parent missing")
	case len(r.Joined) > 1:
		facts = append(facts, count(len(r.Joined), "message")+" joined: parents missing")
	}
	for _, m := range r.Merges {
		facts = append(facts, mergedText(m)+" at "+shortMessage(m.Message))
	}
	if r.ReplacedBy != "" {
		facts = append(facts, "replaced by "+shortMessage(string(r.ReplacedBy)))
	}
	if r.Leaf {
		facts = append(facts, age(r.LastActive))
	}
	if r.Newest {
		facts = append(facts, "newest")
	}
	about := ""
	if len(facts) > 0 {
		about = "(" + strings.Join(facts, " · ") + ")"
	}
	mark := ""
	switch {
	case r.Head == "":
	case string(r.Head) == r.Last:
		mark = " *"
	default:
		mark = " * at " + shortMessage(string(r.Head))
	}
	used := width(s.first) + width(name) + 1 + width(mark)
	words := strings.TrimSpace(d.labelled(r.Bookmarks, r.Last) + " " + firstWords(r.Message))
	text := d.paint.fit(strings.TrimSpace(about+" "+words), d.paint.width-used)
	if words, whole := strings.CutPrefix(text, about); whole {
		text = d.paint.dim(about) + words
	}
	if text != "" {
		text = " " + text
	}
	fmt.Fprintf(d.stdout, "%s%s%s%s\n", d.paint.dim(s.first), d.paint.yellow(name), text, d.paint.green(mark))
	rest := s.rest + "   "
	if !hidden && len(d.children[s.run]) > 0 {
		rest = s.rest + "│  "
	}
	for _, a := range r.SubAgents {
		fmt.Fprintf(d.stdout, "%s%s\n", d.paint.dim(rest), d.subAgent(a, width(rest)))
	}
}
