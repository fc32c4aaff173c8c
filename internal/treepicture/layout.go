package treepicture

import (
	"cmp"
	"slices"
)

// DefaultLanes is the default maximum number of lanes of a tree.
const DefaultLanes = 40

// A Layout is the rows of a picture, from top to bottom.
type Layout struct {
	Rows  []Row
	Lanes int // maximum number of lanes of a tree
}

// A Row is one row.
type Row struct {
	Nodes   []int // one node, or the nodes of a folded chain, in order
	From    int   // the row of the parent, -1 for the root of a tree
	Lane    int   // numbered from 0 within its tree
	Omitted Omission
}

// An Omission is the branches at the nodes of a row that are not drawn.
type Omission struct {
	Branches int
	Nodes    []int // of these branches and of branches that leave them
}

// Folded reports whether the row is a folded chain.
func (r *Row) Folded() bool { return len(r.Nodes) > 1 }

// Lay returns the layout of trees, one below the other. A tree has at most lanes lanes,
// unless more are needed for marked branches; if lanes is 0, DefaultLanes.
func Lay(nodes []Node, lanes int) *Layout {
	l := newLayouter(nodes)
	l.omit(cmp.Or(lanes, DefaultLanes))
	l.choose()
	for i := range nodes {
		if nodes[i].Parent < 0 {
			l.tree(i)
		}
	}
	return &l.out
}

// A layouter computes a layout. Its slices have an element for each node.
type layouter struct {
	nodes    []Node
	children [][]int
	size     []int  // number of nodes of the subtree
	marked   []bool // the subtree has a node that must be drawn
	next     []int  // the child that continues the lane, -1 for none
	omitted  []bool // the branch that begins with the node is not drawn
	alone    []bool // the node has a row of its own

	out Layout
}

func newLayouter(nodes []Node) *layouter {
	n := len(nodes)
	l := &layouter{
		nodes: nodes, children: childrenOf(nodes),
		size: make([]int, n), marked: make([]bool, n), next: make([]int, n), omitted: make([]bool, n), alone: make([]bool, n),
	}
	for i := range nodes {
		for _, end := range nodes[i].Merged {
			l.alone[end], l.marked[end] = true, true
		}
	}
	for i := n - 1; i >= 0; i-- {
		l.size[i]++
		l.marked[i] = l.marked[i] || nodes[i].Active || keeps(nodes[i].Marks)
		if p := nodes[i].Parent; p >= 0 {
			l.size[p] += l.size[i]
			l.marked[p] = l.marked[p] || l.marked[i]
		}
	}
	for i := range nodes {
		l.next[i] = -1
		for _, c := range l.children[i] {
			if !nodes[c].Edge.leaves() && (l.next[i] < 0 || l.size[c] > l.size[l.next[i]]) {
				l.next[i] = c
			}
		}
	}
	return l
}

// childrenOf returns the children of each node, in order. It panics if a node is before its
// parent.
func childrenOf(nodes []Node) [][]int {
	counts := make([]int, len(nodes))
	for i := range nodes {
		if p := nodes[i].Parent; p >= i {
			panic("treepicture: a node before its parent")
		} else if p >= 0 {
			counts[p]++
		}
	}
	all, children := make([]int, len(nodes)), make([][]int, len(nodes))
	for i, n := range counts {
		children[i], all = all[:0:n], all[n:]
	}
	for i := range nodes {
		if p := nodes[i].Parent; p >= 0 {
			children[p] = append(children[p], i)
		}
	}
	return children
}

// keeps reports whether a node with the marks is not folded.
func keeps(marks []Mark) bool {
	return slices.ContainsFunc(marks, func(m Mark) bool { return m.Kind != AutoCheckpoint })
}

// omit chooses the branches that are not drawn. A branch is never smaller than those that
// leave it, so the largest branches include the branches that they leave.
func (l *layouter) omit(lanes int) {
	begins := make([]int, len(l.nodes)) // the root of each node
	marked := map[int]int{}             // number of branches that must be drawn, by root
	others := map[int][]int{}
	for i := range l.nodes {
		p := l.nodes[i].Parent
		if p < 0 {
			begins[i] = i
			continue
		}
		root := begins[p]
		begins[i] = root
		switch {
		case l.next[p] == i:
		case l.marked[i]:
			marked[root]++
		default:
			others[root] = append(others[root], i)
		}
	}
	for root, list := range others {
		room := max(0, lanes-1-marked[root])
		if len(list) <= room {
			continue
		}
		slices.SortFunc(list, func(a, b int) int { return cmp.Or(cmp.Compare(l.size[b], l.size[a]), cmp.Compare(a, b)) })
		for _, i := range list[room:] {
			l.omitted[i] = true
		}
	}
}

// choose decides which nodes have a row of their own.
func (l *layouter) choose() {
	for i := range l.nodes {
		n := &l.nodes[i]
		drawn := l.drawn(i)
		l.alone[i] = l.alone[i] || n.Parent < 0 || n.Kind == Conversation || n.Edge.leaves() || keeps(n.Marks) ||
			l.next[i] < 0 || drawn != 1
		if drawn > 1 {
			for _, c := range l.children[i] {
				l.alone[c] = true
			}
		}
	}
}

// drawn returns how many children of a node are drawn.
func (l *layouter) drawn(i int) (n int) {
	for _, c := range l.children[i] {
		if !l.omitted[c] {
			n++
		}
	}
	return n
}

// tree adds the rows of the tree with a root.
func (l *layouter) tree(root int) {
	type waiting struct{ node, from, lane int } // lane is -1 for a new one
	stack := []waiting{{root, -1, -1}}
	lanes := 0
	for len(stack) > 0 {
		w := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if w.lane < 0 {
			w.lane = lanes
			lanes++
		}
		r := Row{Nodes: l.chain(w.node), From: w.from, Lane: w.lane}
		last := r.Nodes[len(r.Nodes)-1]
		if next := l.next[last]; next >= 0 {
			stack = append(stack, waiting{next, len(l.out.Rows), w.lane})
		}
		for _, c := range slices.Backward(l.children[last]) {
			if c != l.next[last] && !l.omitted[c] {
				stack = append(stack, waiting{c, len(l.out.Rows), -1})
			}
		}
		for _, i := range r.Nodes {
			for _, c := range l.children[i] {
				if l.omitted[c] {
					r.Omitted.Branches++
					r.Omitted.Nodes = append(r.Omitted.Nodes, l.below(c)...)
				}
			}
		}
		l.out.Rows = append(l.out.Rows, r)
	}
	l.out.Lanes = max(l.out.Lanes, lanes)
}

// chain returns the nodes of the row that begins with node i.
func (l *layouter) chain(i int) []int {
	nodes := []int{i}
	if l.alone[i] {
		return nodes
	}
	for next := l.next[i]; next >= 0 && !l.alone[next]; next = l.next[next] {
		nodes = append(nodes, next)
	}
	return nodes
}

// below returns the nodes of a subtree.
func (l *layouter) below(i int) []int {
	nodes := []int{i}
	for at := 0; at < len(nodes); at++ {
		nodes = append(nodes, l.children[nodes[at]]...)
	}
	return nodes
}
