package convert

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"slices"

	"github.com/bough-dev/bough/internal/content"
)

// A trace is where a writer put the messages of a transcript: by the ids that it wrote,
// and by records where the format has no ids.
type trace struct {
	ids     map[string][]string
	records map[[8]byte][][]string // in the order of the file, for records that are equal
}

func newTrace() *trace {
	return &trace{ids: map[string][]string{}, records: map[[8]byte][][]string{}}
}

// id notes that m is written under an id. A nil trace notes nothing.
func (t *trace) id(written string, m *Message) {
	if t != nil && written != "" && !slices.Contains(t.ids[written], m.ID) {
		t.ids[written] = append(t.ids[written], m.ID)
	}
}

// record notes that a record says what messages say, or a part of it.
func (t *trace) record(raw []byte, messages ...*Message) {
	if t == nil {
		return
	}
	ids := make([]string, len(messages))
	for i, m := range messages {
		ids[i] = m.ID
	}
	key := keyOf(raw)
	t.records[key] = append(t.records[key], ids)
}

// take returns the messages that a record was written for. Of equal records each is taken
// once.
func (t *trace) take(raw []byte) []string {
	key := keyOf(raw)
	list := t.records[key]
	if len(list) == 0 {
		return nil
	}
	t.records[key] = list[1:]
	return list[0]
}

func keyOf(raw []byte) (key [8]byte) {
	sum := sha256.Sum256(bytes.TrimSpace(raw))
	copy(key[:], sum[:])
	return key
}

// A readBack is a sink that keeps what is needed to match messages.
type readBack struct {
	id       string
	messages []readMessage
}

// A readMessage is what is known of a message that was written and read again.
type readMessage struct {
	id, parent string
	digest     uint64
	class      class
	records    []json.RawMessage
}

func (r *readBack) Message(m *Message) error {
	r.messages = append(r.messages, readMessage{m.ID, m.Parent, Digest(m), classOf(m), m.Records})
	return nil
}

func (r *readBack) End(c *Conversation) error {
	if r.id == "" {
		r.id = c.ID
	}
	for i := range r.messages {
		if parent, ok := c.Parents[r.messages[i].id]; ok {
			r.messages[i].parent = parent
		}
	}
	return nil
}

func (r *readBack) Problem(Problem) {}

// A class is what kind of step a message is in a conversation. Formats split and merge
// messages, but never across classes.
type class byte

const (
	prompts class = iota
	answers
	results
)

func classOf(m *Message) class {
	switch {
	case m.HasPart(content.TypeToolResult):
		return results
	case m.Role == "assistant":
		return answers
	}
	return prompts
}

// match finds for each message that was read the one that it was written for. One that
// has neither an id nor a record of its own was read from the record of a message before
// it: the results of calls in Gemini's records, for example.
func (tr *trace) match(t *Transcript, back *readBack) []Same {
	read := back.messages
	m := matcher{in: map[string]*Message{}, children: map[string][]*Message{}, of: map[string]string{}, taken: map[string]bool{}}
	for _, msg := range t.Messages {
		m.in[msg.ID] = msg
		m.children[msg.Parent] = append(m.children[msg.Parent], msg)
	}
	for i := range read {
		own := m.own(tr, &read[i])
		for _, id := range own {
			m.taken[id] = true
		}
		if len(own) > 0 {
			m.of[read[i].id] = own[len(own)-1]
		}
	}
	for i := range read {
		r := &read[i]
		if m.of[r.id] == "" {
			m.of[r.id] = m.derived(r)
		}
	}
	list := make([]Same, 0, len(read))
	for i := range read {
		if of := m.of[read[i].id]; of != "" {
			list = append(list, Same{read[i].id, read[i].digest, of})
		}
	}
	return list
}

type matcher struct {
	in       map[string]*Message
	children map[string][]*Message
	of       map[string]string // the message that a message which was read is
	taken    map[string]bool   // the messages that some record was written for
}

// own returns the messages that r was written for, nil if that is not known.
func (m *matcher) own(tr *trace, r *readMessage) (own []string) {
	if list := tr.ids[r.id]; len(list) > 0 {
		return list
	}
	for _, raw := range r.records {
		for _, id := range tr.take(raw) {
			if !slices.Contains(own, id) {
				own = append(own, id)
			}
		}
	}
	if m.in[r.id] != nil && len(own) == 0 {
		own = []string{r.id}
	}
	return own
}

// derived returns the message that r is, which was read from the record of a message
// before it: the last of those after that one which have its class and no record of
// their own.
func (m *matcher) derived(r *readMessage) string {
	before := m.in[m.of[r.parent]]
	if before == nil {
		return ""
	}
	at, found := before, ""
	for {
		next := m.untaken(at)
		if next == nil || found != "" && classOf(next) != r.class {
			break
		}
		if classOf(next) == r.class {
			found = next.ID
		}
		at = next
	}
	if found == "" {
		return before.ID
	}
	for at := m.in[found]; at != before; at = m.in[at.Parent] {
		m.taken[at.ID] = true
	}
	return found
}

// untaken returns the child of a message that no record was written for, nil if there is
// none.
func (m *matcher) untaken(at *Message) *Message {
	for _, next := range m.children[at.ID] {
		if !m.taken[next.ID] {
			return next
		}
	}
	return nil
}
