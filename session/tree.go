package session

import (
	"cmp"
	"slices"
	"time"
)

// A Tree is the tree of messages in the files of a line. Every message has one
// parent or is a root. Headers that continuations repeat, and the markers that
// end them, are not in the tree.
//
// A node is named by its number, from 0, in the order in which the files and
// the messages in them stand.
type Tree struct {
	Parts []*Outline

	nodes []node
	ids   *idTable
	bases []int // per part, the node that its first message follows, or none
	ends  []int // per part, the node that a message added to it follows
	inner []bool

	replaced map[int]int   // of the leaves that are no ends, the nodes that replace them
	newest   []dated       // per part, its newest leaf, or none
	times    map[int]dated // of the leaves whose time their outlines do not know

	double bool
}

// A dated is a leaf with the time of its message.
type dated struct {
	node int
	at   time.Time
	said bool // the message has a time that can be read
}

// before reports whether d is older than other. What has no time is older than anything
// that has one.
func (d dated) before(other dated) bool {
	if d.said && other.said {
		return d.at.Before(other.at)
	}
	return other.said && !d.said
}

// A node is the place of a message in a tree: message index of a part, and its
// parent.
type node struct {
	part, index, parent int32
}

// none is the parent of a root, and the newest leaf of an empty line; orphan is
// the parent of a message whose parent is named but is not there.
const (
	none   = -1
	orphan = -2
)

// Len returns how many nodes there are.
func (t *Tree) Len() int { return len(t.nodes) }

// ID returns the id of the message at node n.
func (t *Tree) ID(n int) string {
	return t.Parts[t.nodes[n].part].MessageID(t.Index(n))
}

// Parent returns the parent of n, -1 for none.
func (t *Tree) Parent(n int) int { return max(int(t.nodes[n].parent), none) }

// Orphan reports whether n is a root whose parent is named but is not there.
func (t *Tree) Orphan(n int) bool { return t.nodes[n].parent == orphan }

// Joined reports whether n follows its parent by a join: its parent_id names no message
// of the line, and its metadata.bough.joined does.
func (t *Tree) Joined(n int) bool {
	o, i := t.Parts[t.Part(n)], t.Index(n)
	if t.Parent(n) == none || o.tieOf(i).joined == "" {
		return false
	}
	return o.marks[i].edge == begins || o.marks[i].edge == named && o.parentID(i) != t.ID(t.Parent(n))
}

// JoinIgnored reports whether n is a root although it is joined to a message that is
// there: one that comes from n itself.
func (t *Tree) JoinIgnored(n int) bool {
	o, i := t.Parts[t.Part(n)], t.Index(n)
	to := o.tieOf(i).joined
	return to != "" && t.Parent(n) == none && o.marks[i].edge != follows && len(t.Find(to)) > 0
}

// Replaced returns the sibling that has the whole of the message at leaf n, and whether
// there is one. Such a leaf is no end of the conversation.
func (t *Tree) Replaced(n int) (by int, ok bool) {
	by, ok = t.replaced[n]
	return by, ok
}

// Part returns the part whose file holds n.
func (t *Tree) Part(n int) int { return int(t.nodes[n].part) }

// Index returns which message of its part n is.
func (t *Tree) Index(n int) int { return int(t.nodes[n].index) }

// Stored reports whether the message at n is [Outline.Stored].
func (t *Tree) Stored(n int) bool { return t.Parts[t.Part(n)].Stored(t.Index(n)) }

// Offset returns where the message at n begins in its file, in bytes.
func (t *Tree) Offset(n int) int { return t.Parts[t.Part(n)].Offset(t.Index(n)) }

// Tools returns the ids of the tool calls that the message at n makes and of
// those that it answers.
func (t *Tree) Tools(n int) (calls, results []string) {
	return t.Parts[t.Part(n)].Tools(t.Index(n))
}

// Time returns when the message at a leaf was written, and whether its file says
// so in a way that can be read.
func (t *Tree) Time(leaf int) (time.Time, bool) {
	if d, ok := t.times[leaf]; ok {
		return d.at, d.said
	}
	return t.Parts[t.Part(leaf)].Time(t.Index(leaf))
}

// Find returns the nodes whose message has the id: more than one where two
// files have different messages under it.
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

// Double reports whether two messages of the tree have the same id.
func (t *Tree) Double() bool { return t.double }

// Follows returns the node that a message added to part p without a parent_id
// would have as its parent, -1 for none.
func (t *Tree) Follows(p int) int { return t.ends[p] }

// Path returns the nodes from the root to n. The path to a node that is no
// node, -1, is empty.
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

// Children returns for each node the nodes that have it as their parent,
// oldest first: what came to a file when it was continued already is newer than
// what continues it.
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

// late reports whether the message at n came to its file when that already had a
// continuation.
func (t *Tree) late(n int) bool { return t.Parts[t.Part(n)].marks[t.Index(n)].late }

// Newest returns the newest leaf in part p and the parts that continue it, or
// what p continues where they are empty, or -1 where that is empty too.
//
// The time of the leaves decides, one that has none counting as the oldest, and where
// they have the same, the later place.
func (t *Tree) Newest(p int) int {
	if len(t.Parts) == 0 {
		return none
	}
	newest := dated{node: none}
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

// Leaf returns the newest leaf among the messages of part p, -1 if there is none.
func (t *Tree) Leaf(p int) int { return t.newest[p].node }

// IsLeaf reports whether no message has n as its parent.
func (t *Tree) IsLeaf(n int) bool { return !t.inner[n] }

// Leaves returns the ends of the conversation, in the order of the nodes: all leaves but
// those that another message replaces.
func (t *Tree) Leaves() []int {
	var leaves []int
	for n, inner := range t.inner {
		if _, replaced := t.replaced[n]; !inner && !replaced {
			leaves = append(leaves, n)
		}
	}
	return leaves
}

// Depths returns for each node how many messages its path has, itself included.
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

// Joins returns for each node how many messages of its path are [Tree.Joined], itself
// included. It is nil where no message is.
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

// downwards calls f with each node and its parent, for the parent first.
func (t *Tree) downwards(f func(n, parent int)) {
	done := make([]bool, t.Len())
	var walk []int // from a node towards the root, as far as it is not done
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

// Continuing returns part p and the parts that continue it, however far.
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

// Runs returns the path from the root to n in runs: pieces of it that stand in
// one file without a gap.
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
