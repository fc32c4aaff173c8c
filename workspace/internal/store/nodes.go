package store

import (
	"slices"

	"github.com/bough-dev/bough/internal/rawjson"
)

// Every returns all nodes of l.
func (l *Line) Every() []int {
	nodes := make([]int, l.Len())
	for n := range nodes {
		nodes[n] = n
	}
	return nodes
}

// Stored reports whether m is in a format of its own; [session.Outline.Stored]
// will report the same.
func (m *Message) Stored() bool {
	return slices.ContainsFunc(m.Own, func(p rawjson.Pair) bool { return p.Key == "format" })
}
