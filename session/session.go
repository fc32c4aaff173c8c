package session

import (
	"bytes"
	"errors"
	"fmt"
	"sync"

	"github.com/bough-dev/bough/internal/crc32c"
	"github.com/bough-dev/bough/internal/rawjson"
	"github.com/tidwall/gjson"
)

// The eight keys of a session file, in the order of the file.
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

// recordKeys are the keys of the three arrays of records.
var recordKeys = [...]string{keyLifecycles, keyCalls, keyResults}

// A Session is a session file with its bytes: its outline and its messages, in the
// order of the file.
type Session struct {
	*Outline
	Messages []Message
}

// Decode decodes a session from data, the content of the file with the stem id, and
// keeps data. It validates the session: one JSON value, valid UTF-8, no duplicate
// key at the top, in the metadata, or among a message's own members, ids present
// and unique. An error is a *[DamageError] without a path.
func Decode(id string, data []byte) (*Session, error) {
	o, err := outline(id, data)
	if err != nil {
		return nil, err
	}
	return o.Session(data), nil
}

// Decode sets o to the outline of the session in data, the content of the file with the
// stem id. Errors are those of the function [Decode]. It does not keep data.
func (o *Outline) Decode(id string, data []byte) error {
	read, err := outline(id, data)
	if err == nil {
		*o = *read
	}
	return err
}

// A scratch is reusable memory for decoding one session at a time.
type scratch struct {
	messages messages
	known    *idTable
}

var scratches sync.Pool // of *scratch

// Bytes returns the content of the file, which must not be modified, or nil if o is not
// the outline of a [Session].
func (o *Outline) Bytes() []byte { return o.data }

// Session returns the session of o, whose file has the content data. It keeps data.
func (o *Outline) Session(data []byte) *Session {
	held := *o
	held.data = data
	s := &Session{Outline: &held, Messages: make([]Message, o.Len())}
	for i := range s.Messages {
		s.Messages[i] = Message{ID: o.MessageID(i), Raw: o.span(i, i+1).Of(data)}
	}
	return s
}

// outline decodes and validates the outline of the session in data.
func outline(id string, data []byte) (_ *Outline, err error) {
	defer func() {
		var syntax *rawjson.SyntaxError
		if errors.As(err, &syntax) {
			err = &DamageError{Offset: syntax.Offset, Problem: syntax.Problem}
		}
	}()
	if limit := MaxFile; int64(len(data)) > limit {
		return nil, &DamageError{Offset: int(limit), Problem: tooLarge}
	}
	memory, ok := scratches.Get().(*scratch)
	if !ok {
		memory = &scratch{}
	}
	defer func() {
		memory.messages.reset()
		scratches.Put(memory)
	}()
	d := &decoder{memory, &Outline{ID: id, size: len(data)}, data}
	if err := rawjson.Walk(data, d.walk); err != nil {
		return nil, err
	}
	return d.o, d.finish()
}

// A decoder builds the outline of a session from its bytes.
type decoder struct {
	*scratch
	o    *Outline
	file []byte
}

// walk parses the whole file and collects its members and messages.
func (d *decoder) walk(w *rawjson.Walker) error {
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
			m.Value.End, err = d.walkMessages(w)
		} else {
			m.Value, err = w.Value()
		}
		d.o.members = append(d.o.members, m)
		return err
	})
}

// walkMessages parses the messages and returns the offset of their end.
func (d *decoder) walkMessages(w *rawjson.Walker) (end int, err error) {
	const small = 256 // assumed size of a message in bytes; most are larger
	if d.known == nil {
		d.known = newIDTable(0)
	}
	d.known.reset(len(d.file) / small)
	err = w.Array(func() error {
		at, first := w.Start()
		n := len(d.messages.marks) + 1
		if first != '{' {
			if _, err := w.Value(); err != nil {
				return err
			}
			return &DamageError{Offset: at, Problem: fmt.Sprintf("message %d is not an object", n)}
		}
		id, err := d.messages.add(w, d.file)
		if err != nil {
			return err
		}
		if len(id) == 0 {
			return &DamageError{Offset: at, Problem: fmt.Sprintf("message %d has no id", n)}
		}
		hash := d.known.hashBytes(id)
		for other := d.known.last(hash); other >= 0; other = d.known.before(other) {
			if bytes.Equal(d.messages.idOf(other), id) {
				return &DamageError{Offset: at, Problem: fmt.Sprintf("duplicate message id %q", id)}
			}
		}
		d.known.add(hash)
		return nil
	})
	end, _ = w.Start()
	return end, err
}

// finish sets the fields of the outline that depend on the members.
func (d *decoder) finish() error {
	o, data := d.o, d.file
	o.OwnID = text(d.get(keyID))
	o.CreatedAt = text(d.get(keyCreated))
	o.LastActive = text(d.get(keyActive))
	if span, ok := rawjson.Find(o.members, keyMetadata); ok && data[span.Start] == '{' {
		members, err := rawjson.Members(data, span)
		if err != nil {
			return err
		}
		if o.Meta, err = metaOf(data, members); err != nil {
			return err
		}
		o.metadata = append([]byte(nil), span.Of(data)...)
		o.LinkOffset = linkOffset(members, span.Start)
	} else if ok && string(span.Of(data)) != "null" {
		return &DamageError{Offset: span.Start, Problem: "metadata is not an object"}
	}
	if span, ok := rawjson.Find(o.members, keyMessages); !ok || data[span.Start] != '[' {
		return &DamageError{Offset: span.Start, Problem: "no messages array"}
	}
	for i, key := range recordKeys {
		o.records[i] = arrayOf(data, o.members, key)
	}
	d.messages.into(o)
	for _, i := range o.leaves() {
		o.stamps = append(o.stamps, stamp{uint32(i), timeText(o.span(i, i+1).Of(data))})
	}
	o.opening = o.openingOf(data)
	o.CRC32C = crc32c.Of(data)
	seal := o.Meta.Sealed
	o.FitsSeal = seal == nil || seal.Messages == o.Len() && seal.CRC32C == hexSum(crc32c.Of(o.span(0, o.Len()).Of(data)))
	return nil
}

func (d *decoder) get(key string) gjson.Result {
	span, ok := rawjson.Find(d.o.members, key)
	if !ok {
		return gjson.Result{}
	}
	return gjson.ParseBytes(span.Of(d.file))
}

// linkOffset returns the offset of the link to the origin among the members of the
// metadata, or other.
func linkOffset(members []rawjson.Member, other int) int {
	for _, key := range []string{"continued_from", "branched_from"} {
		if v, ok := rawjson.Find(members, key); ok {
			return v.Start
		}
	}
	return other
}

// arrayOf returns the span and number of the elements of the member key, an array.
func arrayOf(data []byte, members []rawjson.Member, key string) array {
	span, ok := rawjson.Find(members, key)
	if !ok || data[span.Start] != '[' {
		return array{}
	}
	elements := rawjson.Elements(data, span)
	if len(elements) == 0 {
		return array{}
	}
	return array{rawjson.Span{Start: elements[0].Start, End: elements[len(elements)-1].End}, len(elements)}
}

// hexSum returns a CRC-32C in the form of a seal: eight hexadecimal digits.
func hexSum(crc uint32) string { return fmt.Sprintf("%08x", crc) }
