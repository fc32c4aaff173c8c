package session

import (
	"cmp"
	"slices"
	"time"
)

// A Tree is the tree of messages in the files of a line. Every message has one
// parent or is a root. The headers that continuations repeat and their markers are
// not in the tree.
//
// Nodes are numbered from 0 in the order of the files and of the messages in them.
type Tree struct {
	Parts []*Outline

	nodes []node
	ids   *idTable
	bases []int // per part, the node that its first message follows, or none
	ends  []int // per part, the node that an appended message follows
	inner []bool

	replaced map[int]int       // maps a leaf that is not a tip to the node that replaces it
	newest   []datedLeaf       // per part, its newest leaf, or none
	times    map[int]datedLeaf // of the leaves whose time is not in their outlines

	duplicates bool
}

// A datedLeaf is a leaf with the time of its message.
type datedLeaf struct {
	node    int
	at      time.Time
	hasTime bool // the message has a time that can be parsed
}

// before reports whether d is older than other. A leaf without a time is older than
// any leaf that has one.
func (d datedLeaf) before(other datedLeaf) bool {
	if d.hasTime && other.hasTime {
		return d.at.Before(other.at)
	}
	return other.hasTime && !d.hasTime
}

// A node is the message with an index in a part, and the node of its parent.
type node struct {
	part, index, parent int32
}

// none is the parent of a root, and the newest leaf of an empty line. orphan is the
// parent of a message whose parent_id names no message.
const (
	none   = -1
	orphan = -2
)

// Len returns the number of nodes.
func (t *Tree) Len() int { return len(t.nodes) }

// ID returns the id of the message at node n.
func (t *Tree) ID(n int) string {
	return t.Parts[t.nodes[n].part].MessageID(t.Index(n))
}

// Parent returns the parent of n, -1 for none.
func (t *Tree) Parent(n int) int { return max(int(t.nodes[n].parent), none) }

// Orphan reports whether n is a root whose parent_id names no message.
func (t *Tree) Orphan(n int) bool { return t.nodes[n].parent == orphan }

// Joined reports whether n has its parent by metadata.bough.joined, because its
// parent_id names no message of the line.
func (t *Tree) Joined(n int) bool {
	o, i := t.Parts[t.Part(n)], t.Index(n)
	if t.Parent(n) == none || o.tieOf(i).joined == "" {
		return false
	}
	return o.marks[i].edge == begins || o.marks[i].edge == named && o.parentID(i) != t.ID(t.Parent(n))
}

// JoinIgnored reports whether n is a root although metadata.bough.joined names a
// message, because that message is a descendant of n.
func (t *Tree) JoinIgnored(n int) bool {
	o, i := t.Parts[t.Part(n)], t.Index(n)
	to := o.tieOf(i).joined
	return to != "" && t.Parent(n) == none && o.marks[i].edge != follows && len(t.Find(to)) > 0
}

// Replaced returns the sibling with the complete content of the message at leaf n,
// and whether there is one. Such a leaf is not a tip.
func (t *Tree) Replaced(n int) (by int, ok bool) {
	by, ok = t.replaced[n]
	return by, ok
}

// Part returns the part whose file holds n.
func (t *Tree) Part(n int) int { return int(t.nodes[n].part) }

// Index returns the index of n among the messages of its part.
func (t *Tree) Index(n int) int { return int(t.nodes[n].index) }

// Stored reports whether the message at n is [Outline.Stored].
func (t *Tree) Stored(n int) bool { return t.Parts[t.Part(n)].Stored(t.Index(n)) }

// Offset returns the offset of the message at n in its file in bytes.
func (t *Tree) Offset(n int) int { return t.Parts[t.Part(n)].Offset(t.Index(n)) }

// Tools returns the ids of the tool calls that the message at n makes and of those
// that it answers.
func (t *Tree) Tools(n int) (calls, results []string) {
	return t.Parts[t.Part(n)].Tools(t.Index(n))
}

// Time returns the time of the message at a leaf. ok is false if the message has no
// time or it cannot be parsed.
func (t *Tree) Time(leaf int) (time.Time, bool) {
	if d, ok := t.times[leaf]; ok {
		return d.at, d.hasTime
	}
	return t.Parts[t.Part(leaf)].Time(t.Index(leaf))
}

// Find returns the nodes whose message has the id. There are several if two files
// have different messages with the same id.
func (t *Tree) Find(id string) []int {
	var nodes []int
	for n := t.ids.last(t.ids.hash(id)); n >= 0; n = t.ids.before(n) {
		if t.ID(n) == id {
			nodes = append(nodes, n)
		}
	}
	slices.Reverse(nodes)
	return nodes
}

// HasDuplicates reports whether two messages of the tree have the same id.
func (t *Tree) HasDuplicates() bool { return t.duplicates }

// Follows returns the parent of a message that is appended to part p without a
// parent_id, -1 for none.
func (t *Tree) Follows(p int) int { return t.ends[p] }

// Path returns the nodes from the root to n. If n is -1, the path is empty.
func (t *Tree) Path(n int) []int {
	length := 0
	for at := n; at != none; at = t.Parent(at) {
		length++
	}
	path := make([]int, length)
	for i := length - 1; i >= 0; i-- {
		path[i] = n
		n = t.Parent(n)
	}
	return path
}

// Children returns the children of each node, oldest first: a message that was
// appended to a file after its continuation began is newer than the messages of the
// continuation.
func (t *Tree) Children() [][]int {
	children := make([][]int, t.Len())
	for n := range t.nodes {
		if parent := t.Parent(n); parent != none {
			children[parent] = append(children[parent], n)
		}
	}
	for _, list := range children {
		if len(list) > 1 && t.Part(list[0]) != t.Part(list[len(list)-1]) {
			slices.SortStableFunc(list, func(a, b int) int { return cmp.Compare(bit(t.late(a)), bit(t.late(b))) })
		}
	}
	return children
}

// late reports whether the message at n was appended to its file after a
// continuation of that file began.
func (t *Tree) late(n int) bool { return t.Parts[t.Part(n)].marks[t.Index(n)].late }

// Newest returns the newest leaf in part p and the parts that continue it. If these
// parts have no messages, it returns the node that p continues, or -1.
//
// The time of the leaves decides; a leaf without a time is the oldest. At equal
// times the later node wins.
func (t *Tree) Newest(p int) int {
	if len(t.Parts) == 0 {
		return none
	}
	newest := datedLeaf{node: none}
	for _, part := range t.Continuing(p) {
		d := t.newest[part]
		if d.node != none && (newest.node == none || !d.before(newest)) {
			newest = d
		}
	}
	if newest.node == none {
		return t.bases[p]
	}
	return newest.node
}

// Leaf returns the newest leaf in part p, or -1.
func (t *Tree) Leaf(p int) int { return t.newest[p].node }

// IsLeaf reports whether no message has n as its parent.
func (t *Tree) IsLeaf(n int) bool { return !t.inner[n] }

// Leaves returns the tips of the conversation in the order of the nodes: all leaves
// except those that another message replaces.
func (t *Tree) Leaves() []int {
	var leaves []int
	for n, inner := range t.inner {
		if _, replaced := t.replaced[n]; !inner && !replaced {
			leaves = append(leaves, n)
		}
	}
	return leaves
}

// Depths returns for each node the number of messages on its path, itself included.
func (t *Tree) Depths() []int {
	depths := make([]int, t.Len())
	t.downwards(func(n, parent int) {
		depths[n] = 1
		if parent != none {
			depths[n] += depths[parent]
		}
	})
	return depths
}

// Joins returns for each node the number of [Tree.Joined] messages on its path,
// itself included. It returns nil if there are none.
func (t *Tree) Joins() []int {
	if !slices.ContainsFunc(t.Parts, func(o *Outline) bool { return len(o.ties) > 0 }) {
		return nil
	}
	joins := make([]int, t.Len())
	t.downwards(func(n, parent int) {
		joins[n] = bit(t.Joined(n))
		if parent != none {
			joins[n] += joins[parent]
		}
	})
	return joins
}

// downwards calls f for each node and its parent, in an order that visits parents
// first.
func (t *Tree) downwards(f func(n, parent int)) {
	done := make([]bool, t.Len())
	var walk []int // from a node towards the root, as far as not done
	for n := range done {
		for at := n; at != none && !done[at]; at = t.Parent(at) {
			walk = append(walk, at)
			done[at] = true
		}
		for _, at := range slices.Backward(walk) {
			f(at, t.Parent(at))
		}
		walk = walk[:0]
	}
}

// Continuing returns p and all parts that directly or indirectly continue it.
func (t *Tree) Continuing(p int) []int {
	list := []int{p}
	ids := map[string]bool{t.Parts[p].ID: true}
	for i := p + 1; i < len(t.Parts); i++ {
		if ids[t.Parts[i].continues()] {
			list = append(list, i)
			ids[t.Parts[i].ID] = true
		}
	}
	return list
}

// Runs returns the path from the root to n as runs of adjacent messages of one
// file.
func (t *Tree) Runs(n int) []Run {
	var runs []Run
	for ; n != none; n = t.Parent(n) {
		part, i := t.Parts[t.Part(n)], t.Index(n)
		if last := len(runs) - 1; last >= 0 && runs[last].Part == part && runs[last].From == i+1 {
			runs[last].From = i
			continue
		}
		runs = append(runs, Run{Part: part, From: i, To: i + 1})
	}
	slices.Reverse(runs)
	return runs
}
