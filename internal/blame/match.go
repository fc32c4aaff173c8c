package blame

import (
	"slices"
	"strings"

	"github.com/aymanbagabas/go-udiff/lcs"
)

// A matcher finds equal lines of two texts. Lines are numbers, so that they are compared fast;
// equal lines have the same number. The zero matcher is ready to use.
type matcher struct {
	known map[string]rune // by line its number
	lines []string        // by number
	seen  []seen          // by number; zero between calls
}

// A seen says how often a line is in each of two texts, and where.
type seen struct{ inA, inB, a, b int }

// number returns the numbers of the lines of a text. It is faster if many of the lines are those of
// like, in the same order.
func (m *matcher) number(text string, like []rune) []rune {
	list := make([]rune, 0, countLines(text))
	for line := range strings.Lines(text) {
		if len(like) > 0 && m.lines[like[0]] == line {
			list, like = append(list, like[0]), like[1:]
			continue
		}
		n := m.numberOf(line)
		list = append(list, n)
		const near = 64 // lines that are searched for n, after which the texts may be the same again
		if i := slices.Index(like[:min(near, len(like))], n); i >= 0 {
			like = like[i+1:]
		}
	}
	return list
}

func (m *matcher) numberOf(line string) rune {
	n, ok := m.known[line]
	if !ok {
		if m.known == nil {
			m.known = map[string]rune{}
		}
		line = strings.Clone(line) // else it would keep the text
		n = rune(len(m.lines))
		m.known[line], m.lines, m.seen = n, append(m.lines, line), append(m.seen, seen{})
	}
	return n
}

// match calls pair with the indexes of lines that are equal, in ascending order.
func (m *matcher) match(a, b []rune, pair func(i, j int)) {
	i, j := 0, 0
	for _, anchor := range append(ascending(m.unique(a, b)), [2]int{len(a), len(b)}) {
		between(a[i:anchor[0]], b[j:anchor[1]], func(x, y int) { pair(i+x, j+y) })
		if anchor[0] < len(a) {
			pair(anchor[0], anchor[1])
		}
		i, j = anchor[0]+1, anchor[1]+1
	}
}

// unique returns the pairs of lines that are unique in both texts, in the order of a.
func (m *matcher) unique(a, b []rune) [][2]int {
	for i, line := range a {
		m.seen[line].inA++
		m.seen[line].a = i
	}
	for j, line := range b {
		m.seen[line].inB++
		m.seen[line].b = j
	}
	pairs := make([][2]int, 0, min(len(a), len(b))+1) // [matcher.match] adds one
	for i, line := range a {
		if s := m.seen[line]; s.inA == 1 && s.inB == 1 {
			pairs = append(pairs, [2]int{i, s.b})
		}
	}
	for _, line := range a {
		m.seen[line] = seen{}
	}
	for _, line := range b {
		m.seen[line] = seen{}
	}
	return pairs
}

// ascending returns the longest subsequence whose second numbers ascend.
func ascending(pairs [][2]int) [][2]int {
	if slices.IsSortedFunc(pairs, func(x, y [2]int) int { return x[1] - y[1] }) {
		return pairs
	}
	var ends []int                    // by length - 1, the index of the pair with the smallest second number
	before := make([]int, len(pairs)) // the index of the pair before, -1 for none
	for i, p := range pairs {
		n, _ := slices.BinarySearchFunc(ends, p[1], func(end, second int) int { return pairs[end][1] - second })
		before[i] = -1
		if n > 0 {
			before[i] = ends[n-1]
		}
		if n == len(ends) {
			ends = append(ends, i)
		} else {
			ends[n] = i
		}
	}
	list := make([][2]int, len(ends))
	for i, n := ends[len(ends)-1], len(list)-1; n >= 0; i, n = before[i], n-1 {
		list[n] = pairs[i]
	}
	return list
}

// between is match for lines between two anchors.
func between(a, b []rune, pair func(i, j int)) {
	start := 0
	for start < min(len(a), len(b)) && a[start] == b[start] {
		pair(start, start)
		start++
	}
	end := 0
	for end < min(len(a), len(b))-start && a[len(a)-1-end] == b[len(b)-1-end] {
		end++
	}
	differ(a[start:len(a)-end], b[start:len(b)-end], func(i, j int) { pair(start+i, start+j) })
	for n := end; n > 0; n-- {
		pair(len(a)-n, len(b)-n)
	}
}

// differ is match by go-udiff.
func differ(a, b []rune, pair func(i, j int)) {
	if len(a) == 0 || len(b) == 0 {
		return
	}
	i, j := 0, 0
	for _, d := range append(lcs.DiffRunes(a, b), lcs.Diff{Start: len(a), End: len(a), ReplStart: len(b), ReplEnd: len(b)}) {
		for ; i < d.Start; i, j = i+1, j+1 {
			pair(i, j)
		}
		i, j = d.End, d.ReplEnd
	}
}
