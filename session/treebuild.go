package session

import (
	"bytes"
	"fmt"
	"slices"
)

// NewTree builds the tree of a line. parts[0] is the first file of the line; every
// other part continues an earlier one, or has no origin because files are missing.
// A cycle of parents is a *[DamageError], unless a join is part of it: then its first
// joined message becomes a root. The outlines suffice for most trees; otherwise
// NewTree calls open and returns its errors.
func NewTree(parts []*Outline, open func(*Outline) (*Session, error)) (*Tree, error) {
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
		times: map[int]datedLeaf{},
	}, open}
	return b.Tree, b.build()
}

// A treeBuilder builds a tree.
type treeBuilder struct {
	*Tree
	open func(*Outline) (*Session, error)
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
	if err := t.checkCycles(); err != nil {
		return err
	}
	t.findChildren()
	return t.findNewest()
}

// addMessages adds the nodes of part p and returns the node of each message. A
// message that is byte for byte the same in an earlier part gets the node of that
// one.
func (t *treeBuilder) addMessages(p int) ([]int32, error) {
	o := t.Parts[p]
	nodes := make([]int32, t.messages(p))
	for i := range nodes {
		if i < o.Header {
			nodes[i] = none
			continue
		}
		hash := t.ids.hash(o.MessageID(i))
		known, err := t.findCopy(p, i, hash)
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

// messages returns the number of messages of part p that are in the tree: for a
// single checkpoint only the sealed ones, for a checkpoint that another program
// continued all.
func (t *Tree) messages(p int) int {
	if len(t.Parts) == 1 {
		return t.Parts[p].Frozen()
	}
	return t.Parts[p].Len()
}

// findCopy returns the node in an earlier part of the same message, byte for byte,
// as message i of part p, or none. hash is the hash of its id.
func (t *treeBuilder) findCopy(p, i int, hash uint64) (int, error) {
	if p == 0 {
		return none, nil
	}
	o := t.Parts[p]
	id, span := o.MessageID(i), o.span(i, i+1)
	duplicates := false
	for n := t.ids.last(hash); n >= 0; n = t.ids.before(n) {
		if t.ID(n) != id {
			continue
		}
		duplicates = true
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
	t.duplicates = t.duplicates || duplicates
	return none, nil
}

// base returns the node that the first message of part p follows.
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

// copied returns the number of initial messages that a snapshot copied from its
// source. Their metadata about the position in their file does not apply to the
// snapshot.
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

// link sets the parents of the messages of part p.
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

// join returns the node to which message i of part p is joined, or other if there
// is none.
func (t *Tree) join(o *Outline, i, p int, other int32) int32 {
	if to := o.tieOf(i).joined; to != "" {
		if n, ok := t.nearest(to, p); ok {
			return int32(n)
		}
	}
	return other
}

// nearest returns the node with an id: the one in part p, else the last one in an
// earlier part, else any.
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

// findChildren sets inner and replaced.
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
// parent. An earlier one is not allowed, so that two messages cannot replace each
// other.
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

// findNewest finds the newest leaf of each part. It parses the time of each leaf at
// most once, and not at all if there is only one leaf.
func (t *treeBuilder) findNewest() error {
	leaves := 0
	for _, inner := range t.inner {
		leaves += 1 - bit(inner)
	}
	t.newest = slices.Repeat([]datedLeaf{{node: none}}, len(t.Parts))
	for n, inner := range t.inner {
		if inner {
			continue
		}
		d := datedLeaf{node: n}
		o, i := t.Parts[t.Part(n)], t.Index(n)
		if k, known := o.stampOf(i); !known {
			s, err := t.open(o)
			if err != nil {
				return err
			}
			d.at, d.hasTime = s.Messages[i].Time()
			t.times[n] = d
		} else if leaves > 1 {
			d.at, d.hasTime = ParseTime(o.stamps[k].text)
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

// checkCycles returns an error if a node is its own ancestor, unless a join is part
// of the cycle.
func (t *treeBuilder) checkCycles() error {
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

// unjoin turns the first joined node of a cycle into a root, and reports whether
// there is one. The first, because a root is the first message of each snapshot of
// its paths: there, too, it becomes the root if its join is part of a cycle.
func (t *treeBuilder) unjoin(cycle []int) bool {
	first := none
	for _, n := range cycle {
		if t.Joined(n) && (first == none || n < first) {
			first = n
		}
	}
	if first == none {
		return false
	}
	t.nodes[first].parent = none
	if t.Parts[t.Part(first)].marks[t.Index(first)].edge == named {
		t.nodes[first].parent = orphan
	}
	return true
}
