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
// stands alone. Parents that form a ring are a *[DamageError]; a message that is
// joined in a ring is a root. Hardly any tree needs more than the outlines; for
// what does, open is asked, and its errors are returned.
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
		times: map[int]dated{},
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
	if err := t.checkRings(); err != nil {
		return err
	}
	t.findChildren()
	return t.findNewest()
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
		case begins:
			node.parent = t.join(o, i, p, none)
		case named:
			parent, ok := t.nearest(o.parentID(i), p)
			node.parent = int32(parent)
			if !ok {
				node.parent = t.join(o, i, p, orphan)
			}
		}
		before = int(n)
	}
	t.ends[p] = before
}

// join returns the node that message i of part p is joined to, or other if it is joined
// to none.
func (t *Tree) join(o *Outline, i, p int, other int32) int32 {
	if to := o.tieOf(i).joined; to != "" {
		if n, ok := t.nearest(to, p); ok {
			return int32(n)
		}
	}
	return other
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

// findChildren finds the nodes that have children, and the leaves that are no ends
// because another message replaces them.
func (t *treeBuilder) findChildren() {
	t.inner = make([]bool, t.Len())
	for n := range t.nodes {
		if parent := t.Parent(n); parent != none {
			t.inner[parent] = true
		}
	}
	for n := range t.nodes {
		if t.inner[n] || !t.Parts[t.Part(n)].marks[t.Index(n)].tied {
			continue
		}
		if by := t.replacement(n); by != none {
			if t.replaced == nil {
				t.replaced = map[int]int{}
			}
			t.replaced[n] = by
		}
	}
}

// replacement returns the node that replaces n, or none: a later child of the same
// parent. What comes earlier cannot, so that two messages never replace each other.
func (t *treeBuilder) replacement(n int) int {
	by := t.Parts[t.Part(n)].tieOf(t.Index(n)).replaced
	if by == "" {
		return none
	}
	for _, other := range t.Find(by) {
		if other > n && t.Parent(other) == t.Parent(n) {
			return other
		}
	}
	return none
}

// findNewest finds the newest leaf of each part. It parses the time of a leaf once, and
// where there is nothing to compare it with not at all.
func (t *treeBuilder) findNewest() error {
	leaves := 0
	for _, inner := range t.inner {
		leaves += 1 - bit(inner)
	}
	t.newest = slices.Repeat([]dated{{node: none}}, len(t.Parts))
	for n, inner := range t.inner {
		if inner {
			continue
		}
		d := dated{node: n}
		o, i := t.Parts[t.Part(n)], t.Index(n)
		if k, known := o.stampOf(i); !known {
			s, err := t.open(o)
			if err != nil {
				return err
			}
			d.at, d.said = s.Messages[i].Time()
			t.times[n] = d
		} else if leaves > 1 {
			d.at, d.said = ParseTime(o.stamps[k].text)
		}
		if _, replaced := t.replaced[n]; replaced {
			continue
		}
		if newest := &t.newest[t.Part(n)]; newest.node == none || !d.before(*newest) {
			*newest = d
		}
	}
	return nil
}

// checkRings makes sure that every walk towards the root ends. It takes back all joins of
// a ring that has one.
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
		if n != none && state[n] == open && !t.unjoin(walk[slices.Index(walk, n):]) {
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

// unjoin makes the joined nodes of a ring roots, and reports whether there are any.
func (t *treeBuilder) unjoin(ring []int) bool {
	found := false
	for _, n := range ring {
		if !t.Joined(n) {
			continue
		}
		found = true
		t.nodes[n].parent = none
		if t.Parts[t.Part(n)].marks[t.Index(n)].edge == named {
			t.nodes[n].parent = orphan
		}
	}
	return found
}
