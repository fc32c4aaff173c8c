package session

import "github.com/bough-dev/bough/internal/rawjson"

// A Summary is what others need to know of a session file without its messages:
// of one that was read, or of one that is about to be written.
type Summary struct {
	ID         string
	CreatedAt  string // as in the file, "" if absent
	LastActive string // as in the file, "" if absent
	Meta       Meta
	Metadata   []rawjson.Pair // values as they are in the file
	Messages   int
	Header     int // of those, how many repeat what the line already has
}

// Summary returns what is known of s.
func (s *Session) Summary() Summary {
	return Summary{
		ID:         s.ID,
		CreatedAt:  s.CreatedAt,
		LastActive: s.LastActive,
		Meta:       s.Meta,
		Metadata:   s.Metadata(),
		Messages:   len(s.Messages),
		Header:     s.HeaderLen(),
	}
}

// Summary returns what the session will be once the document is written.
func (d *Document) Summary() Summary {
	return Summary{
		ID:         d.ID,
		CreatedAt:  d.CreatedAt,
		LastActive: d.LastActive,
		Meta:       mustMeta(rawjson.AppendObject(nil, d.Metadata, 0)),
		Metadata:   d.Metadata,
		Messages:   d.Count,
		Header:     d.Header,
	}
}

// Summary returns what the session will be once the edit is written.
func (e *Edit) Summary() Summary {
	sum := e.s.Summary()
	sum.Messages += len(e.messages)
	if e.active != "" {
		sum.LastActive = e.active
	}
	if e.metadata != nil {
		sum.Meta = mustMeta(e.metadata)
		sum.Metadata = rawjson.Pairs(e.metadata, rawjson.Root(e.metadata))
	}
	return sum
}

// mustMeta decodes metadata that was valid before bough set members of it.
func mustMeta(metadata []byte) Meta {
	members, err := rawjson.Members(metadata, rawjson.Root(metadata))
	if err == nil {
		var m Meta
		if m, err = DecodeMeta(metadata, members); err == nil {
			return m
		}
	}
	panic("session: " + err.Error())
}
