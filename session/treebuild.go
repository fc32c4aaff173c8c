package session

import (
	"bytes"
	"fmt"
	"slices"
)

// An Opener returns the session of an outline, with its bytes.
type Opener func(*Outline) (*Session, error)

// NewTree builds the tree of a line. The first part is the first file of the
// line; each other part continues an earlier one, or, where files are missing,
// stands alone. Parents that form a ring are a *[DamageError]. Hardly any tree
// needs more than the outlines; for what does, open is asked, and its errors
// are returned.
func NewTree(parts []*Outline, open Opener) (*Tree, error) {
	total := 0
	for _, o := range parts {
		total += o.Len()
	}
	b := &treeBuilder{&Tree{
		Parts: parts,
		nodes: make([]node, 0, total),
		ids:   newIDTable(total),
		bases: make([]int, len(parts)),
		ends:  make([]int, len(parts)),
		times: map[int]string{},
	}, open}
	return b.Tree, b.build()
}

// A treeBuilder makes a tree.
type treeBuilder struct {
	*Tree
	open Opener
}

func (t *treeBuilder) build() error {
	place := make([][]int32, len(t.Parts)) // node of each message of each part, none for headers
	for p := range t.Parts {
		var err error
		if place[p], err = t.addMessages(p); err != nil {
			return err
		}
	}
	partOf := make(map[string]int, len(t.Parts))
	for p, o := range t.Parts {
		t.bases[p] = none
		if previous, ok := partOf[o.continues()]; ok {
			t.bases[p] = t.base(p, previous, place[previous])
		}
		partOf[o.ID] = p
		t.link(p, place[p])
	}
	if err := t.findLeaves(); err != nil {
		return err
	}
	return t.checkRings()
}

// addMessages makes the nodes of part p and returns the node of each message.
// A message that stands, byte for byte, in an earlier part is that one's node.
func (t *treeBuilder) addMessages(p int) ([]int32, error) {
	o := t.Parts[p]
	nodes := make([]int32, t.messages(p))
	for i := range nodes {
		if i < o.Header {
			nodes[i] = none
			continue
		}
		hash := t.ids.hash(o.MessageID(i))
		known, err := t.same(p, i, hash)
		if err != nil {
			return nil, err
		}
		if known != none {
			nodes[i] = int32(known)
			continue
		}
		nodes[i] = int32(t.Len())
		t.ids.add(hash)
		t.nodes = append(t.nodes, node{int32(p), int32(i), none})
	}
	return nodes, nil
}

// messages returns how many messages of part p are in the tree: of a checkpoint
// that stands alone those that were sealed, of one that another program went on
// from all of them.
func (t *Tree) messages(p int) int {
	if len(t.Parts) == 1 {
		return t.Parts[p].Frozen()
	}
	return t.Parts[p].Len()
}

// same returns the node of an earlier part that is message i of part p, byte for
// byte, or none. The hash is that of its id.
func (t *treeBuilder) same(p, i int, hash uint64) (int, error) {
	if p == 0 {
		return none, nil
	}
	o := t.Parts[p]
	id, span := o.MessageID(i), o.span(i, i+1)
	double := false
	for n := t.ids.last(hash); n >= 0; n = t.ids.before(n) {
		if t.ID(n) != id {
			continue
		}
		double = true
		other, k := t.Parts[t.Part(n)], t.Index(n)
		there := other.span(k, k+1)
		if there.End-there.Start != span.End-span.Start {
			continue
		}
		a, err := t.open(o)
		if err != nil {
			return none, err
		}
		b, err := t.open(other)
		if err != nil {
			return none, err
		}
		if bytes.Equal(a.Messages[i].Raw, b.Messages[k].Raw) {
			return n, nil
		}
	}
	t.double = t.double || double
	return none, nil
}

// base finds the node that the first message of part p follows.
func (t *treeBuilder) base(p, previous int, place []int32) int {
	o := t.Parts[p]
	if o.Header > 0 && o.marks[o.Header-1].edge == named {
		if n, ok := t.nearest(o.parentID(o.Header-1), p); ok {
			return n
		}
	}
	last := t.bases[previous]
	copied := t.Parts[previous].copied()
	for i, n := range place {
		if i >= copied && t.Parts[previous].marks[i].late {
			break
		}
		if n != none {
			last = int(n)
		}
	}
	return last
}

// copied returns how many messages at the start of a snapshot were copied into
// it: what they say of the file that they came from does not hold here.
func (o *Outline) copied() int {
	if !o.Meta.Snapshot {
		return 0
	}
	for i := range o.marks {
		if o.MessageID(i) == o.Meta.BranchPoint {
			return i + 1
		}
	}
	return 0
}

// link finds the parents of the messages of part p.
func (t *treeBuilder) link(p int, place []int32) {
	o := t.Parts[p]
	before := t.bases[p]
	for i, n := range place {
		if n == none {
			continue
		}
		node := &t.nodes[n]
		if int(node.part) != p {
			before = int(n)
			continue
		}
		switch o.marks[i].edge {
		case follows:
			node.parent = int32(before)
		case named:
			parent, ok := t.nearest(o.parentID(i), p)
			node.parent = orphan
			if ok {
				node.parent = int32(parent)
			}
		}
		before = int(n)
	}
	t.ends[p] = before
}

// nearest returns the node with an id: the one in part p if there is one, else
// the last one in an earlier part, else any.
func (t *Tree) nearest(id string, p int) (int, bool) {
	found := none
	for _, n := range t.Find(id) {
		if t.Part(n) <= p || found == none {
			found = n
		}
		if t.Part(n) == p {
			break
		}
	}
	return found, found != none
}

// findLeaves finds the nodes that have children, and the last leaf of each part.
func (t *treeBuilder) findLeaves() error {
	t.inner = make([]bool, t.Len())
	for n := range t.nodes {
		if parent := t.Parent(n); parent != none {
			t.inner[parent] = true
		}
	}
	t.lasts = slices.Repeat([]int{none}, len(t.Parts))
	for n, inner := range t.inner {
		if inner {
			continue
		}
		t.lasts[t.Part(n)] = n
		o, i := t.Parts[t.Part(n)], t.Index(n)
		if _, known := o.stampOf(i); known {
			continue
		}
		s, err := t.open(o)
		if err != nil {
			return err
		}
		t.times[n] = timeText(s.Messages[i].Raw)
	}
	return nil
}

// checkRings makes sure that every walk towards the root ends.
func (t *treeBuilder) checkRings() error {
	const open, done = 1, 2
	state := make([]uint8, t.Len())
	var walk []int
	for n := range t.nodes {
		walk = walk[:0]
		for ; n != none && state[n] == 0; n = t.Parent(n) {
			state[n] = open
			walk = append(walk, n)
		}
		if n != none && state[n] == open {
			return &DamageError{
				Path:    FileName(t.Parts[t.Part(n)].ID),
				Offset:  t.Offset(n),
				Problem: fmt.Sprintf("the message %q is its own ancestor", t.ID(n)),
			}
		}
		for _, w := range walk {
			state[w] = done
		}
	}
	return nil
}
