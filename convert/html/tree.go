package html

import (
	"strconv"
	"strings"
)

// A tree divides the messages into lines: the active path, and the branches
// beside it.
type tree struct {
	lines   []*line       // the first is the active path
	leaving map[int][]int // for a message, the lines that branch off after it
	names   []string      // the anchors of the messages
}

// A line is a sequence of messages.
type line struct {
	nodes []int // indexes of messages
	from  int   // the message before the first, -1 for none
	depth int   // number of lines on the way to the active path, 0 for that itself
}

// name returns the anchor of a message.
func (t *tree) name(i int) string { return t.names[i] }

// anchors returns the anchor of each message: "m-" and its ID, which can be
// used in a REF. If the ID is not safe in a link, or was used before, the
// anchor is "m" and the message's position, from 1.
func anchors(messages []Message) []string {
	names := make([]string, len(messages))
	taken := make(map[string]bool, len(messages))
	for i := range messages {
		id := messages[i].ID
		if !isAnchor(id) || taken[id] {
			names[i] = "m" + strconv.Itoa(i+1)
			continue
		}
		taken[id] = true
		names[i] = "m-" + id
	}
	return names
}

// isAnchor reports whether a link can lead to id without escapes.
func isAnchor(id string) bool {
	const most = 200
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_' || r == '.' || r == ':'
	}
	return id != "" && len(id) <= most && strings.IndexFunc(id, func(r rune) bool { return !plain(r) }) < 0
}

// plant divides messages into lines. A message with an unknown parent, or in a
// cycle, becomes a root. If several messages have the same ID, the first is the
// parent.
func plant(messages []Message, leaf string) *tree {
	t := &tree{leaving: map[int][]int{}, names: anchors(messages)}
	n := len(messages)
	if n == 0 {
		return t
	}
	byID := make(map[string]int, n)
	for i := range messages {
		if _, ok := byID[messages[i].ID]; !ok {
			byID[messages[i].ID] = i
		}
	}
	parents := make([]int, n)
	for i := range messages {
		parents[i] = -1
		if p, ok := byID[messages[i].Parent]; ok && messages[i].Parent != "" {
			parents[i] = p
		}
	}
	cut(parents)
	children := make([][]int, n)
	var roots []int
	for i, p := range parents {
		if p < 0 {
			roots = append(roots, i)
		} else {
			children[p] = append(children[p], i)
		}
	}
	end, ok := byID[leaf]
	if !ok || leaf == "" {
		end = n - 1
	}
	active := make([]bool, n)
	first := end
	for i := end; i >= 0; i = parents[i] {
		active[i], first = true, i
	}
	t.grow(first, -1, 0, children, active)
	for _, root := range roots {
		if root != first {
			t.grow(root, -1, 1, children, active)
		}
	}
	return t
}

// grow adds the line that begins with a message, and the lines that branch off. A line
// continues with the active message, or else the newest; the active path ends at its
// leaf.
func (t *tree) grow(first, from, depth int, children [][]int, active []bool) {
	type beginning struct{ first, from, depth int }
	next := []beginning{{first, from, depth}}
	for len(next) > 0 {
		b := next[len(next)-1]
		next = next[:len(next)-1]
		l := &line{from: b.from, depth: b.depth}
		t.lines = append(t.lines, l)
		if b.from >= 0 {
			t.leaving[b.from] = append(t.leaving[b.from], len(t.lines)-1)
		}
		var leaving []beginning
		for i := b.first; i >= 0; {
			l.nodes = append(l.nodes, i)
			on := -1
			for _, c := range children[i] {
				if active[c] || !active[i] {
					on = c
				}
				if active[c] {
					break
				}
			}
			for _, c := range children[i] {
				if c != on {
					leaving = append(leaving, beginning{c, i, b.depth + 1})
				}
			}
			i = on
		}
		for i := len(leaving) - 1; i >= 0; i-- {
			next = append(next, leaving[i])
		}
	}
}

// cut makes messages in a cycle roots.
func cut(parents []int) {
	const unseen = 0
	seen := make([]int, len(parents)) // number of the walk that visited a message
	for i := range parents {
		for at := i; at >= 0 && seen[at] == unseen; at = parents[at] {
			seen[at] = i + 1
			if p := parents[at]; p >= 0 && seen[p] == i+1 {
				parents[p] = -1
			}
		}
	}
}
