package session

import (
	"slices"

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

// Separator separates the messages of a file, as in Penguin's files.
const Separator = ",\n    "

// Item returns the item of message i of the run, which has a Part: the message with the bytes
// before it. at is its offset in the file of Part, size its size. The first item of a run
// begins with the [Separator] instead of the bytes in the file, and at is the offset of its
// message. hash is the xxhash64 of the item; it is known if the item begins with the
// Separator.
func (r Run) Item(i int) (at, size int, hash uint64, known bool) {
	m := r.Part.marks[r.From+i]
	if i == 0 {
		return int(m.start), len(Separator) + int(m.end-m.start), m.hash, true
	}
	at = int(r.Part.marks[r.From+i-1].end)
	if !m.spaced || int(m.start)-at != len(Separator) {
		return at, int(m.end) - at, 0, false
	}
	return at, int(m.end) - at, m.hash, true
}

// Single returns the item of a run without a Part: the [Separator] and the message.
func (r Run) Single() ([]byte, error) {
	raw := r.Raw
	if r.Make != nil {
		made, err := r.Make()
		if err != nil {
			return nil, err
		}
		raw = made
	}
	return append([]byte(Separator), raw...), nil
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

	// If Block is not 0, it is the size of the blocks that the file can share with the files of its
	// runs: white space before a long run gives it the same offset modulo Block as in its original
	// file.
	Block int
}

// MessageBytes returns the size of the messages that are in other files, with the bytes
// between them.
func (d *Document) MessageBytes() (n int) {
	for _, r := range d.Messages {
		if r.Part != nil {
			s := r.Part.span(r.From, r.To)
			n += s.End - s.Start
		}
	}
	return n
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

// Parts returns the files that the bytes of the document are in, each once.
func (d *Document) Parts() (parts []*Outline) {
	add := func(part *Outline) {
		if part != nil && !slices.Contains(parts, part) {
			parts = append(parts, part)
		}
	}
	for _, run := range d.Messages {
		if len(parts) == 0 || run.Part != parts[len(parts)-1] {
			add(run.Part)
		}
	}
	for i := range recordKeys {
		for _, r := range d.Records.list(i) {
			add(r.Part)
		}
	}
	return parts
}

// Outline returns the outline of the file without what depends on the text of its
// messages: the checksums and the times.
func (d *Document) Outline() *Outline { return d.layout().outline }

// Frame returns the content of the file with an empty array of messages, in the form of
// the complete file otherwise. crc is the CRC-32C of the messages with the bytes between
// them, for the seal. It calls open for the parts that have records.
func (d *Document) Frame(crc uint32, open func(*Outline) (*Session, error)) ([]byte, error) {
	empty := *d
	empty.Messages = nil
	l := empty.layout()
	if l.err != nil {
		return nil, l.err
	}
	digits := l.sealDigits
	l.sealDigits = 0
	data, err := l.bytes(open)
	if err == nil && digits > 0 {
		copy(data[digits:], hexSum(crc))
	}
	return data, err
}

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
