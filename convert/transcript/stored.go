package transcript

import (
	"time"

	"github.com/bough-dev/bough/internal/content"
	"github.com/bough-dev/bough/internal/rawjson"
	"github.com/bough-dev/bough/internal/records"
	"github.com/bough-dev/bough/session"
	"github.com/tidwall/gjson"
	"github.com/tidwall/sjson"
)

// Stored returns m as a session file stores it. at is its time if m has none.
// [FromSession] is the inverse.
func (m *Message) Stored(dialect session.Dialect, at time.Time) session.NewMessage {
	if !m.Time.IsZero() {
		at = m.Time
	}
	said := m.Message.Stored()
	var own []rawjson.Pair
	for _, member := range said.Own {
		own = append(own, rawjson.Pair{Key: member.Name, Value: member.Value})
	}
	if m.Joined != "" {
		own = append(own, rawjson.Pair{Key: session.OwnJoined, Value: rawjson.Compact(m.Joined)})
	}
	if m.Open {
		own = append(own, rawjson.Pair{Key: session.OwnOpen, Value: []byte("true")})
	}
	if source := m.source(said.Content); len(source) > 0 {
		own = append(own, rawjson.Pair{Key: records.OwnSource, Value: rawjson.AppendLine(nil, source)})
	}
	metadata := []rawjson.Pair{{Key: "parent_id", Value: parentJSON(m.Parent)}}
	if len(own) > 0 {
		metadata = append(metadata, rawjson.Pair{Key: "bough", Value: rawjson.AppendLine(nil, own)})
	}
	return session.NewMessage{
		ID: m.ID, Role: said.Role, Content: said.Content,
		Time: dialect.Time(at), Metadata: metadata, Line: true,
	}
}

func parentJSON(id string) []byte {
	if id == "" {
		return []byte("null")
	}
	return rawjson.Compact(id)
}

// source returns the members of metadata.bough.source of m. content is the content of m as
// it is stored.
func (m *Message) source(content []byte) (pairs []rawjson.Pair) {
	set := func(key, value string) {
		if value != "" {
			pairs = append(pairs, rawjson.Pair{Key: key, Value: rawjson.Compact(value)})
		}
	}
	set("format", m.Format)
	set("kind", string(m.Kind))
	set("model", m.Model)
	set("copy_of", m.CopyOf)
	if m.Guessed {
		pairs = append(pairs, rawjson.Pair{Key: "guessed", Value: []byte("true")})
	}
	if m.Format != "" && m.Time.IsZero() {
		pairs = append(pairs, rawjson.Pair{Key: "untimed", Value: []byte("true")})
	}
	if len(m.Records) > 0 {
		array, texts := records.Shared(content, m.Records)
		pairs = append(pairs, rawjson.Pair{Key: records.KeyRecords, Value: array})
		if texts != nil {
			pairs = append(pairs, rawjson.Pair{Key: records.KeyTexts, Value: texts})
		}
	}
	return pairs
}

// FromSession returns a message of a session file. parent is the id of its parent, "" for
// a root.
func FromSession(s session.Message, parent string) *Message {
	m := &Message{Message: *content.Read(s.Raw), ID: s.ID, Parent: parent, Raw: s.Raw}
	source := gjson.GetBytes(s.Raw, records.SourcePath)
	m.Format = source.Get("format").Str
	m.Kind = Kind(source.Get("kind").Str)
	m.Model = source.Get("model").Str
	m.CopyOf = source.Get("copy_of").Str
	m.Guessed = source.Get("guessed").Bool()
	own := gjson.GetBytes(s.Raw, "metadata.bough")
	m.Joined, m.Open = own.Get(session.OwnJoined).Str, own.Get(session.OwnOpen).Bool()
	if !source.Get("untimed").Bool() {
		m.Time, _ = s.Time()
	}
	m.Records = records.Of(s.Raw)
	return m
}

// Below returns a message of a session file, raw its bytes, with another parent, "" for
// none. previous is the id of the message before it in the file: if raw has that parent
// already, explicitly or by its position, Below returns raw.
func Below(raw []byte, parent, previous string) ([]byte, error) {
	says := gjson.GetBytes(raw, "metadata.parent_id")
	if says.Exists() && says.String() == parent || !says.Exists() && parent == previous {
		return raw, nil
	}
	return sjson.SetRawBytes(raw, "metadata.parent_id", parentJSON(parent))
}
