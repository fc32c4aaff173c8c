package gemini

import (
	"errors"
	"slices"

	"github.com/bough-dev/bough/convert/internal/state"
	"github.com/bough-dev/bough/convert/transcript"
	"github.com/bough-dev/bough/internal/fields"
)

var errNode = errors.New("there is no such record")

// Fields implements [sink.Tail].
func (r *reader) Fields(c *fields.Coder) {
	r.lines.Fields(c)
	state.Conversation(c, &r.conv)
	r.nodeFields(c)
	fields.Map(c, &r.taken, c.Bool)
	c.Bool(&r.clears)
	state.Records(c, &r.riding)
	c.Bool(&r.opened)
	c.Int(&r.seen)
}

// nodeFields encodes or decodes the records, by their numbers: parents have smaller ones.
func (r *reader) nodeFields(c *fields.Coder) {
	g := &graph{numbers: map[*node]int{nil: -1}}
	for _, n := range r.live {
		g.add(n)
	}
	for _, n := range r.at {
		g.add(n)
	}
	g.add(r.held)
	fields.Slice(c, &g.nodes, func(p **node) { g.node(c, p) })
	fields.Slice(c, &r.live, func(p **node) { g.link(c, p) })
	fields.Map(c, &r.at, func(p **node) { g.link(c, p) })
	g.link(c, &r.held)
}

// A graph numbers records.
type graph struct {
	nodes   []*node
	numbers map[*node]int // -1 for nil
}

// add numbers a record, after its parents.
func (g *graph) add(n *node) {
	at := len(g.nodes)
	for ; n != nil; n = n.parent {
		if _, known := g.numbers[n]; known {
			break
		}
		g.numbers[n] = 0
		g.nodes = append(g.nodes, n)
	}
	slices.Reverse(g.nodes[at:])
	for i, n := range g.nodes[at:] {
		g.numbers[n] = at + i
	}
}

// link is for a pointer to a record of an earlier call of node.
func (g *graph) link(c *fields.Coder, p **node) {
	n := g.numbers[*p]
	c.Int(&n)
	switch {
	case !c.Decoding() || c.Err() != nil:
	case n == -1:
		*p = nil
	case n < 0 || n >= len(g.nodes) || g.nodes[n] == nil:
		c.Fail(errNode)
	default:
		*p = g.nodes[n]
	}
}

func (g *graph) node(c *fields.Coder, p **node) {
	if c.Decoding() {
		*p = &node{}
	}
	n := *p
	g.link(c, &n.parent)
	if n.parent == n {
		c.Fail(errNode)
	}
	c.String(&n.id)
	fields.Bytes(c, &n.raw)
	c.String(&n.tip)
	c.Bool(&n.said.skipped)
	g.sum(c, &n.said.sum)
	fields.Map(c, &n.said.results, func(sum *[32]byte) { g.sum(c, sum) })
	passed := n.m != nil && n.raw == nil // then it is empty
	if c.Bool(&passed); !passed {
		state.Message(c, &n.m)
	} else if c.Decoding() {
		n.m = &transcript.Message{}
	}
}

func (g *graph) sum(c *fields.Coder, sum *[32]byte) {
	text := string(sum[:])
	if *sum == [32]byte{} {
		text = ""
	}
	c.String(&text)
	if c.Decoding() {
		*sum = [32]byte{}
		copy(sum[:], text)
	}
}
