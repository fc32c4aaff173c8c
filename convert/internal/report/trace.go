package report

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"slices"

	"github.com/bough-dev/bough/convert/content"
	"github.com/bough-dev/bough/convert/transcript"
)

// A Trace records where a writer put the messages of a transcript: by the ids
// that it wrote, or by records if the format has no ids.
type Trace struct {
	ids     map[string][]string
	records map[[8]byte][][]string // in the order of the file, for records that are equal
}

func NewTrace() *Trace {
	return &Trace{ids: map[string][]string{}, records: map[[8]byte][][]string{}}
}

// ID records that m is written with an id. On a nil trace it does nothing.
func (t *Trace) ID(written string, m *transcript.Message) {
	if t != nil && written != "" && !slices.Contains(t.ids[written], m.ID) {
		t.ids[written] = append(t.ids[written], m.ID)
	}
}

// Record records that a record has the content of messages, or a part of it.
func (t *Trace) Record(raw []byte, messages ...*transcript.Message) {
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

// take returns the messages for which a record was written. Each of several
// equal records is returned once.
func (t *Trace) take(raw []byte) []string {
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

// A ReadBack is a sink that keeps the data for matching messages.
type ReadBack struct {
	ID       string
	messages []readMessage
}

// A readMessage is a written message that was read back.
type readMessage struct {
	ID, parent string
	digest     uint64
	class      class
	records    []json.RawMessage
}

func (r *ReadBack) Message(m *transcript.Message) error {
	r.messages = append(r.messages, readMessage{m.ID, m.Parent, transcript.Digest(m), classOf(m), m.Records})
	return nil
}

func (r *ReadBack) End(c *transcript.Conversation) error {
	if r.ID == "" {
		r.ID = c.ID
	}
	for i := range r.messages {
		if parent, ok := c.Parents[r.messages[i].ID]; ok {
			r.messages[i].parent = parent
		}
	}
	return nil
}

func (r *ReadBack) Problem(transcript.Problem) {}

// A class is the kind of a message's step in a conversation. Formats split and merge
// messages, but never across classes.
type class byte

const (
	prompts class = iota
	answers
	results
)

func classOf(m *transcript.Message) class {
	switch {
	case m.HasPart(content.TypeToolResult):
		return results
	case m.Role == "assistant":
		return answers
	}
	return prompts
}

// Match maps each message that was read back to its original. A message with neither an
// id nor a record comes from the record of an earlier message: for example the results
// of calls in Gemini's records.
func (tr *Trace) Match(t *transcript.Transcript, back *ReadBack) []transcript.Same {
	read := back.messages
	m := matcher{in: map[string]*transcript.Message{}, children: map[string][]*transcript.Message{}, of: map[string]string{}, taken: map[string]bool{}}
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
			m.of[read[i].ID] = own[len(own)-1]
		}
	}
	for i := range read {
		r := &read[i]
		if m.of[r.ID] == "" {
			m.of[r.ID] = m.derived(r)
		}
	}
	list := make([]transcript.Same, 0, len(read))
	for i := range read {
		if of := m.of[read[i].ID]; of != "" {
			list = append(list, transcript.Same{ID: read[i].ID, Digest: read[i].digest, Of: of})
		}
	}
	return list
}

type matcher struct {
	in       map[string]*transcript.Message
	children map[string][]*transcript.Message
	of       map[string]string // maps messages that were read to originals
	taken    map[string]bool   // messages for which a record was written
}

// own returns the messages for which r was written, nil if unknown.
func (m *matcher) own(tr *Trace, r *readMessage) (own []string) {
	if list := tr.ids[r.ID]; len(list) > 0 {
		return list
	}
	for _, raw := range r.records {
		for _, id := range tr.take(raw) {
			if !slices.Contains(own, id) {
				own = append(own, id)
			}
		}
	}
	if m.in[r.ID] != nil && len(own) == 0 {
		own = []string{r.ID}
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
func (m *matcher) untaken(at *transcript.Message) *transcript.Message {
	for _, next := range m.children[at.ID] {
		if !m.taken[next.ID] {
			return next
		}
	}
	return nil
}
