package session

import (
	"github.com/bough-dev/bough/internal/crc32c"
	"github.com/bough-dev/bough/internal/rawjson"
	"github.com/tidwall/gjson"
)

// A Run is a part of a document's messages. If Part is set, the run is messages
// From up to but not including To of Part, with the bytes between them. Otherwise
// it is the single message Raw, or the result of Make, which is called twice and
// must return the same bytes both times. With Make a document of any length needs
// little memory.
type Run struct {
	Part     *Outline
	From, To int
	Raw      []byte
	Make     func() ([]byte, error)
}

// Len returns the number of messages of the run.
func (r Run) Len() int {
	if r.Part == nil {
		return 1
	}
	return r.To - r.From
}

// A Document is a new session file. If its metadata has a seal, the seal's checksum
// is filled in when the messages are written.
type Document struct {
	ID         string
	CreatedAt  string
	LastActive string
	Metadata   Metadata
	Messages   []Run
	Header     int // number of initial messages that repeat messages of the line
	Records    Records
}

// Len returns the number of messages of the file.
func (d *Document) Len() int {
	n := 0
	for _, r := range d.Messages {
		n += r.Len()
	}
	return n
}

// Records are the arrays of a session beside its messages: the recorded requests to
// models and the recorded tool calls.
type Records struct {
	Lifecycles, Calls, Results []Record
}

// A Record is either all records of Part or the single record Raw.
type Record struct {
	Part *Outline
	Raw  []byte
}

// Call returns the id of the tool call to which a single record belongs, "" if it has
// none.
func (r Record) Call() string { return idText(gjson.GetBytes(r.Raw, "call_id")) }

// Bytes returns the content of the file. It calls open for the parts.
func (d *Document) Bytes(open func(*Outline) (*Session, error)) ([]byte, error) {
	l := d.layout()
	if l.err != nil {
		return nil, l.err
	}
	return l.bytes(open)
}

// bytes returns the content of the file.
func (l *layout) bytes(open func(*Outline) (*Session, error)) ([]byte, error) {
	data := make([]byte, 0, l.at+1) // and one for a line break
	for _, p := range l.pieces {
		if p.part == nil {
			raw, err := p.bytes()
			if err != nil {
				return nil, err
			}
			data = append(data, raw...)
			continue
		}
		s, err := open(p.part)
		if err != nil {
			return nil, err
		}
		data = append(data, p.span.Of(s.data)...)
	}
	if l.sealDigits > 0 {
		copy(data[l.sealDigits:], hexSum(crc32c.Of(l.sealed.Of(data))))
	}
	return data, nil
}

// list returns the records of one kind, numbered as in [recordKeys].
func (r *Records) list(i int) []Record {
	return [][]Record{r.Lifecycles, r.Calls, r.Results}[i]
}

// Add appends the records of another session.
func (r *Records) Add(other Records) {
	r.Lifecycles = append(r.Lifecycles, other.Lifecycles...)
	r.Calls = append(r.Calls, other.Calls...)
	r.Results = append(r.Results, other.Results...)
}

// Records returns the records of o as one Record per kind.
func (o *Outline) Records() Records {
	list := func(i int) []Record {
		if o.records[i].count == 0 {
			return nil
		}
		return []Record{{Part: o}}
	}
	return Records{list(0), list(1), list(2)}
}

// Records returns the records of s as one Record each.
func (s *Session) Records() Records {
	list := func(i int) (records []Record) {
		if s.records[i].count == 0 {
			return nil
		}
		span := s.records[i].span
		array := append(append([]byte{'['}, span.Of(s.data)...), ']')
		for _, e := range rawjson.Elements(array, rawjson.Root(array)) {
			records = append(records, Record{Raw: e.Of(array)})
		}
		return records
	}
	return Records{list(0), list(1), list(2)}
}
