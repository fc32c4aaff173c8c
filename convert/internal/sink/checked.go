package sink

import (
	"fmt"
	"hash/maphash"
	"maps"
	"slices"
	"strings"

	"github.com/bough-dev/bough/convert/transcript"
	"github.com/bough-dev/bough/internal/fields"
)

// checker is a sink that passes on valid messages: unique ids, no cycles.
type checker struct {
	to    transcript.Sink
	ended int
	begin *checker // has the messages before those of this one; nil if there are none

	seed    maphash.Seed
	digests map[string]uint64 // hash of each message, by id, but not of those in a decoded state
	parents map[string]string
	joined  map[string]string // [transcript.Message.Joined]
	order   []string          // the ids, in the order of the transcript

	awaited map[string]bool // predecessors of messages that were not read before these
	turned  bool            // one of them was read later: there may be a cycle
}

// after returns a checker for messages that follow those of c.
func (c *checker) after(to transcript.Sink) *checker {
	return &checker{to: to, begin: c, seed: c.seed, turned: c.turned}
}

// parent returns the parent of a message. It returns false if the message was not read.
func (c *checker) parent(id string) (parent string, ok bool) {
	if parent, ok = c.parents[id]; !ok && c.begin != nil {
		return c.begin.parent(id)
	}
	return parent, ok
}

// digestOf returns the hash of a message, if it is known.
func (c *checker) digestOf(id string) (digest uint64, ok bool) {
	if digest, ok = c.digests[id]; !ok && c.begin != nil {
		return c.begin.digestOf(id)
	}
	return digest, ok
}

func (c *checker) isAwaited(id string) bool {
	return c.awaited[id] || c.begin != nil && c.begin.isAwaited(id)
}

// merge adds the messages before those of c to c.
func (c *checker) merge() {
	if c.begin == nil {
		return
	}
	parents, joined := maps.Clone(c.begin.parents), maps.Clone(c.begin.joined)
	if parents == nil {
		parents, joined = map[string]string{}, map[string]string{}
	}
	maps.Copy(parents, c.parents)
	maps.Copy(joined, c.joined)
	c.parents, c.joined, c.order = parents, joined, slices.Concat(c.begin.order, c.order)
	c.begin = nil
}

// Message implements [transcript.Sink].
func (c *checker) Message(m *transcript.Message) error {
	if c.seed == (maphash.Seed{}) {
		c.seed = maphash.MakeSeed()
	}
	if c.digests == nil {
		c.digests = map[string]uint64{}
	}
	if c.parents == nil {
		c.parents, c.joined = map[string]string{}, map[string]string{}
	}
	for _, id := range []*string{&m.ID, &m.Parent, &m.Joined, &m.CopyOf} {
		*id = strings.Clone(*id) // not as a part of their record
	}
	digest := c.digest(m)
	if _, taken := c.parent(m.ID); taken {
		if known, ok := c.digestOf(m.ID); ok && known == digest {
			return nil
		}
		var first []byte // later records can join a message when it is stored already
		if len(m.Records) > 0 {
			first = m.Records[0]
		}
		for n := 0; taken; n++ {
			m.ID = transcript.ChainID(m.ID, fmt.Appendf(nil, "%s%d", first, n))
			_, taken = c.parent(m.ID)
		}
		c.Problem(transcript.Problem{What: "duplicate message id; the second message gets a new one: " + m.ID})
	}
	if m.Parent == m.ID {
		m.Parent = ""
	}
	if m.Joined == m.ID {
		m.Joined = ""
	}
	if m.Joined != "" {
		c.joined[m.ID] = m.Joined
	}
	c.digests[m.ID], c.parents[m.ID] = digest, m.Parent
	c.order = append(c.order, m.ID)
	c.turned = c.turned || c.isAwaited(m.ID)
	for _, before := range []string{m.Parent, m.Joined} {
		if _, known := c.parent(before); before != "" && !known {
			if c.awaited == nil {
				c.awaited = map[string]bool{}
			}
			c.awaited[before] = true
		}
	}
	return c.to.Message(m)
}

// digest returns a hash of role and content of m.
func (c *checker) digest(m *transcript.Message) uint64 {
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

// End implements [transcript.Sink].
func (c *checker) End(conv *transcript.Conversation) error {
	if c.turned || len(conv.Parents) > 0 {
		c.merge()
		c.endCycles(conv)
	}
	if _, ok := c.parent(conv.Leaf); !ok {
		conv.Leaf = ""
	}
	if conv.Leaf == "" {
		conv.Leaf = c.last()
	}
	c.ended++
	c.begin, c.digests, c.parents, c.joined, c.order, c.awaited, c.turned = nil, nil, nil, nil, nil, nil, false
	return c.to.End(conv)
}

// last returns the id of the last message, "" if there is none.
func (c *checker) last() string {
	switch {
	case len(c.order) > 0:
		return c.order[len(c.order)-1]
	case c.begin != nil:
		return c.begin.last()
	}
	return ""
}

// endCycles makes one message of each cycle a root.
func (c *checker) endCycles(conv *transcript.Conversation) {
	for id, parent := range conv.Parents {
		if _, ok := c.parents[id]; ok {
			c.parents[id] = parent
		}
	}
	for _, id := range c.breakCycles() {
		c.Problem(transcript.Problem{What: fmt.Sprintf("the message %s is in a cycle; it is treated as a root", id)})
		if conv.Parents == nil {
			conv.Parents = map[string]string{}
		}
		conv.Parents[id] = ""
	}
}

// before returns the id of the message's predecessor, "" for none.
func (c *checker) before(id string) string {
	for _, at := range []string{c.parents[id], c.joined[id]} {
		if _, ok := c.parents[at]; ok {
			return at
		}
	}
	return ""
}

// breakCycles removes the parent of one message in each cycle and returns these
// messages. It is the first message of the cycle in the transcript; its parent
// comes later.
func (c *checker) breakCycles() (list []string) {
	const walking, done = 1, 2
	state := make(map[string]int8, len(c.order))
	var places map[string]int
	for _, id := range c.order {
		var path []string
		for at := id; at != "" && state[at] != done; at = c.before(at) {
			if state[at] != walking {
				state[at] = walking
				path = append(path, at)
				continue
			}
			if places == nil {
				places = make(map[string]int, len(c.order))
				for i, id := range c.order {
					places[id] = i
				}
			}
			first := slices.Index(path, at)
			for i := first; i < len(path); i++ {
				if places[path[i]] < places[path[first]] {
					first = i
				}
			}
			at = path[first]
			if list = append(list, at); c.parents[at] == "" {
				delete(c.joined, at)
			}
			c.parents[at] = ""
			for _, id := range path[first+1:] {
				state[id] = 0
			}
			path = path[:first+1]
		}
		for _, at := range path {
			state[at] = done
		}
	}
	return list
}

// fields encodes or decodes the state. It has no hashes of messages, whose seed is that of this
// process: after decoding, a second message with the id of an earlier one is a problem even if
// the two are equal.
func (c *checker) fields(f *fields.Coder) {
	fields.Slice(f, &c.order, f.String)
	fields.Map(f, &c.parents, f.String)
	fields.Map(f, &c.joined, f.String)
	fields.Map(f, &c.awaited, f.Bool)
	f.Bool(&c.turned)
}

// Problem implements [transcript.Sink].
func (c *checker) Problem(p transcript.Problem) { c.to.Problem(p) }
