package session

import (
	"github.com/bough-dev/bough/internal/crc32c"
	"github.com/bough-dev/bough/internal/rawjson"
)

// A Run is messages that go into a document: messages From to before To of Part,
// with the bytes and what stands between them there, or one message: Raw, or what Make
// returns, which is asked twice and must not change. With Make a document of any length
// takes little memory.
type Run struct {
	Part     *Outline
	From, To int
	Raw      []byte
	Make     func() ([]byte, error)
}

// count returns how many messages the run is.
func (r Run) count() int {
	if r.Part == nil {
		return 1
	}
	return r.To - r.From
}

// A Document is a session file to be written whole. Where its metadata has a
// seal, the checksum of that is filled in when the messages are written.
type Document struct {
	ID         string
	CreatedAt  string
	LastActive string
	Metadata   []rawjson.Pair
	Messages   []Run
	Header     int // how many messages at the start repeat what the line already has
	Records    Records
}

// Count returns how many messages runs are.
func Count(runs []Run) int {
	n := 0
	for _, r := range runs {
		n += r.count()
	}
	return n
}

// Records are what a session holds beside its messages: what was recorded of
// requests to models and of calls to tools.
type Records struct {
	Lifecycles, Calls, Results []Record
}

// A Record is records that go into a document: all those of Part, or one in Raw.
type Record struct {
	Part *Outline
	Raw  []byte
}

// Bytes returns the file, from parts that open opens.
func (d *Document) Bytes(open Opener) ([]byte, error) {
	l := d.layout()
	if l.err != nil {
		return nil, l.err
	}
	return l.bytes(open)
}

// bytes returns the file.
func (l *layout) bytes(open Opener) ([]byte, error) {
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

// list returns the records of one kind, in the order of [recordKeys].
func (r *Records) list(i int) []Record {
	return [][]Record{r.Lifecycles, r.Calls, r.Results}[i]
}

// Add adds the records of another session.
func (r *Records) Add(other Records) {
	r.Lifecycles = append(r.Lifecycles, other.Lifecycles...)
	r.Calls = append(r.Calls, other.Calls...)
	r.Results = append(r.Results, other.Results...)
}

// Records returns the records of o, of each kind in one piece.
func (o *Outline) Records() Records {
	list := func(i int) []Record {
		if o.records[i].count == 0 {
			return nil
		}
		return []Record{{Part: o}}
	}
	return Records{list(0), list(1), list(2)}
}

// Records returns the records of s, each alone.
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
