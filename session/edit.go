package session

import (
	"github.com/bough-dev/bough/internal/rawjson"
	"github.com/tidwall/sjson"
)

// An Edit changes single members of a session file and leaves every other byte
// where it is. Make one with [Session.Edit], say what changes, and take the
// result with [Edit.Pieces].
type Edit struct {
	s        *Session
	metadata []byte
	messages [][]byte
	active   string // the new last_active, "" for the old one
}

// Edit begins an edit of s, which does not change.
func (s *Session) Edit() *Edit {
	e := &Edit{s: s}
	if span, ok := rawjson.Find(s.members, keyMetadata); ok && s.data[span.Start] == '{' {
		e.metadata = span.Of(s.data)
	}
	return e
}

// SetMeta sets a member of the metadata. The name must not hold a dot.
func (e *Edit) SetMeta(name string, value any) {
	metadata := e.metadata
	if metadata == nil {
		metadata = []byte("{}")
	}
	e.metadata = mustEdit(sjson.SetRawBytes(metadata, name, rawjson.Compact(value)))
}

// DeleteMeta removes a member of the metadata.
func (e *Edit) DeleteMeta(name string) {
	if e.metadata != nil {
		e.metadata = mustEdit(sjson.DeleteBytes(e.metadata, name))
	}
}

func mustEdit(b []byte, err error) []byte {
	if err != nil {
		panic("session: " + err.Error())
	}
	return b
}

// SetActive sets last_active.
func (e *Edit) SetActive(t string) { e.active = t }

// Append adds a message, raw, at the end.
func (e *Edit) Append(message []byte) { e.messages = append(e.messages, message) }

// Pieces returns the file as edited, in pieces that follow one another. They
// share memory with the session.
func (e *Edit) Pieces() [][]byte {
	s := e.s
	set := map[string][]byte{}
	var added []rawjson.Pair
	put := func(key string, value []byte) {
		if _, ok := rawjson.Find(s.members, key); ok {
			set[key] = value
		} else {
			added = append(added, rawjson.Pair{Key: key, Value: value})
		}
	}
	if e.active != "" {
		put(keyActive, rawjson.Compact(e.active))
	}
	if e.metadata != nil {
		put(keyMetadata, e.metadata)
	}
	var pieces [][]byte
	at := 0
	for _, m := range s.members {
		if value := set[m.Key]; value != nil {
			pieces = append(pieces, s.data[at:m.Value.Start], value)
			at = m.Value.End
		}
		if m.Key == keyMessages && len(e.messages) > 0 {
			end, glue := s.messagesEnd(m.Value)
			pieces = append(pieces, s.data[at:end])
			for _, message := range e.messages {
				pieces = append(pieces, glue, message)
				glue = []byte(separator)
			}
			if len(s.Messages) == 0 {
				pieces = append(pieces, []byte("\n"+rawjson.Indent))
			}
			at = end
		}
	}
	if len(added) > 0 {
		end := s.members[len(s.members)-1].Value.End
		pieces = append(pieces, s.data[at:end])
		for _, p := range added {
			pieces = append(pieces, []byte(",\n"+rawjson.Indent), rawjson.Compact(p.Key), []byte(": "), p.Value)
		}
		at = end
	}
	return append(pieces, s.data[at:])
}

// separator stands between messages, as in Penguin's files.
const separator = ",\n    "

// messagesEnd returns where a message is to be added to the array, and what
// goes before it.
func (s *Session) messagesEnd(array rawjson.Span) (end int, glue []byte) {
	if len(s.Messages) == 0 {
		return array.Start + 1, []byte(separator[1:])
	}
	return s.Messages[len(s.Messages)-1].span.End, []byte(separator)
}

// A NewMessage is a message to be written.
type NewMessage struct {
	ID       string
	Role     string
	Content  string
	Category string // "" for the one that goes with the role
	Time     string
	Metadata []rawjson.Pair
}

// Encode returns m as the ten keys of a message, laid out for a place in a
// session's messages.
func (m NewMessage) Encode() []byte {
	const depth = 2
	category := m.Category
	if category == "" {
		category = Category(m.Role)
	}
	quote := func(v any) []byte { return rawjson.Compact(v) }
	return rawjson.AppendObject(nil, []rawjson.Pair{
		{Key: "role", Value: quote(m.Role)},
		{Key: "content", Value: quote(m.Content)},
		{Key: "category", Value: quote(category)},
		{Key: "id", Value: quote(m.ID)},
		{Key: "timestamp", Value: quote(m.Time)},
		{Key: "metadata", Value: rawjson.AppendObject(nil, m.Metadata, depth+1)},
		{Key: "tokens", Value: quote(0)},
		{Key: "agent_id", Value: quote(nil)},
		{Key: "recipient_id", Value: quote(nil)},
		{Key: "message_type", Value: quote("message")},
	}, depth)
}

// Category returns Penguin's category for messages of a role.
func Category(role string) string {
	switch role {
	case "system":
		return "SYSTEM"
	case "tool":
		return "SYSTEM_OUTPUT"
	}
	return "DIALOG"
}

// Marker returns the message that ends the header of a continuation of previous
// and says what the next message follows.
func Marker(id, previous, parent, time string) []byte {
	quote := func(v string) []byte { return rawjson.Compact(v) }
	return NewMessage{
		ID:      id,
		Role:    "system",
		Content: "Continuing from session " + previous,
		Time:    time,
		Metadata: []rawjson.Pair{
			{Key: "type", Value: quote("session_transition")},
			{Key: "previous_session", Value: quote(previous)},
			{Key: "parent_id", Value: quote(parent)},
		},
	}.Encode()
}

// Copy returns the members of message i of s with another id and time: how a
// continuation repeats a header.
func (s *Session) Copy(i int, id, time string) []byte {
	pairs := s.message(i)
	for k, p := range pairs {
		switch p.Key {
		case "id":
			pairs[k].Value = rawjson.Compact(id)
		case "timestamp":
			pairs[k].Value = rawjson.Compact(time)
		}
	}
	return rawjson.AppendObject(nil, pairs, 2)
}

// A Document is a session file to be written whole.
type Document struct {
	ID         string
	CreatedAt  string
	LastActive string
	Metadata   []rawjson.Pair
	Messages   [][]byte // each one message, or several with what stands between them
	Count      int      // how many messages that is
	Header     int      // of those, how many repeat what the line already has
	Records    Records
}

// Pieces returns the file: the eight keys, laid out as Penguin lays them out.
func (d *Document) Pieces() [][]byte {
	head := []byte("{\n")
	member := func(key string, value []byte) {
		head = append(head, rawjson.Indent...)
		head = append(append(head, rawjson.Compact(key)...), ": "...)
		head = append(append(head, value...), ",\n"...)
	}
	member(keyID, rawjson.Compact(d.ID))
	member(keyCreated, rawjson.Compact(d.CreatedAt))
	member(keyActive, rawjson.Compact(d.LastActive))
	member(keyMetadata, rawjson.AppendObject(nil, d.Metadata, 1))
	pieces := [][]byte{head}
	list := func(key string, elements [][]byte, end string) {
		pieces = append(pieces, []byte(rawjson.Indent+`"`+key+`": [`))
		for i, e := range elements {
			glue := []byte(separator)
			if i == 0 {
				glue = []byte(separator[1:])
			}
			pieces = append(pieces, glue, e)
		}
		if len(elements) > 0 {
			pieces = append(pieces, []byte("\n"+rawjson.Indent))
		}
		pieces = append(pieces, []byte("]"+end))
	}
	list(keyMessages, d.Messages, ",\n")
	list(keyLifecycles, d.Records.Lifecycles, ",\n")
	list(keyCalls, d.Records.Calls, ",\n")
	list(keyResults, d.Records.Results, "\n")
	return append(pieces, []byte("}"))
}

// MessagesChecksum returns the checksum that a seal of the document has.
func (d *Document) MessagesChecksum() string {
	var pieces [][]byte
	for i, m := range d.Messages {
		if i > 0 {
			pieces = append(pieces, []byte(separator))
		}
		pieces = append(pieces, m)
	}
	return Checksum(pieces...)
}
