package session

import (
	"bytes"
	"errors"
	"fmt"
	"hash/crc32"

	"github.com/bough-dev/bough/internal/rawjson"
	"github.com/tidwall/gjson"
)

// The eight keys of a session file, in the order in which they are written.
const (
	keyID         = "id"
	keyCreated    = "created_at"
	keyActive     = "last_active"
	keyMetadata   = "metadata"
	keyMessages   = "messages"
	keyLifecycles = "llm_request_lifecycles"
	keyCalls      = "tool_call_records"
	keyResults    = "tool_result_records"
)

// A Session is one decoded session file. It keeps the bytes it was decoded
// from, and everything in it points into them.
type Session struct {
	// ID is what the session is known by: its file's stem. The file's own id
	// member may say otherwise; nobody asks it.
	ID         string
	CreatedAt  string // as in the file, "" if absent
	LastActive string // as in the file, "" if absent
	Meta       Meta
	Messages   []Message

	data    []byte
	members []rawjson.Member
}

// Decode reads a session from data, the content of the file with the stem id,
// and keeps data. It checks everything that makes a session valid: one JSON
// value, valid UTF-8, no key twice at the top, in the metadata, or among a
// message's own members, ids present and unique. An error is a *[DamageError]
// without a path.
func Decode(id string, data []byte) (_ *Session, err error) {
	defer func() {
		var syntax *rawjson.SyntaxError
		if errors.As(err, &syntax) {
			err = &DamageError{Offset: syntax.Offset, Problem: syntax.Problem}
		}
	}()
	s := &Session{ID: id, data: data}
	if err := rawjson.Walk(data, s.walk); err != nil {
		return nil, err
	}
	s.CreatedAt = text(s.get(keyCreated))
	s.LastActive = text(s.get(keyActive))
	if span, ok := rawjson.Find(s.members, keyMetadata); ok && data[span.Start] == '{' {
		members, err := rawjson.Members(data, span)
		if err != nil {
			return nil, err
		}
		if s.Meta, err = DecodeMeta(data, members); err != nil {
			return nil, err
		}
	} else if ok && string(span.Of(data)) != "null" {
		return nil, &DamageError{Offset: span.Start, Problem: "metadata is not an object"}
	}
	if span, ok := rawjson.Find(s.members, keyMessages); !ok || data[span.Start] != '[' {
		return nil, &DamageError{Offset: span.Start, Problem: "no messages array"}
	}
	return s, nil
}

// walk goes through the whole file and finds its members and messages.
func (s *Session) walk(w *rawjson.Walker) error {
	at, first := w.Start()
	if first != '{' {
		if _, err := w.Value(); err != nil {
			return err
		}
		return &DamageError{Offset: at, Problem: "not a JSON object"}
	}
	var keys rawjson.Keys
	return w.Object(func(key []byte, keyStart int) error {
		if err := keys.Add(key, keyStart); err != nil {
			return err
		}
		at, first := w.Start()
		m := rawjson.Member{Key: string(key), KeyStart: keyStart, Value: rawjson.Span{Start: at}}
		var err error
		if m.Key == keyMessages && first == '[' {
			m.Value.End, err = s.walkMessages(w)
		} else {
			m.Value, err = w.Value()
		}
		s.members = append(s.members, m)
		return err
	})
}

// walkMessages goes through the messages and returns where they end.
func (s *Session) walkMessages(w *rawjson.Walker) (end int, err error) {
	seen := map[string]bool{}
	err = w.Array(func() error {
		at, first := w.Start()
		n := len(s.Messages) + 1
		if first != '{' {
			if _, err := w.Value(); err != nil {
				return err
			}
			return &DamageError{Offset: at, Problem: fmt.Sprintf("message %d is not an object", n)}
		}
		m, err := walkMessage(w, s.data)
		switch {
		case err != nil:
			return err
		case m.ID == "":
			return &DamageError{Offset: at, Problem: fmt.Sprintf("message %d has no id", n)}
		case seen[m.ID]:
			return &DamageError{Offset: at, Problem: fmt.Sprintf("the message id %q stands twice", m.ID)}
		}
		seen[m.ID] = true
		s.Messages = append(s.Messages, m)
		return nil
	})
	end, _ = w.Start()
	return end, err
}

// Frozen returns the messages that the session stands for: all of them, but of
// a sealed checkpoint those that were sealed. What another program added to a
// checkpoint is not part of it.
func (s *Session) Frozen() []Message {
	if seal := s.Meta.Sealed; seal != nil && s.Meta.Kind() == Checkpoint && seal.Messages < len(s.Messages) {
		return s.Messages[:max(seal.Messages, 0)]
	}
	return s.Messages
}

// Unsealed returns s as a session that was never sealed: with what another
// program added to it.
func (s *Session) Unsealed() *Session {
	open := *s
	open.Meta.Sealed = nil
	return &open
}

// FitsSeal reports whether a sealed session still holds what was sealed, and
// nothing more. A session without a seal fits.
func (s *Session) FitsSeal() bool {
	seal := s.Meta.Sealed
	if seal == nil {
		return true
	}
	return seal.Messages == len(s.Messages) && seal.CRC32C == Checksum(s.Region(0, len(s.Messages)))
}

// Region returns the bytes from the first byte of message from to the last
// byte of the message before to, with all that stands between them.
func (s *Session) Region(from, to int) []byte {
	if from >= to {
		return nil
	}
	return s.data[s.Messages[from].span.Start:s.Messages[to-1].span.End]
}

// Metadata returns the members of the session's metadata, values as they are
// in the file.
func (s *Session) Metadata() []rawjson.Pair {
	span, ok := rawjson.Find(s.members, keyMetadata)
	if !ok || s.data[span.Start] != '{' {
		return nil
	}
	return rawjson.Pairs(s.data, span)
}

// message returns the members of message i, values as they are in the file.
func (s *Session) message(i int) []rawjson.Pair {
	return rawjson.Pairs(s.data, s.Messages[i].span)
}

// Records are the three arrays of a session beside its messages: what it
// recorded of requests to models and of calls to tools. Each record is raw.
type Records struct {
	Lifecycles, Calls, Results [][]byte
}

// Records returns the session's records.
func (s *Session) Records() Records {
	list := func(key string) (records [][]byte) {
		span, ok := rawjson.Find(s.members, key)
		if !ok || s.data[span.Start] != '[' {
			return nil
		}
		for _, e := range rawjson.Elements(s.data, span) {
			records = append(records, e.Of(s.data))
		}
		return records
	}
	return Records{list(keyLifecycles), list(keyCalls), list(keyResults)}
}

// CallOf returns the id of the call that a record is about, "" if it names
// none.
func CallOf(record []byte) string { return idText(gjson.GetBytes(record, "call_id")) }

// LinkOffset returns where the file says what the session comes from, in bytes.
func (s *Session) LinkOffset() int {
	span, ok := rawjson.Find(s.members, keyMetadata)
	if !ok || s.data[span.Start] != '{' {
		return 0
	}
	members, err := rawjson.Members(s.data, span)
	if err != nil {
		panic("session: " + err.Error())
	}
	for _, key := range []string{"continued_from", "branched_from"} {
		if v, ok := rawjson.Find(members, key); ok {
			return v.Start
		}
	}
	return span.Start
}

// OwnID returns the file's id member, "" if it has none.
func (s *Session) OwnID() string { return text(s.get(keyID)) }

func (s *Session) get(key string) gjson.Result {
	span, ok := rawjson.Find(s.members, key)
	if !ok {
		return gjson.Result{}
	}
	return gjson.ParseBytes(span.Of(s.data))
}

// Checksum returns the CRC-32C of pieces, one after the other, as a seal has
// it: eight hexadecimal digits.
func Checksum(pieces ...[]byte) string {
	castagnoli := crc32.MakeTable(crc32.Castagnoli)
	var sum uint32
	for _, p := range pieces {
		sum = crc32.Update(sum, castagnoli, p)
	}
	return fmt.Sprintf("%08x", sum)
}

// sameBytes reports whether two messages are the same, byte for byte.
func sameBytes(a, b Message) bool { return bytes.Equal(a.Raw, b.Raw) }
