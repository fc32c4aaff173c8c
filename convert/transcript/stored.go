package transcript

import (
	"github.com/bough-dev/bough/convert/content"
	"github.com/bough-dev/bough/internal/rawjson"
	"github.com/bough-dev/bough/internal/records"
	"github.com/bough-dev/bough/session"
	"github.com/tidwall/gjson"
	"github.com/tidwall/sjson"
)

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

func parentJSON(id string) []byte {
	if id == "" {
		return []byte("null")
	}
	return rawjson.Compact(id)
}
