package treepicture

import (
	"cmp"
	"fmt"
	"slices"
)

const (
	mergePitch = 7 // between the lines of merges that are beside each other
	maxTracks  = 8 // lines beside each other; more are drawn over the last one
)

// A mergeLine is the line from the row of the end of a branch to the row of the message that merged
// it.
type mergeLine struct {
	from, to int // rows
	track    int // 0 is next to the lanes
}

func (m mergeLine) top() int    { return min(m.from, m.to) }
func (m mergeLine) bottom() int { return max(m.from, m.to) }

// placeMerges decides where the lines of merges are: those that pass the same row have different
// tracks.
func (p *painter) placeMerges() {
	rows := make(map[int]int, len(p.nodes)) // by node
	for i := range p.Rows {
		for _, n := range p.Rows[i].Nodes {
			rows[n] = i
		}
	}
	for i := range p.nodes {
		for _, end := range p.nodes[i].Merged {
			from, drawn := rows[end]
			if to, ok := rows[i]; drawn && ok && from != to {
				p.merges = append(p.merges, mergeLine{from: from, to: to})
			}
		}
	}
	slices.SortStableFunc(p.merges, func(a, b mergeLine) int {
		return cmp.Or(cmp.Compare(a.top(), b.top()), cmp.Compare(a.bottom(), b.bottom()))
	})
	var bottoms []int // of each track so far
	for i := range p.merges {
		m := &p.merges[i]
		m.track = slices.IndexFunc(bottoms, func(bottom int) bool { return bottom < m.top() })
		switch {
		case m.track >= 0:
			bottoms[m.track] = m.bottom()
		case len(bottoms) < maxTracks:
			m.track = len(bottoms)
			bottoms = append(bottoms, m.bottom())
		default:
			m.track = maxTracks - 1
			bottoms[m.track] = max(bottoms[m.track], m.bottom())
		}
	}
	if len(bottoms) > 0 {
		p.left = mergePitch*(len(bottoms)-1) + bend
	}
}

// mergeLines draws the lines of merges, each with an arrow at its end.
func (p *painter) mergeLines() {
	const room = 10 // to the center of a node
	for _, m := range p.merges {
		from, to := &p.Rows[m.from], &p.Rows[m.to]
		at, y, end := p.x(0)-mergePitch*m.track-2*bend, p.y[m.from], p.y[m.to]
		turn := min(bend, max(end-y, y-end)/2)
		down := turn
		if end < y {
			down = -turn
		}
		tip := p.x(to.Lane) - room
		p.raw(fmt.Sprintf(`<path class="%s" d="M%d %dH%dQ%d %[3]d %[5]d %[6]dV%dQ%[5]d %[8]d %[4]d %[8]dH%d" stroke-width="1.5" stroke-dasharray="3 4"/>`,
			class(from.Lane), p.x(from.Lane)-room, y, at+turn, at, y+down, end-down, end, tip), "\n",
			fmt.Sprintf(`<path class="%s" d="M%d %dl5 4-5 4" stroke-width="1.5"/>`, class(from.Lane), tip-5, end-4), "\n")
	}
}
