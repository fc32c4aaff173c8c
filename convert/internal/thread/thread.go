// Package thread reads and writes logs whose records name their parents.
// Records with content make up messages; all others are riders, which are kept
// with a message.
package thread

import (
	"bytes"
	"encoding/json"
	"net/url"
	"slices"

	"github.com/bough-dev/bough/convert/internal/state"
	"github.com/bough-dev/bough/convert/transcript"
	"github.com/bough-dev/bough/internal/fields"
)

// A Reader reads records that link to their predecessor, and assigns them to
// messages. A rider belongs to the message after it, unless its chain leads
// elsewhere, so that a conversation that is cut after a message has no records
// beyond it.
type Reader struct {
	To   transcript.Sink
	Conv transcript.Conversation
	Held *transcript.Message // not passed on yet, because the next records may be part of it
	said int

	Riding []Rider          // the riders since then
	At     map[string]place // place of each record in the tree, by id
	late   map[string]string
}

// A Rider is a record without content.
type Rider struct {
	Raw    json.RawMessage
	ID     string // "" for a record outside of any chain
	parent string
}

// A place is the message that a record belongs to, "" for none. Its id may be
// that of a record that was not read yet.
type place struct {
	message string
	Is      bool // the record has content of the message
}

func NewReader(to transcript.Sink) *Reader {
	return &Reader{To: to, At: map[string]place{}, late: map[string]string{}}
}

// Fields encodes or decodes the state.
func (t *Reader) Fields(c *fields.Coder) {
	state.Conversation(c, &t.Conv)
	state.Message(c, &t.Held)
	c.Int(&t.said)
	fields.Slice(c, &t.Riding, func(r *Rider) {
		fields.Bytes(c, &r.Raw)
		c.String(&r.ID)
		c.String(&r.parent)
	})
	fields.Map(c, &t.At, func(p *place) {
		c.String(&p.message)
		c.Bool(&p.Is)
	})
	fields.Map(c, &t.late, c.String)
}

// Find returns the message of a record or of its nearest predecessor with one, "" for
// none. known is false if the chain ends at a missing record; then id is that record's.
func (t *Reader) Find(record string) (id string, known bool) {
	for record != "" {
		at, ok := t.At[record]
		if !ok {
			return record, false
		}
		if at.Is {
			return at.message, true
		}
		record = at.message
	}
	return "", true
}

// Above records that a record elsewhere precedes the conversation: its successors are roots.
func (t *Reader) Above(record string) {
	if _, taken := t.At[record]; !taken {
		t.At[record] = place{}
	}
}

// Ride adds a rider.
func (t *Reader) Ride(raw []byte, id, parent string) {
	t.Riding = append(t.Riding, Rider{Raw: bytes.Clone(raw), ID: id, parent: parent})
	if _, taken := t.At[id]; id == "" || taken {
		return
	}
	at, _ := t.Find(parent)
	if at == id {
		at = ""
	}
	t.At[id] = place{message: at}
}

// Say adds a record that begins a message. parent is the record before it;
// m.Parent is the message before it.
func (t *Reader) Say(m *transcript.Message, raw []byte, id, parent string) error {
	if t.Held == nil {
		for _, r := range t.Riding {
			t.Conv.Records = append(t.Conv.Records, r.Raw)
		}
	} else {
		n := t.split(parent)
		for i, r := range t.Riding {
			if i < n {
				t.Held.Records = append(t.Held.Records, r.Raw)
			} else {
				m.Records = append(m.Records, r.Raw)
			}
		}
		if err := t.To.Message(t.Held); err != nil {
			return err
		}
	}
	t.Riding = t.Riding[:0]
	m.Records = append(m.Records, bytes.Clone(raw))
	t.is(id, m.ID)
	if id, known := t.Find(parent); !known {
		t.late[m.ID] = id
	}
	t.Held = m
	t.said++
	return nil
}

// split returns how many of the pending riders belong to the previous message:
// those up to the last one that is in a chain other than that of parent.
func (t *Reader) split(parent string) int {
	n := 0
	for i := len(t.Riding) - 1; i >= 0; i-- {
		switch r := &t.Riding[i]; r.ID {
		case "":
		case parent:
			parent = r.parent
		default:
			n = max(n, i+1)
		}
	}
	return n
}

// Join adds a record that continues the held message.
func (t *Reader) Join(raw []byte, id string) {
	for _, r := range t.Riding {
		t.Held.Records = append(t.Held.Records, r.Raw)
	}
	t.Riding = t.Riding[:0]
	t.Held.Records = append(t.Held.Records, bytes.Clone(raw))
	t.is(id, t.Held.ID)
}

func (t *Reader) is(id, message string) {
	if id != "" && !t.At[id].Is {
		t.At[id] = place{message, true}
	}
}

// AgentID returns the id of the conversation of another assistant, whose own id is unique in a session only.
func AgentID(session, agent string) string { return session + "/" + url.PathEscape(agent) }

// Link links a conversation, whose ID is that of its session, with those of other assistants. If it is a side
// conversation and agent is not empty, the session began it, and its ID becomes that of the agent. began maps the id of
// each assistant that the conversation began to the id of the call.
func Link(conv *transcript.Conversation, agent string, began map[string]string) {
	session := conv.ID
	if conv.Side && agent != "" {
		conv.BegunBy, conv.ID = session, AgentID(session, agent)
	}
	if len(began) == 0 {
		return
	}
	conv.Began = make(map[string]string, len(began))
	for other, call := range began {
		conv.Began[AgentID(session, other)] = call
	}
}

// End passes on the held message, which is open or not, and ends the conversation conv, if
// there is one. It does not change t: more records may follow, and then another end.
func (t *Reader) End(to transcript.Sink, conv transcript.Conversation, open bool) error {
	if t.Held == nil {
		return nil
	}
	held := *t.Held
	held.Open = held.Open || open
	held.Records = slices.Clip(held.Records)
	for _, r := range t.Riding {
		held.Records = append(held.Records, r.Raw)
	}
	if err := to.Message(&held); err != nil {
		return err
	}
	for message, record := range t.late {
		if id, known := t.Find(record); known && id != record {
			if conv.Parents == nil {
				conv.Parents = map[string]string{}
			}
			conv.Parents[message] = id
		}
	}
	return to.End(&conv)
}
