package stored

import (
	"time"

	"github.com/bough-dev/bough/convert/transcript"
	"github.com/bough-dev/bough/internal/rawjson"
	"github.com/bough-dev/bough/internal/records"
	"github.com/bough-dev/bough/session"
)

// Of returns a message of a transcript as a session file stores it. at is its time if it
// has none. [transcript.FromSession] is the inverse.
func Of(m *transcript.Message, dialect session.Dialect, at time.Time) Message {
	if !m.Time.IsZero() {
		at = m.Time
	}
	role, said, members := m.Message.Stored()
	var own []rawjson.Pair
	for _, member := range members {
		own = append(own, rawjson.Pair{Key: member.Name, Value: member.Value})
	}
	if m.Joined != "" {
		own = append(own, rawjson.Pair{Key: session.OwnJoined, Value: rawjson.Compact(m.Joined)})
	}
	if m.Open {
		own = append(own, rawjson.Pair{Key: session.OwnOpen, Value: []byte("true")})
	}
	if source := sourceOf(m, said); len(source) > 0 {
		own = append(own, rawjson.Pair{Key: records.OwnSource, Value: rawjson.AppendLine(nil, source)})
	}
	parent := []byte("null")
	if m.Parent != "" {
		parent = rawjson.Compact(m.Parent)
	}
	metadata := []rawjson.Pair{{Key: "parent_id", Value: parent}}
	if len(own) > 0 {
		metadata = append(metadata, rawjson.Pair{Key: "bough", Value: rawjson.AppendLine(nil, own)})
	}
	return Message{
		ID: m.ID, Role: role, Content: said,
		Time: dialect.Time(at), Metadata: metadata, Line: true,
	}
}

// sourceOf returns the members of metadata.bough.source of m. content is the content of m as
// it is stored.
func sourceOf(m *transcript.Message, content []byte) (pairs []rawjson.Pair) {
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
