package convert

import (
	"slices"
)

// A linear log has messages one after the other, and marks that say that the program went
// back over some. What is not gone back over is live: the path that it goes on with.
type linear struct {
	live []*Message
	// turns says that a mark can lead to the place before a message.
	turns func(*Message) bool
}

// A step is what is written of a linear log: a mark that goes back over what was live,
// or a message, again if it was written before and was gone back over only because no
// mark leads to the place after it.
type step struct {
	over  []*Message
	m     *Message
	again bool
}

// back returns the steps that make the message of an id the last one that is live, the
// beginning for "". It reports false if no mark leads there.
func (l *linear) back(id string) ([]step, bool) {
	if n := len(l.live); n > 0 && l.live[n-1].ID == id {
		return nil, true
	}
	at := slices.IndexFunc(l.live, func(m *Message) bool { return m.ID == id })
	if at == len(l.live)-1 {
		return nil, true
	}
	to := at + 1
	for to >= 0 && !l.turns(l.live[to]) {
		to--
	}
	if to < 0 {
		return nil, false
	}
	steps := []step{{over: slices.Clone(l.live[to:])}}
	for _, m := range l.live[to : at+1] {
		steps = append(steps, step{m: m, again: true})
	}
	l.live = l.live[:at+1]
	return steps, true
}

// inLine returns messages in an order in which a linear log can have them, with the path
// to leaf last: as they are, if that is one. A message whose parent is not there is a
// root.
func inLine(messages []*Message, leaf string) []*Message {
	there := make(map[string]bool, len(messages))
	for _, m := range messages {
		there[m.ID] = true
	}
	parent := func(m *Message) string {
		if there[m.Parent] {
			return m.Parent
		}
		return ""
	}
	if isInLine(messages, parent, leaf) {
		return messages
	}
	children := map[string][]*Message{}
	above := make(map[string]string, len(messages))
	for _, m := range messages {
		children[parent(m)] = append(children[parent(m)], m)
		above[m.ID] = parent(m)
	}
	active := map[string]bool{}
	for id := leaf; id != "" && !active[id]; id = above[id] {
		active[id] = true
	}
	list := make([]*Message, 0, len(messages))
	stack := []string{""}
	for len(stack) > 0 {
		id := stack[len(stack)-1]
		next := children[id]
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
		children[id] = slices.Delete(next, at, at+1)
	}
	return list
}

// isInLine reports whether every message comes when its parent is live, and the leaf is
// live in the end.
func isInLine(messages []*Message, parent func(*Message) string, leaf string) bool {
	depth := make(map[string]int, len(messages)) // of what is live, from 1
	var live []string
	for _, m := range messages {
		p := parent(m)
		at := depth[p]
		if p != "" && (at == 0 || at > len(live) || live[at-1] != p) {
			return false
		}
		live = append(live[:at], m.ID)
		depth[m.ID] = at + 1
	}
	at := depth[leaf]
	return leaf == "" || at > 0 && at <= len(live) && live[at-1] == leaf
}

// known returns the id of the parent of m, "" if it is not among those of ids.
func (m *Message) known(ids map[string]bool) string {
	if ids[m.Parent] {
		return m.Parent
	}
	return ""
}
