// Package riders assigns the records of a linear log that have no content of their own to
// the messages before and after them.
package riders

import (
	"encoding/json"
	"slices"

	"github.com/bough-dev/bough/convert/transcript"
	"github.com/bough-dev/bough/internal/fields"
)

// A Rider is a record of a log that is not yet assigned to a message.
type Rider struct {
	Raw   json.RawMessage
	Opens bool // it belongs to the message after it, not to the one before
}

// A List has the riders since the last message, in order.
type List []Rider

// Add appends a rider.
func (l *List) Add(raw json.RawMessage, opens bool) { *l = append(*l, Rider{raw, opens}) }

// Opened reports whether a rider belongs to the next message.
func (l List) Opened() bool { return slices.ContainsFunc(l, func(r Rider) bool { return r.Opens }) }

// Records returns the records of all riders.
func (l List) Records() []json.RawMessage {
	list := make([]json.RawMessage, len(l))
	for i, r := range l {
		list[i] = r.Raw
	}
	return list
}

// Assign removes the first n riders and appends their records to those of messages: the
// riders from the first one that opens a message to m, those before it to held, the message
// before m, or, if that is nil, to the conversation.
func (l *List) Assign(n int, m, held *transcript.Message, c *transcript.Conversation) {
	first := (*l)[:n]
	split := slices.IndexFunc(first, func(r Rider) bool { return r.Opens })
	if split < 0 {
		split = n
	}
	before := &c.Records
	if held != nil {
		before = &held.Records
	}
	*before = append(*before, first[:split].Records()...)
	m.Records = append(m.Records, first[split:].Records()...)
	*l = slices.Clone((*l)[n:])
}

// Fields encodes or decodes the list.
func (l *List) Fields(c *fields.Coder) {
	fields.Slice(c, (*[]Rider)(l), func(r *Rider) {
		fields.Bytes(c, &r.Raw)
		c.Bool(&r.Opens)
	})
}
