package convert

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/bough-dev/bough/content"
	"github.com/bough-dev/bough/internal/rawjson"
	"github.com/bough-dev/bough/session"
	"github.com/tidwall/gjson"
)

// ownSource is the member of metadata.bough of a message that says where it was
// imported from.
const ownSource = "source"

// Stored returns m as it stands in a session file. at is its time there, for one whose
// transcript says none. Reading it with [FromSession] gives m again.
func (m *Message) Stored(dialect session.Dialect, at time.Time) session.NewMessage {
	if !m.Time.IsZero() {
		at = m.Time
	}
	said := m.Message.Stored()
	var own []rawjson.Pair
	for _, member := range said.Own {
		own = append(own, rawjson.Pair{Key: member.Name, Value: rawjson.Layout(member.Value, 5)})
	}
	if m.Joined != "" {
		own = append(own, rawjson.Pair{Key: session.OwnJoined, Value: rawjson.Compact(m.Joined)})
	}
	if m.Open {
		own = append(own, rawjson.Pair{Key: session.OwnOpen, Value: []byte("true")})
	}
	if source := m.source(); len(source) > 0 {
		own = append(own, rawjson.Pair{Key: ownSource, Value: rawjson.AppendObject(nil, source, 5)})
	}
	metadata := []rawjson.Pair{{Key: "parent_id", Value: parentJSON(m.Parent)}}
	if len(own) > 0 {
		metadata = append(metadata, rawjson.Pair{Key: "bough", Value: rawjson.AppendObject(nil, own, 4)})
	}
	return session.NewMessage{
		ID: m.ID, Role: said.Role, Content: rawjson.Layout(said.Content, 3),
		Time: dialect.Time(at), Metadata: metadata,
	}
}

func parentJSON(id string) []byte {
	if id == "" {
		return []byte("null")
	}
	return rawjson.Compact(id)
}

// source returns the members that say where m was imported from.
func (m *Message) source() (pairs []rawjson.Pair) {
	set := func(key, value string) {
		if value != "" {
			pairs = append(pairs, rawjson.Pair{Key: key, Value: rawjson.Compact(value)})
		}
	}
	set("format", m.Format)
	set("kind", string(m.Kind))
	set("model", m.Model)
	set("copy_of", m.CopyOf)
	if m.Format != "" && m.Time.IsZero() {
		pairs = append(pairs, rawjson.Pair{Key: "untimed", Value: []byte("true")})
	}
	if len(m.Records) > 0 {
		pairs = append(pairs, rawjson.Pair{Key: "records", Value: Records(m.Records)})
	}
	return pairs
}

// Records returns records as one JSON array, each as it is.
func Records(records []json.RawMessage) []byte {
	size := 2
	for _, r := range records {
		size += len(r) + 1
	}
	array := append(make([]byte, 0, size), '[')
	for i, r := range records {
		if i > 0 {
			array = append(array, ',')
		}
		array = append(array, r...)
	}
	return append(array, ']')
}

// recordsPath is where the records of a message stand in it.
const recordsPath = "metadata.bough." + ownSource + ".records"

// RecordsOf returns the records of a message of a session file, raw its bytes.
func RecordsOf(raw []byte) []json.RawMessage {
	return SplitRecords([]byte(gjson.GetBytes(raw, recordsPath).Raw))
}

// WithRecords returns a message of a session file, raw its bytes, with more records before
// its own. One without any stays as it is.
func WithRecords(raw []byte, more []json.RawMessage) []byte {
	own := gjson.GetBytes(raw, recordsPath)
	if len(more) == 0 || !own.IsArray() {
		return raw
	}
	all := Records(append(slices.Clip(more), SplitRecords([]byte(own.Raw))...))
	return slices.Concat(raw[:own.Index], all, raw[own.Index+len(own.Raw):])
}

// SplitRecords returns the records of an array that [Records] made.
func SplitRecords(array []byte) []json.RawMessage {
	var records []json.RawMessage
	gjson.ParseBytes(array).ForEach(func(_, value gjson.Result) bool {
		records = append(records, json.RawMessage(value.Raw))
		return true
	})
	return records
}

// FromSession returns a message of a session file, whose parent is known, "" for a root.
func FromSession(s session.Message, parent string) *Message {
	m := &Message{Message: *content.Read(s.Raw), ID: s.ID, Parent: parent, Raw: s.Raw}
	source := gjson.GetBytes(s.Raw, "metadata.bough."+ownSource)
	m.Format = source.Get("format").Str
	m.Kind = Kind(source.Get("kind").Str)
	m.Model = source.Get("model").Str
	m.CopyOf = source.Get("copy_of").Str
	own := gjson.GetBytes(s.Raw, "metadata.bough")
	m.Joined, m.Open = own.Get(session.OwnJoined).Str, own.Get(session.OwnOpen).Bool()
	if !source.Get("untimed").Bool() {
		m.Time, _ = s.Time()
	}
	if records := source.Get("records"); records.IsArray() {
		m.Records = SplitRecords([]byte(records.Raw))
	}
	return m
}
