package convert

import (
	"bytes"
	"encoding/json"
	"fmt"
	"hash/maphash"
	"strings"
)

// checked is a sink that passes on what is sound: unique ids, no rings.
type checked struct {
	to    Sink
	ended int

	seed    maphash.Seed
	digests map[string]uint64 // what each message is, by its id
	parents map[string]string
	order   []string // the ids, in the order of the transcript
}

// Message implements [Sink].
func (c *checked) Message(m *Message) error {
	if c.digests == nil {
		c.seed = maphash.MakeSeed()
		c.digests, c.parents = map[string]uint64{}, map[string]string{}
	}
	m.ID, m.Parent, m.CopyOf = strings.Clone(m.ID), strings.Clone(m.Parent), strings.Clone(m.CopyOf) // not as a part of their record
	digest := c.digest(m)
	if known, taken := c.digests[m.ID]; taken {
		if known == digest {
			return nil
		}
		for n := 0; taken; n++ {
			m.ID = ChainID(m.ID, fmt.Appendf(nil, "%s%d", bytes.Join(toBytes(m.Records), nil), n))
			_, taken = c.digests[m.ID]
		}
		c.Problem(Problem{What: "two messages have one id; the second has another one now: " + m.ID})
	}
	if m.Parent == m.ID {
		m.Parent = ""
	}
	c.digests[m.ID], c.parents[m.ID] = digest, m.Parent
	c.order = append(c.order, m.ID)
	return c.to.Message(m)
}

// digest returns a number for who says what in m.
func (c *checked) digest(m *Message) uint64 {
	var h maphash.Hash
	h.SetSeed(c.seed)
	h.WriteString(m.Role)
	for _, p := range m.Parts {
		h.WriteString(p.Type)
		h.WriteString(p.Text)
		h.Write(p.Meta)
	}
	return h.Sum64()
}

// End implements [Sink].
func (c *checked) End(conv *Conversation) error {
	for id, parent := range conv.Parents {
		if _, ok := c.parents[id]; ok {
			c.parents[id] = parent
		}
	}
	for _, id := range c.ring() {
		c.Problem(Problem{What: fmt.Sprintf("the message %s comes after itself; it is read as a beginning", id)})
		if conv.Parents == nil {
			conv.Parents = map[string]string{}
		}
		conv.Parents[id] = ""
	}
	if _, ok := c.parents[conv.Leaf]; !ok {
		conv.Leaf = ""
	}
	if conv.Leaf == "" && len(c.order) > 0 {
		conv.Leaf = c.order[len(c.order)-1]
	}
	c.ended++
	c.digests, c.parents, c.order = nil, nil, nil
	return c.to.End(conv)
}

// ring returns one message of each ring of parents, and makes a root of it.
func (c *checked) ring() (list []string) {
	const walking, done = 1, 2
	state := make(map[string]int8, len(c.order))
	for _, id := range c.order {
		var path []string
		for at := id; state[at] != done; at = c.parents[at] {
			if _, ok := c.parents[at]; !ok {
				break
			}
			if state[at] == walking {
				list = append(list, at)
				c.parents[at] = ""
				break
			}
			state[at] = walking
			path = append(path, at)
		}
		for _, at := range path {
			state[at] = done
		}
	}
	return list
}

// Problem implements [Sink].
func (c *checked) Problem(p Problem) { c.to.Problem(p) }

func toBytes(records []json.RawMessage) [][]byte {
	list := make([][]byte, len(records))
	for i, r := range records {
		list[i] = r
	}
	return list
}
