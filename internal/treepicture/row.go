package treepicture

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/bough-dev/bough/internal/plural"
)

// row draws a row.
func (p *painter) row(i int) {
	r := &p.Rows[i]
	role := ""
	if p.linked {
		role = ` role="listitem"`
	}
	p.raw(`<g class="tp-row"`, role, `>`)
	height := rowHeight
	if r.Folded() {
		height = foldHeight
	}
	at, y := p.x(r.Lane), p.y[i]
	link := p.nodes[r.Nodes[0]].Link
	if link != "" {
		p.raw(`<a href="`, escape(link), `" aria-hidden="true" tabindex="-1">`,
			fmt.Sprintf(`<rect class="tp-hit" x="%d" y="%d" width="%d" height="%d" rx="6" fill="none" pointer-events="all"/>`, at+9, y-height/2, p.width-at-9-margin/2, height))
	}
	if r.Folded() {
		p.fold(at, y, class(r.Lane), p.active(r))
	} else {
		p.dot(&p.nodes[r.Nodes[0]], at, y, class(r.Lane), r.From < 0)
		for k, kind := range p.icons(r) {
			p.icon(kind, at+17+iconPitch*k, y)
		}
	}
	if link != "" {
		p.raw("</a>")
	}
	p.raw(fmt.Sprintf(`<text x="%d" y="%d" fill="currentColor" xml:space="preserve">`, p.textX(r), y+baseline))
	for k, t := range p.texts[i] {
		p.text(t, k > 0)
	}
	p.raw("</text></g>\n")
}

// text writes a piece of the text of a row.
func (p *painter) text(t text, apart bool) {
	if t.link != "" {
		p.raw(`<a href="`, escape(t.link), `">`)
		if t.title != "" && t.title != t.s {
			p.raw("<title>", escape(t.title), "</title>")
		}
	}
	p.raw(`<tspan class="`, t.class, `"`)
	if apart {
		p.raw(` dx="`, strconv.Itoa(gap), `"`)
	}
	p.raw(` fill="currentColor" unicode-bidi="isolate">`, escape(t.s), "</tspan>")
	if t.link != "" {
		p.raw("</a>")
	}
}

// dot draws the node of a row. root reports whether it begins a tree.
func (p *painter) dot(n *Node, at, y int, lane string, root bool) {
	color := lane
	if n.Active {
		color = "tp-on"
	}
	for _, m := range n.Marks {
		if m.Kind == Head {
			p.raw(fmt.Sprintf(`<circle class="tp-on" cx="%d" cy="%d" r="9" fill="none" stroke="currentColor" stroke-width="1.5"/>`, at, y))
			break
		}
	}
	fill := `class="tp-open" fill="Canvas"`
	if n.Kind == Prompt {
		fill = `fill="currentColor"`
	}
	shape := fmt.Sprintf(`<circle %s cx="%d" cy="%d" r="4.5" stroke="currentColor" stroke-width="2"/>`, fill, at, y)
	if root || n.Kind == Conversation {
		shape = fmt.Sprintf(`<rect %s x="%d" y="%d" width="11" height="11" rx="3" stroke="currentColor" stroke-width="2.5"/>`, fill, at-5, y-5)
	}
	p.raw(`<g class="`, color, `">`, shape, "</g>")
}

// fold draws the three dots of a folded chain.
func (p *painter) fold(at, y int, lane string, active bool) {
	if active {
		lane = "tp-on"
	}
	p.raw(fmt.Sprintf(`<g class="%s"><rect class="tp-open" x="%d" y="%d" width="8" height="18" fill="Canvas"/>`, lane, at-4, y-9))
	for k := -1; k <= 1; k++ {
		p.raw(fmt.Sprintf(`<circle cx="%d" cy="%d" r="1.5" fill="currentColor"/>`, at, y+6*k))
	}
	p.raw("</g>")
}

// icon draws the icon of a mark.
func (p *painter) icon(kind MarkKind, at, y int) {
	shape, class := "M%d %dl5 5.5-5 5.5-5-5.5z", "tp-checkpoint"
	if kind == Bookmark {
		shape, class = "M%d %dh-4v11l4-3.5 4 3.5v-11z", "tp-bookmark"
	}
	p.raw(`<path class="`, class, `" d="`, fmt.Sprintf(shape, at+2, y-5), `" fill="currentColor"/>`)
}

// textsOf returns the texts of a row.
func (p *painter) textsOf(r *Row) (list []text) {
	if r.Folded() {
		return p.foldTexts(r)
	}
	n := &p.nodes[r.Nodes[0]]
	label, note := fit(n.Label, labelColumns), fit(n.Note, noteColumns)
	marks, hidden := 0, 0
	for _, m := range slices.SortedStableFunc(slices.Values(n.Marks), func(a, b Mark) int { return cmp.Compare(a.Kind, b.Kind) }) {
		words, class := fit(m.Label, markColumns), ""
		switch m.Kind {
		case Head:
			words, class = "head", "tp-head"
		case AutoCheckpoint:
			continue
		case Checkpoint:
			class = "tp-checkpoint"
		case Bookmark:
			class = "tp-bookmark"
		case Title:
			words, class = fit(m.Label, labelColumns), "tp-title"
		case Merge:
			words, class = "merged "+words, "tp-soft"
		}
		if marks++; marks > maxMarks {
			hidden++
			continue
		}
		list = append(list, text{s: words, class: class, link: m.Link, title: fit(markTitle(m), titleColumns)})
	}
	if hidden > 0 {
		list = append(list, text{s: "+" + strconv.Itoa(hidden), class: "tp-soft"})
	}
	if label == "" && len(list) == 0 {
		label = "(no text)"
	}
	if label != "" {
		class := "tp-words"
		switch {
		case n.Kind == Conversation:
			class = "tp-title"
		case len(list) > 0:
			class = "tp-soft"
		}
		list = append(list, text{s: label, class: class, link: n.Link, title: fit(n.Label, titleColumns)})
	}
	if note != "" {
		list = append(list, text{s: note, class: "tp-soft"})
	}
	return append(list, omittedTexts(r)...)
}

func omittedTexts(r *Row) []text {
	if r.Omitted.Branches == 0 {
		return nil
	}
	s := "+ " + plural.Of(r.Omitted.Branches, "branch") + ", " + plural.Of(len(r.Omitted.Nodes), "message")
	return []text{{s: s, class: "tp-soft"}}
}

// markTitle describes a mark.
func markTitle(m Mark) string {
	switch m.Kind {
	case Checkpoint:
		return "Checkpoint: " + m.Label
	case Bookmark:
		return "Bookmark: " + m.Label
	case Merge:
		return "Merged branch: " + m.Label
	case Title:
		return "Branch: " + m.Label
	}
	return m.Label
}

// foldTexts returns the texts of a folded chain.
func (p *painter) foldTexts(r *Row) []text {
	points, joined := 0, 0
	for _, i := range r.Nodes {
		points += len(p.nodes[i].Marks) // only automatic checkpoints are folded
		if p.nodes[i].Edge == Joined {
			joined++
		}
	}
	var s strings.Builder
	s.WriteString(plural.Of(len(r.Nodes), "message"))
	if points > 0 {
		s.WriteString(", " + plural.Of(points, "automatic checkpoint"))
	}
	if joined > 0 {
		s.WriteString(", " + strconv.Itoa(joined) + " joined")
	}
	first := &p.nodes[r.Nodes[0]]
	list := []text{{s: s.String(), class: "tp-soft", link: first.Link, title: fit(first.Label, titleColumns)}}
	return append(list, omittedTexts(r)...)
}

// legendHeight is the height of the legend.
const legendHeight = 30

// legendItems are what the legend explains.
func legendItems() []Node {
	return []Node{
		{Kind: Prompt, Label: "person"}, {Kind: Message, Label: "assistant"},
		{Label: "checkpoint", Marks: []Mark{{Kind: Checkpoint}}}, {Label: "bookmark", Marks: []Mark{{Kind: Bookmark}}},
		{Label: "copy", Edge: Copied}, {Label: "sub-agent", Edge: Begun}, {Label: "merge", Merged: []int{0}}, {Label: "head", Active: true, Marks: []Mark{{Kind: Head}}},
	}
}

// legendPitch returns the width of an item of the legend.
func legendPitch(item Node) int { return 36 + int(extent(text{s: item.Label, class: "tp-soft"})) }

func (p *painter) legendWidth() (width int) {
	for _, item := range p.legendShown() {
		width += legendPitch(item)
	}
	return width
}

// legendShown returns the items of the legend that the picture has.
func (p *painter) legendShown() (shown []Node) {
	for _, item := range legendItems() {
		has := false
		for i := range p.nodes {
			has = has || explains(item, &p.nodes[i])
		}
		if has {
			shown = append(shown, item)
		}
	}
	return shown
}

// explains reports whether an item of the legend explains a node.
func explains(item Node, n *Node) bool {
	switch {
	case len(item.Marks) > 0:
		for _, m := range n.Marks {
			if m.Kind == item.Marks[0].Kind || m.Kind == AutoCheckpoint && item.Marks[0].Kind == Checkpoint {
				return true
			}
		}
		return false
	case item.Edge.leaves():
		return n.Edge == item.Edge
	case len(item.Merged) > 0:
		return len(n.Merged) > 0
	}
	return n.Kind == item.Kind
}

// legend explains the shapes that the picture has.
func (p *painter) legend() {
	y := p.height + legendHeight/2 - 4
	p.raw(fmt.Sprintf(`<g aria-hidden="true"><path class="tp-soft" d="M%d %dH%d" stroke="currentColor" stroke-opacity="0.25"/>`, margin, p.height-6, p.width-margin), "\n")
	at := margin + 8
	for _, item := range p.legendShown() {
		switch {
		case item.Edge.leaves():
			p.raw(fmt.Sprintf(`<path class="tp-0" d="M%d %dh16" fill="none" stroke="currentColor" stroke-width="2"%s/>`, at-8, y, dash(item.Edge)))
		case len(item.Merged) > 0:
			p.raw(fmt.Sprintf(`<path class="tp-1" d="M%d %dh16" fill="none" stroke="currentColor" stroke-width="1.5" stroke-dasharray="3 4"/>`, at-8, y))
		case len(item.Marks) > 0 && item.Marks[0].Kind != Head:
			p.icon(item.Marks[0].Kind, at-2, y)
		default:
			p.dot(&item, at, y, "tp-0", false)
		}
		p.raw(fmt.Sprintf(`<text class="tp-soft" x="%d" y="%d" fill="currentColor" font-size="12">%s</text>`, at+15, y+baseline, item.Label), "\n")
		at += legendPitch(item)
	}
	p.raw("</g>\n")
}
