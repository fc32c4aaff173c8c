package tree

import (
	"slices"

	"github.com/bough-dev/bough/convert/transcript"
)

// ParentsFirst returns the indices of a list in an order in which each follows its
// parent, and otherwise in list order. parents has the index of each parent, -1 for
// none; children, which may be nil, the indices of the children in their program's
// order.
func ParentsFirst(parents []int, children [][]int) []int {
	order := make([]int, 0, len(parents))
	done, walking := make([]bool, len(parents)), make([]bool, len(parents))
	next := make([]int, len(parents)) // of children
	take := func(i int) {
		if !done[i] {
			done[i] = true
			order = append(order, i)
		}
	}
	var chain []int
	for i := range parents {
		chain = chain[:0]
		at := i
		for ; at >= 0 && !done[at] && !walking[at]; at = parents[at] {
			walking[at] = true
			chain = append(chain, at)
		}
		if at >= 0 && !done[at] {
			take(at) // a cycle starts at its entry
		}
		for n := len(chain) - 1; n >= 0; n-- {
			at := chain[n]
			walking[at] = false
			if p := parents[at]; p >= 0 && children != nil {
				for !done[at] && next[p] < len(children[p]) {
					take(children[p][next[p]])
					next[p]++
				}
			}
			take(at)
		}
	}
	return order
}

// InLine returns the messages in an order that a linear log can have, with the
// path to the leaf last. If their order is one, it is not changed. A message
// whose parent is missing is a root.
func InLine(t *transcript.Transcript) []*transcript.Message {
	o := NewOutline(t)
	if isInLine(t, o) {
		return t.Messages
	}
	active := map[string]bool{}
	for _, m := range o.PathTo(t.Leaf) {
		active[m.ID] = true
	}
	list := make([]*transcript.Message, 0, len(t.Messages))
	stack := []string{""}
	for len(stack) > 0 {
		id := stack[len(stack)-1]
		next := o.Children[id]
		if len(next) == 0 {
			stack = stack[:len(stack)-1]
			continue
		}
		at := 0
		for at < len(next)-1 && active[next[at].ID] {
			at++
		}
		list = append(list, next[at])
		stack = append(stack, next[at].ID)
		o.Children[id] = slices.Delete(next, at, at+1)
	}
	return list
}

// isInLine reports whether every message comes when its parent is live, and the leaf is
// live in the end.
func isInLine(t *transcript.Transcript, o Outline) bool {
	depth := make(map[string]int, len(t.Messages)) // of live messages, from 1
	var live []string
	for _, m := range t.Messages {
		p := o.Parent(m)
		at := depth[p]
		if p != "" && (at == 0 || at > len(live) || live[at-1] != p) {
			return false
		}
		live = append(live[:at], m.ID)
		depth[m.ID] = at + 1
	}
	at := depth[t.Leaf]
	return t.Leaf == "" || at > 0 && at <= len(live) && live[at-1] == t.Leaf
}
