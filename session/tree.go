package session

import (
	"fmt"
	"slices"
)

// A Tree is the tree of messages in the files of a line. Every message has one
// parent or is a root. Headers that continuations repeat, and the markers that
// end them, are not in the tree.
//
// A node is named by its number, from 0, in the order in which the files and
// the messages in them stand.
type Tree struct {
	Parts []*Session
	Nodes []Node

	byID  map[string][]int
	bases []int // per part, the node that its first message follows, or none
	ends  []int // per part, the node that a message added to it follows
	inner []bool
	lasts []int // per part, its last leaf, or none
}

// A Node is the place of a message in a [Tree].
type Node struct {
	Part, Index int  // Parts[Part].Messages[Index]
	Parent      int  // -1 for a root
	Orphan      bool // a root whose parent is named but is not there
}

// none is the parent of a root, and the newest leaf of an empty line.
const none = -1

// NewTree builds the tree of a line. The first part is the first file of the
// line; each other part continues an earlier one, or, where files are missing,
// stands alone. Parents that form a ring are a *[DamageError].
func NewTree(parts []*Session) (*Tree, error) {
	t := &Tree{Parts: parts, byID: make(map[string][]int), bases: make([]int, len(parts)), ends: make([]int, len(parts))}
	place := make([][]int, len(parts)) // node of each message of each part, none for headers
	for p, s := range parts {
		place[p] = t.addMessages(p, s)
	}
	partOf := make(map[string]int, len(parts))
	for p, s := range parts {
		t.bases[p] = none
		if previous, ok := partOf[continued(s)]; ok {
			t.bases[p] = t.base(p, previous, place)
		}
		partOf[s.ID] = p
		t.link(p, place[p])
	}
	t.findLeaves()
	return t, t.checkRings()
}

// continued returns the session that s continues, "" for one that stands on
// its own.
func continued(s *Session) string {
	if s.Meta.Snapshot {
		return ""
	}
	return s.Meta.Origin()
}

// addMessages makes the nodes of part p and returns the node of each message.
// A message that stands, byte for byte, in an earlier part is that one's node.
func (t *Tree) addMessages(p int, s *Session) []int {
	messages := t.messages(p)
	nodes := make([]int, len(messages))
	header := s.HeaderLen()
	for i, m := range messages {
		if i < header {
			nodes[i] = none
			continue
		}
		if known := t.same(m); known != none {
			nodes[i] = known
			continue
		}
		nodes[i] = len(t.Nodes)
		t.byID[m.ID] = append(t.byID[m.ID], len(t.Nodes))
		t.Nodes = append(t.Nodes, Node{Part: p, Index: i, Parent: none})
	}
	return nodes
}

// messages returns the messages of part p: of a checkpoint that stands alone
// those that were sealed, of one that another program went on from all of them.
func (t *Tree) messages(p int) []Message {
	if len(t.Parts) == 1 {
		return t.Parts[p].Frozen()
	}
	return t.Parts[p].Messages
}

func (t *Tree) same(m Message) int {
	for _, n := range t.byID[m.ID] {
		if sameBytes(t.Message(n), m) {
			return n
		}
	}
	return none
}

// HeaderLen returns how many messages at the start of s repeat what the line
// already has: all up to and including the marker that names the session that
// s continues.
func (s *Session) HeaderLen() int {
	previous := continued(s)
	if previous == "" {
		return 0
	}
	return 1 + slices.IndexFunc(s.Messages, func(m Message) bool { return m.marks(previous) })
}

// base finds the node that the first message of part p follows.
func (t *Tree) base(p, previous int, place [][]int) int {
	if header := t.Parts[p].HeaderLen(); header > 0 {
		if e, id := t.Parts[p].Messages[header-1].parent(); e == named {
			if n, ok := t.nearest(id, p); ok {
				return n
			}
		}
	}
	last := t.bases[previous]
	copied := t.Parts[previous].copied()
	for i, m := range t.messages(previous) {
		if i >= copied && m.late() {
			break
		}
		if n := place[previous][i]; n != none {
			last = n
		}
	}
	return last
}

// copied returns how many messages at the start of a snapshot were copied into
// it: what they say of the file that they came from does not hold here.
func (s *Session) copied() int {
	if !s.Meta.Snapshot {
		return 0
	}
	return 1 + slices.IndexFunc(s.Messages, func(m Message) bool { return m.ID == s.Meta.BranchPoint })
}

// link finds the parents of the messages of part p.
func (t *Tree) link(p int, place []int) {
	before := t.bases[p]
	for i, n := range place {
		if n == none {
			continue
		}
		node := &t.Nodes[n]
		if node.Part != p {
			before = n
			continue
		}
		switch e, id := t.Parts[p].Messages[i].parent(); e {
		case follows:
			node.Parent = before
		case named:
			parent, ok := t.nearest(id, p)
			node.Orphan = !ok
			if ok {
				node.Parent = parent
			}
		}
		before = n
	}
	t.ends[p] = before
}

// nearest returns the node with an id: the one in part p if there is one, else
// the last one in an earlier part, else any.
func (t *Tree) nearest(id string, p int) (int, bool) {
	found := none
	for _, n := range t.byID[id] {
		if t.Nodes[n].Part <= p || found == none {
			found = n
		}
		if t.Nodes[n].Part == p {
			break
		}
	}
	return found, found != none
}

// checkRings makes sure that every walk towards the root ends.
func (t *Tree) checkRings() error {
	const open, done = 1, 2
	state := make([]uint8, len(t.Nodes))
	for n := range t.Nodes {
		var walk []int
		for ; n != none && state[n] == 0; n = t.Nodes[n].Parent {
			state[n] = open
			walk = append(walk, n)
		}
		if n != none && state[n] == open {
			node := t.Nodes[n]
			m := t.Message(n)
			return &DamageError{
				Path:    FileName(t.Parts[node.Part].ID),
				Offset:  m.span.Start,
				Problem: fmt.Sprintf("the message %q is its own ancestor", m.ID),
			}
		}
		for _, w := range walk {
			state[w] = done
		}
	}
	return nil
}

// Follows returns the node that a message added to part p without a parent_id
// would have as its parent, -1 for none.
func (t *Tree) Follows(p int) int { return t.ends[p] }

// Message returns the message at node n.
func (t *Tree) Message(n int) Message {
	node := t.Nodes[n]
	return t.Parts[node.Part].Messages[node.Index]
}

// Find returns the nodes whose message has the id: more than one where two
// files have different messages under it.
func (t *Tree) Find(id string) []int { return t.byID[id] }

// Path returns the nodes from the root to n. The path to a node that is no
// node, -1, is empty.
func (t *Tree) Path(n int) []int {
	var path []int
	for ; n != none; n = t.Nodes[n].Parent {
		path = append(path, n)
	}
	slices.Reverse(path)
	return path
}

// Children returns for each node the nodes that have it as their parent,
// oldest first.
func (t *Tree) Children() [][]int {
	children := make([][]int, len(t.Nodes))
	for n, node := range t.Nodes {
		if node.Parent != none {
			children[node.Parent] = append(children[node.Parent], n)
		}
	}
	return children
}

// Newest returns the newest leaf in part p and the parts that continue it, or
// what p continues where they are empty, or -1 where that is empty too.
//
// In one file the later message is the newer one. Between files, each with a
// leaf of its own, the time of the leaves decides, one that has none counting as
// the oldest, and where they have the same, the later file.
func (t *Tree) Newest(p int) int {
	if len(t.Parts) == 0 {
		return none
	}
	newest := none
	for _, part := range t.Continuing(p) {
		n := t.lasts[part]
		if n != none && (newest == none || !t.older(n, newest)) {
			newest = n
		}
	}
	if newest == none {
		return t.bases[p]
	}
	return newest
}

// Leaf returns the last leaf among the messages of part p, -1 if there is none.
func (t *Tree) Leaf(p int) int { return t.lasts[p] }

// IsLeaf reports whether no message has n as its parent.
func (t *Tree) IsLeaf(n int) bool { return !t.inner[n] }

// findLeaves finds the nodes that have children, and the last leaf of each part.
func (t *Tree) findLeaves() {
	t.inner = make([]bool, len(t.Nodes))
	for _, node := range t.Nodes {
		if node.Parent != none {
			t.inner[node.Parent] = true
		}
	}
	t.lasts = slices.Repeat([]int{none}, len(t.Parts))
	for n, node := range t.Nodes {
		if !t.inner[n] {
			t.lasts[node.Part] = n
		}
	}
}

// Continuing returns part p and the parts that continue it, however far.
func (t *Tree) Continuing(p int) []int {
	list := []int{p}
	ids := map[string]bool{t.Parts[p].ID: true}
	for i := p + 1; i < len(t.Parts); i++ {
		if ids[continued(t.Parts[i])] {
			list = append(list, i)
			ids[t.Parts[i].ID] = true
		}
	}
	return list
}

// older reports whether a has an earlier time than b. A time that cannot be read
// is earlier than any other.
func (t *Tree) older(a, b int) bool {
	at, _ := t.Message(a).Time()
	bt, _ := t.Message(b).Time()
	return at.Before(bt)
}

// A Run is a piece of a path that stands in one file without a gap:
// Parts[Part].Messages[From:To].
type Run struct {
	Part, From, To int
}

// Runs joins the nodes of a path to runs.
func (t *Tree) Runs(path []int) []Run {
	var runs []Run
	for _, n := range path {
		node := t.Nodes[n]
		if last := len(runs) - 1; last >= 0 && runs[last].Part == node.Part && runs[last].To == node.Index {
			runs[last].To++
			continue
		}
		runs = append(runs, Run{node.Part, node.Index, node.Index + 1})
	}
	return runs
}
