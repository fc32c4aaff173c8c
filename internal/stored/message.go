// Package stored encodes messages as bough writes them into session files: with the ten
// keys that Penguin writes.
package stored

import "github.com/bough-dev/bough/internal/rawjson"

// A Message is a message that is to be written.
type Message struct {
	ID       string
	Role     string
	Content  []byte // JSON
	Category string // "" for the default of the role
	Time     string
	Metadata []rawjson.Pair
	Line     bool // encode on one line
}

// Encode returns m as an object with the ten keys of a message, indented for the
// messages array of a session.
func (m Message) Encode() []byte {
	const depth = 2
	category := m.Category
	if category == "" {
		category = categoryOf(m.Role)
	}
	quote := func(v any) []byte { return rawjson.Compact(v) }
	object := func(pairs []rawjson.Pair, depth int) []byte {
		if m.Line {
			return rawjson.AppendLine(nil, pairs)
		}
		return rawjson.AppendObject(nil, pairs, depth)
	}
	return object([]rawjson.Pair{
		{Key: "role", Value: quote(m.Role)},
		{Key: "content", Value: m.Content},
		{Key: "category", Value: quote(category)},
		{Key: "id", Value: quote(m.ID)},
		{Key: "timestamp", Value: quote(m.Time)},
		{Key: "metadata", Value: object(m.Metadata, depth+1)},
		{Key: "tokens", Value: quote(0)},
		{Key: "agent_id", Value: quote(nil)},
		{Key: "recipient_id", Value: quote(nil)},
		{Key: "message_type", Value: quote("message")},
	}, depth)
}

// categoryOf returns Penguin's default category for a role.
func categoryOf(role string) string {
	switch role {
	case "system":
		return "SYSTEM"
	case "tool":
		return "SYSTEM_OUTPUT"
	}
	return "DIALOG"
}

// Marker returns the message that ends the header of a continuation of the session
// previous. parent is the id of the message that the next message follows.
func Marker(id, previous, parent, time string) []byte {
	quote := func(v string) []byte { return rawjson.Compact(v) }
	return Message{
		ID:      id,
		Role:    "system",
		Content: quote("Continuing from session " + previous),
		Time:    time,
		Metadata: []rawjson.Pair{
			{Key: "kind", Value: quote("system")},
			{Key: "type", Value: quote("session_transition")},
			{Key: "previous_session", Value: quote(previous)},
			{Key: "parent_id", Value: quote(parent)},
		},
	}.Encode()
}
