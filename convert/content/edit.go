package content

import (
	"slices"

	"github.com/tidwall/sjson"
)

// Edit shortens a list of messages. It returns the remaining messages and their
// indexes in list. It edits only the first n messages, so that a pinned prefix does
// not change; n is len(list) if nothing is pinned. count counts tokens. list is not
// modified.
//
// A tool result is removed only together with its call, and with everything else
// that the messages of the two call or answer. A message that is connected in this
// way to one after the first n is never removed.
func Edit(list []*Message, n int, strategies []Strategy, count func(text string) int) (edited []*Message, places []int) {
	edited = slices.Clone(list)
	places = make([]int, len(list))
	for i := range places {
		places[i] = i
	}
	for _, s := range strategies {
		switch s.kind {
		case removeResults:
			s.removeResults(edited[:n], count)
		case removeArguments:
			s.removeArguments(edited[:n], count)
		case middleOut, tokenLimit:
			gone := s.shorten(edited, n, count)
			left := 0
			for i := range edited {
				if !gone[i] {
					edited[left], places[left] = edited[i], places[i]
					left++
				} else {
					n--
				}
			}
			edited, places = edited[:left], places[:left]
		}
	}
	return edited, places
}

// A place is the position of a part in a list of messages.
type place struct{ message, part int }

// older returns the places of the parts of a type, except the newest ones that are
// kept and those for which stays returns true.
func (s *Strategy) older(list []*Message, kind string, stays func(tool) bool) []place {
	var found []place
	for i, m := range list {
		for j := range m.Parts {
			if p := &m.Parts[j]; p.Type == kind && !stays(p.tool()) {
				found = append(found, place{i, j})
			}
		}
	}
	return found[:max(0, len(found)-s.keep)]
}

// edit changes the part at a place in a copy of its message.
func edit(list []*Message, at place, change func(*Part)) {
	m := *list[at.message]
	m.Parts = slices.Clone(m.Parts)
	change(&m.Parts[at.part])
	list[at.message] = &m
}

// removeResults replaces older results by a placeholder.
func (s *Strategy) removeResults(list []*Message, count func(string) int) {
	names := namesOf(list)
	older := s.older(list, TypeToolResult, func(t tool) bool {
		name := names[t.id]
		if name == "" {
			name = t.name
		}
		return slices.Contains(s.tools, name)
	})
	for _, at := range older {
		if p := &list[at.message].Parts[at.part]; s.over > 0 && (p.Text == "" || count(p.Text) <= s.over) {
			continue
		}
		edit(list, at, func(p *Part) {
			p.Text = s.placeholder
			if p.meta("content") != nil { // the complete result
				p.Meta = must(sjson.DeleteBytes(p.Meta, "content"))
			}
		})
	}
}

// removeArguments removes the arguments of older calls.
func (s *Strategy) removeArguments(list []*Message, count func(string) int) {
	older := s.older(list, TypeToolCall, func(t tool) bool { return slices.Contains(s.tools, t.name) })
	for _, at := range older {
		p := &list[at.message].Parts[at.part]
		if t := p.tool(); p.Meta == nil || s.over > 0 && (!t.hasArgs || count(t.arguments) <= s.over) {
			continue
		}
		edit(list, at, func(p *Part) {
			p.Meta = must(sjson.SetBytes(p.Meta, "arguments", "{}"))
		})
	}
}

func must(b []byte, err error) []byte {
	if err != nil {
		panic("content: " + err.Error())
	}
	return b
}

// shorten returns which messages to remove so that the first n have no more tokens
// than the strategy allows, as far as possible.
func (s *Strategy) shorten(list []*Message, n int, count func(string) int) (gone []bool) {
	gone = make([]bool, len(list))
	tokens := make([]int, n)
	total := 0
	for i, m := range list[:n] {
		tokens[i] = m.Tokens(count)
		total += tokens[i]
	}
	if total <= s.tokens {
		return gone
	}
	groups := tied(list)
	var free []int // the messages that may be removed
	for i := range n {
		if g := groups[i]; g[len(g)-1] < n {
			free = append(free, i)
		}
	}
	left := newRow(free, n)
	for total > s.tokens && left.len > 0 {
		first := left.first()
		if s.kind == middleOut && left.len > 2 {
			first = left.middle()
		}
		for _, i := range groups[first] {
			gone[i] = true
			total -= tokens[i]
			left.remove(i)
		}
	}
	return gone
}

// tied returns for each message the indexes of those that are removed with it, in
// order: those that share the id of a tool call with it, directly or indirectly.
func tied(list []*Message) [][]int {
	group := make([]int, len(list)) // union-find: for each message another of its group, or itself
	root := func(i int) int {
		for group[i] != i {
			group[i] = group[group[i]]
			i = group[i]
		}
		return i
	}
	first := map[string]int{}
	for i, m := range list {
		group[i] = i
		for j := range m.Parts {
			p := &m.Parts[j]
			if p.Type != TypeToolCall && p.Type != TypeToolResult {
				continue
			}
			id := p.tool().id
			if id == "" {
				continue
			}
			other, ok := first[id]
			if !ok {
				first[id] = i
				continue
			}
			a, b := root(other), root(i)
			group[max(a, b)] = min(a, b)
		}
	}
	groups := make([][]int, len(list))
	for i := range list {
		groups[root(i)] = append(groups[root(i)], i)
	}
	for i := range list {
		groups[i] = groups[root(i)]
	}
	return groups
}
