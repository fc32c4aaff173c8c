package convert

import (
	"bufio"
	"encoding/json"
	"io"
)

// An export is one conversation of a file that a web service gives to its users.
type export struct {
	around hull // the conversation without its messages
	items  []exported
}

// An exported is one member of what holds the messages: raw, and its name where that is
// an object.
type exported struct {
	key string
	raw json.RawMessage
}

// readExport reads a conversation, or an array of them, whose messages are in the member
// inside. One is in memory at a time.
func readExport(in io.Reader, inside, empty string, to Sink, f func(*export) error) error {
	r := bufio.NewReader(skipBOM(in))
	depth := 0
	for {
		c, err := r.ReadByte()
		if err != nil {
			return nil // nothing but white space
		}
		if c == '[' {
			depth = 1
		}
		if c != ' ' && c != '\t' && c != '\r' && c != '\n' {
			break
		}
	}
	if err := r.UnreadByte(); err != nil {
		return err
	}
	var e export
	end := func() error {
		done := e
		e = export{}
		if len(done.items) == 0 {
			if done.around.b != nil {
				to.Problem(Problem{What: "a conversation has no messages: " + textOf(done.around.record(), "title") + textOf(done.around.record(), "name")})
			}
			return nil
		}
		return f(&done)
	}
	into := func(path []string) bool {
		return len(path) <= depth || len(path) == depth+1 && path[depth] == inside
	}
	err := walk(r, into, func(v visit) error {
		switch n := len(v.path) - depth; {
		case n == 0 && v.raw == nil:
			return end()
		case n == 0:
			to.Problem(Problem{Offset: v.offset, What: "it is no conversation"})
		case n == 1 && v.raw == nil:
			e.around.add(inside, []byte(empty))
		case n == 1 && v.path[depth] == inside: // it holds nothing
		case n == 1:
			e.around.add(v.path[depth], v.raw)
		case n == 2 && v.raw != nil:
			e.items = append(e.items, exported{v.path[depth+1], v.raw})
		}
		return nil
	})
	if what := torn(err); what != "" && (len(e.items) > 0 || depth == 1) {
		to.Problem(Problem{What: what})
		if e.items != nil {
			e.around.add(inside, []byte(empty))
		}
		err = end()
	}
	return err
}

// parentsFirst returns the places of a list in an order where each comes after its
// parent, and otherwise as they stand. parents are the places of the parents, -1 for
// none; children, which may be nil, the places of the children in the order that their
// program has for them.
func parentsFirst(parents []int, children [][]int) []int {
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
			take(at) // a ring begins where it is entered
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

// outline is what is known of the messages of a transcript that is written: their places
// by id, and the children of each.
type outline struct {
	at       map[string]int
	children map[string][]*Message // "" those without a parent here
}

func (t *Transcript) outline() outline {
	o := outline{map[string]int{}, map[string][]*Message{}}
	for i, m := range t.Messages {
		o.at[m.ID] = i
	}
	for _, m := range t.Messages {
		p := m.Parent
		if _, ok := o.at[p]; !ok {
			p = ""
		}
		o.children[p] = append(o.children[p], m)
	}
	return o
}

// leaf returns the id of the message where the conversation goes on.
func (t *Transcript) leaf() string {
	for _, m := range t.Messages {
		if m.ID == t.Leaf {
			return m.ID
		}
	}
	if n := len(t.Messages); n > 0 {
		return t.Messages[n-1].ID
	}
	return ""
}

func (o outline) has(id string) bool {
	_, ok := o.at[id]
	return ok
}
