package treepicture

import (
	"bufio"
	"cmp"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"io"
	"slices"
	"strconv"

	"github.com/bough-dev/bough/internal/plural"
)

// Options are the choices for a picture.
type Options struct {
	// Title is the name of the picture. If empty, "Conversations".
	Title string
	// Lanes is the maximum number of lanes of a tree. If zero, DefaultLanes.
	Lanes int
	// Inline omits what only a file of its own needs: the style sheet, the background and
	// the legend. The page has [Style] in its own style sheet.
	Inline bool
}

// Style is the style sheet of a picture. It has no colors for an element outside of one.
//
//go:embed style.css
var Style string

// StyleSource returns the source of the style sheet of a file for a Content Security Policy.
func StyleSource() string {
	sum := sha256.Sum256([]byte(Style))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

// Sizes in pixels.
const (
	margin     = 14
	lanePitch  = 18
	rowHeight  = 28
	foldHeight = 24
	treeGap    = 18
	bend       = 10 // the radius of a branch that leaves a lane
	iconPitch  = 16
	gap        = 9 // between two texts
	baseline   = 4 // of a text below the center of its row
)

// Maximum columns of texts.
const (
	labelColumns = 64
	noteColumns  = 48
	markColumns  = 36
	titleColumns = 300
	maxMarks     = 4 // labels of one row
)

// Write writes the picture of trees. It has no scripts, refers to no other files but the
// targets of links, and needs no style attribute. The error is that of w.
func Write(w io.Writer, nodes []Node, o Options) error {
	p := &painter{w: bufio.NewWriterSize(w, 64<<10), nodes: nodes, Layout: Lay(nodes, o.Lanes), inline: o.Inline}
	p.linked = slices.ContainsFunc(nodes, Node.linked)
	p.place()
	p.picture(cmp.Or(fit(o.Title, titleColumns), "Conversations"))
	return p.w.Flush()
}

// A painter writes a picture. Errors are stored in its buffer.
type painter struct {
	*Layout
	w      *bufio.Writer
	nodes  []Node
	inline bool
	linked bool // a node or a mark has a link

	merges        []mergeLine
	left          int      // the width to the left of the lanes, for the lines of merges
	texts         [][]text // of each row
	y             []int    // of each row
	width, height int
}

// A text is a piece of the text of a row.
type text struct {
	s, class, link string
	title          string // describes the link
}

func (p *painter) raw(pieces ...string) {
	for _, s := range pieces {
		p.w.WriteString(s)
	}
}

// place computes the place of each row.
func (p *painter) place() {
	p.y, p.texts = make([]int, len(p.Rows)), make([][]text, len(p.Rows))
	p.placeMerges()
	bottom, widest := margin, 0.0
	for i := range p.Rows {
		r := &p.Rows[i]
		height := rowHeight
		if r.Folded() {
			height = foldHeight
		}
		if r.From < 0 && i > 0 {
			bottom += treeGap
		}
		p.y[i] = bottom + height/2
		bottom += height
		p.texts[i] = p.textsOf(r)
		end := float64(p.textX(r))
		for _, t := range p.texts[i] {
			end += extent(t) + gap
		}
		widest = max(widest, end)
	}
	const narrowest = 320
	p.width, p.height = max(narrowest, int(widest)+margin), max(rowHeight+margin, bottom)+margin
}

// x returns the center of a lane.
func (p *painter) x(lane int) int { return p.left + margin + 8 + lane*lanePitch }

// textX returns where the text of a row begins.
func (p *painter) textX(r *Row) int { return p.x(r.Lane) + 15 + iconPitch*len(p.icons(r)) }

// icons returns the kinds of marks of a row that have an icon.
func (p *painter) icons(r *Row) (kinds []MarkKind) {
	if r.Folded() {
		return nil
	}
	for _, m := range p.nodes[r.Nodes[0]].Marks {
		kind := m.Kind
		if kind == AutoCheckpoint {
			kind = Checkpoint
		}
		if (kind == Checkpoint || kind == Bookmark) && !slices.Contains(kinds, kind) {
			kinds = append(kinds, kind)
		}
	}
	slices.Sort(kinds)
	return kinds
}

func (p *painter) picture(title string) {
	const space = `<svg xmlns="http://www.w3.org/2000/svg" class="tp" `
	legend := 0
	if !p.inline && len(p.nodes) > 0 {
		legend = legendHeight
		p.width = max(p.width, p.legendWidth()+2*margin)
	}
	size := fmt.Sprintf(`width="%d" height="%d" viewBox="0 0 %[1]d %[2]d"`, p.width, p.height+legend)
	role := "img"
	if p.linked {
		role = "list"
	}
	p.raw(space, size, ` role="`, role, `" aria-label="`, escape(title), `" font-family="system-ui, sans-serif" font-size="13">`, "\n")
	if !p.inline {
		p.raw("<title>", escape(title), "</title>\n<desc>", p.summary(), "</desc>\n<style>", Style, "</style>\n",
			fmt.Sprintf(`<rect class="tp-back" x="0.5" y="0.5" width="%d" height="%d" rx="8" fill="Canvas" stroke="none"/>`, p.width-1, p.height+legend-1), "\n")
	}
	p.raw(`<g aria-hidden="true" fill="none" stroke="currentColor" stroke-width="2" stroke-linecap="round">`, "\n")
	p.lines()
	p.mergeLines()
	p.raw("</g>\n")
	for i := range p.Rows {
		p.row(i)
	}
	if len(p.nodes) == 0 {
		p.raw(fmt.Sprintf(`<text class="tp-soft" x="%d" y="%d" fill="currentColor">No conversations yet</text>`, margin+8, p.height/2+baseline), "\n")
	}
	if legend > 0 {
		p.legend()
	}
	p.raw("</svg>\n")
}

// linked reports whether n or a mark of it has a link.
func (n Node) linked() bool {
	return n.Link != "" || slices.ContainsFunc(n.Marks, func(m Mark) bool { return m.Link != "" })
}

// summary says in words what the picture has.
func (p *painter) summary() string {
	messages, branches, points, labels := 0, 0, 0, 0
	continued := make([]bool, len(p.nodes)) // a child that is no copy continues the branch of the node
	for i := range p.nodes {
		n := &p.nodes[i]
		if n.Parent < 0 || n.Edge.leaves() || continued[n.Parent] {
			branches++
		} else {
			continued[n.Parent] = true
		}
		if n.Kind != Conversation {
			messages++
		}
		for _, m := range n.Marks {
			switch m.Kind {
			case Checkpoint, AutoCheckpoint:
				points++
			case Bookmark:
				labels++
			}
		}
	}
	s := plural.Of(messages, "message") + " on " + plural.Of(branches, "branch")
	if points > 0 {
		s += ", " + plural.Of(points, "checkpoint")
	}
	if labels > 0 {
		s += ", " + plural.Of(labels, "bookmark")
	}
	return s
}

// class returns the class of a lane, which has its color.
func class(lane int) string {
	const colors = 6
	if lane == 0 {
		return "tp-0"
	}
	return "tp-" + strconv.Itoa((lane-1)%(colors-1)+1)
}

// active reports whether the active path passes through a row.
func (p *painter) active(r *Row) bool { return p.nodes[r.Nodes[0]].Active }

// lines draws the lines between the rows. The active path is above the others.
func (p *painter) lines() {
	stems := make([]int, len(p.Rows)) // the row of the last branch that leaves a row, or of its continuation
	for i := range p.Rows {
		if from := p.Rows[i].From; from >= 0 {
			stems[from] = i
		}
	}
	for i, to := range stems {
		if to > 0 {
			p.stem(i, to, class(p.Rows[i].Lane), "")
		}
	}
	for i := range p.Rows {
		p.turn(i, class(p.Rows[i].Lane), "")
	}
	const thick = ` stroke-width="3.5"`
	for i := range p.Rows {
		if r := &p.Rows[i]; r.From >= 0 && p.active(r) {
			p.stem(r.From, i, "tp-on", thick)
			p.turn(i, "tp-on", thick)
		}
	}
}

// stem draws the lane of a row down to another row, or to where a branch leaves for it.
func (p *painter) stem(from, to int, class, more string) {
	r, end := &p.Rows[from], p.y[to]
	if p.Rows[to].Lane != r.Lane {
		end -= bend
	}
	dash := ""
	if p.Rows[to].Lane == r.Lane {
		dash = p.dash(to)
	}
	p.raw(fmt.Sprintf(`<path class="%s" d="M%d %dV%d"%s%s/>`, class, p.x(r.Lane), p.y[from], end, dash, more), "\n")
}

// turn draws how a branch leaves the lane of its parent.
func (p *painter) turn(i int, class, more string) {
	r := &p.Rows[i]
	if r.From < 0 || p.Rows[r.From].Lane == r.Lane {
		return
	}
	from := p.x(p.Rows[r.From].Lane)
	p.raw(fmt.Sprintf(`<path class="%s" d="M%d %dQ%d %d %d %dH%d"%s%s/>`, class, from, p.y[i]-bend, from, p.y[i], from+bend, p.y[i], p.x(r.Lane), p.dash(i), more), "\n")
}

// dash returns the attribute of a line to a row that is not solid.
func (p *painter) dash(i int) string { return dash(p.nodes[p.Rows[i].Nodes[0]].Edge) }

func dash(e Edge) string {
	switch e {
	case Copied:
		return ` stroke-dasharray="5 4"`
	case Begun:
		return ` stroke-dasharray="8 3 2 3"`
	case Joined:
		return ` stroke-dasharray="1 5"`
	}
	return ""
}
