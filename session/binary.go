package session

import (
	"bytes"
	"encoding/binary"
	"errors"

	"github.com/bough-dev/bough/internal/rawjson"
)

// outlineMagic is the start of an encoded outline. It changes with the format.
const outlineMagic = "bough outline 5\n"

// MarshalBinary encodes o without its Stat: integers as varints, hashes in eight
// bytes, strings prefixed with their length. It returns an error if o lacks the ids of its
// messages or its first words, as the outline of a file that was just written
// may.
func (o *Outline) MarshalBinary() ([]byte, error) {
	if o.Brief() || o.opening.lost {
		return nil, errors.New("session: an incomplete outline")
	}
	return o.encode(), nil
}

func (o *Outline) encode() []byte {
	e := &encoder{make([]byte, 0, 512+len(o.ids)+16*len(o.marks)+len(o.metadata))}
	e.b = append(e.b, outlineMagic...)
	e.text(o.ID)
	e.text(o.OwnID)
	e.text(o.CreatedAt)
	e.text(o.LastActive)
	e.count(o.Header, o.LinkOffset, int(o.CRC32C), bit(o.FitsSeal), o.size, bit(o.metadata != nil))
	e.text(string(o.metadata))
	e.count(len(o.members))
	for _, m := range o.members {
		e.text(m.Key)
		e.count(m.KeyStart, m.Value.Start, m.Value.End)
	}
	for _, r := range o.records {
		e.count(r.span.Start, r.span.End, r.count)
	}
	e.count(o.opening.at + 1)
	e.text(o.opening.words)
	e.text(o.ids)
	e.count(len(o.marks))
	at := 0
	for i, m := range o.marks {
		e.count(int(m.start)-at, int(m.end-m.start), int(m.parent-m.id), len(o.parentID(i)), int(m.edge)|bit(m.late)<<2|bit(m.stored)<<3|bit(m.tied)<<4|bit(m.spaced)<<5|bit(m.merges)<<6)
		e.b = binary.LittleEndian.AppendUint64(e.b, m.hash)
		at = int(m.end)
	}
	e.count(len(o.tools))
	for _, t := range o.tools {
		e.count(int(t.at))
		e.texts(t.calls)
		e.texts(t.results)
	}
	e.count(len(o.ties))
	for _, t := range o.ties {
		e.count(int(t.at))
		e.text(t.joined)
		e.text(t.replaced)
	}
	e.count(len(o.stamps))
	for _, s := range o.stamps {
		e.count(int(s.at))
		e.text(s.text)
	}
	return e.b
}

// UnmarshalBinary sets o from the result of [Outline.MarshalBinary].
func (o *Outline) UnmarshalBinary(data []byte) error {
	read := decodeOutline(data)
	if read == nil {
		return errors.New("session: not an outline")
	}
	*o = *read
	return nil
}

// decodeOutline decodes an outline. It returns nil if data is not valid.
func decodeOutline(data []byte) *Outline {
	body, ok := bytes.CutPrefix(data, []byte(outlineMagic))
	if !ok {
		return nil
	}
	d := &outlineDecoder{b: body}
	o := &Outline{ID: d.text()}
	o.OwnID, o.CreatedAt, o.LastActive = d.text(), d.text(), d.text()
	o.Header, o.LinkOffset, o.CRC32C, o.FitsSeal, o.size = d.count(), d.count(), uint32(d.count()), d.count() == 1, d.count()
	if has, metadata := d.count() == 1, d.text(); has {
		o.metadata = []byte(metadata)
		d.bad = d.bad || rawjson.Check(o.metadata) != nil
	}
	for n := d.count(); n > 0 && !d.bad; n-- {
		o.members = append(o.members, rawjson.Member{Key: d.text(), KeyStart: d.count(), Value: d.span()})
	}
	for i := range o.records {
		o.records[i] = array{d.span(), d.count()}
	}
	o.opening = opening{at: d.count() - 1, words: d.text()}
	d.messages(o)
	for n := d.count(); n > 0 && !d.bad; n-- {
		o.tools = append(o.tools, toolUse{uint32(d.count()), d.texts(), d.texts()})
	}
	for n := d.count(); n > 0 && !d.bad; n-- {
		o.ties = append(o.ties, tie{uint32(d.count()), d.text(), d.text()})
	}
	d.bad = d.bad || !o.tiesFit()
	for n := d.count(); n > 0 && !d.bad; n-- {
		o.stamps = append(o.stamps, stamp{uint32(d.count()), d.text()})
	}
	if d.bad || d.left() > 0 || o.Header > o.Len() {
		return nil
	}
	if o.metadata != nil {
		members, err := rawjson.Members(o.metadata, rawjson.Root(o.metadata))
		if err == nil {
			o.Meta, err = metaOf(o.metadata, members)
		}
		if err != nil {
			return nil
		}
	}
	return o
}

// tiesFit reports whether o has a tie for exactly those messages that are marked as
// tied.
func (o *Outline) tiesFit() bool {
	n := 0
	for i, m := range o.marks {
		if m.tied {
			if n == len(o.ties) || int(o.ties[n].at) != i {
				return false
			}
			n++
		}
	}
	return n == len(o.ties)
}

// messages decodes the marks of o.
func (d *outlineDecoder) messages(o *Outline) {
	o.ids = d.text()
	n := d.count()
	if n > d.left() {
		d.bad = true
		return
	}
	o.marks = make([]mark, n)
	at, id := 0, 0
	for i := range o.marks {
		start := at + d.count()
		at = start + d.count()
		parent := id + d.count()
		end := parent + d.count()
		flags := d.count()
		hash := d.fixed()
		if d.bad || int64(at) > MaxFile || end > len(o.ids) {
			d.bad = true
			return
		}
		o.marks[i] = mark{uint32(start), uint32(at), uint32(id), uint32(parent), edge(flags & 3), flags&4 != 0, flags&8 != 0, flags&16 != 0, flags&32 != 0, flags&64 != 0, hash}
		id = end
	}
	d.bad = d.bad || id != len(o.ids)
}

type encoder struct{ b []byte }

func (e *encoder) count(numbers ...int) {
	for _, n := range numbers {
		e.b = binary.AppendUvarint(e.b, uint64(n))
	}
}

func (e *encoder) text(s string) {
	e.count(len(s))
	e.b = append(e.b, s...)
}

func (e *encoder) texts(list []string) {
	e.count(len(list))
	for _, s := range list {
		e.text(s)
	}
}

func bit(b bool) int {
	if b {
		return 1
	}
	return 0
}

// An outlineDecoder reads what an encoder wrote. After an invalid value, bad is set
// and all further reads return zero values.
type outlineDecoder struct {
	b   []byte
	at  int
	bad bool
}

// spoil marks the input as invalid.
func (d *outlineDecoder) spoil() { d.bad, d.at = true, len(d.b) }

// left returns the number of unread bytes.
func (d *outlineDecoder) left() int { return len(d.b) - d.at }

func (d *outlineDecoder) count() int {
	if d.at < len(d.b) && d.b[d.at] < 0x80 {
		d.at++
		return int(d.b[d.at-1])
	}
	n, size := binary.Uvarint(d.b[d.at:])
	if size <= 0 || n > uint64(MaxFile) {
		d.spoil()
		return 0
	}
	d.at += size
	return int(n)
}

// fixed reads eight bytes.
func (d *outlineDecoder) fixed() uint64 {
	if d.left() < 8 {
		d.spoil()
		return 0
	}
	d.at += 8
	return binary.LittleEndian.Uint64(d.b[d.at-8:])
}

func (d *outlineDecoder) text() string {
	n := d.count()
	if n > d.left() {
		d.spoil()
		return ""
	}
	d.at += n
	return string(d.b[d.at-n : d.at])
}

func (d *outlineDecoder) texts() (list []string) {
	for n := d.count(); n > 0 && !d.bad; n-- {
		list = append(list, d.text())
	}
	return list
}

func (d *outlineDecoder) span() rawjson.Span {
	s := rawjson.Span{Start: d.count(), End: d.count()}
	d.bad = d.bad || s.End < s.Start
	return s
}
