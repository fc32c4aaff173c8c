package session

import (
	"bytes"
	"cmp"
	"errors"
	"slices"

	"github.com/bough-dev/bough/internal/rawjson"
)

// A piece is a part of a file that is to be written: raw bytes, a function that
// returns size bytes, or a span of another file.
type piece struct {
	raw  []byte
	make func() ([]byte, error)
	size int // of the result of make
	part *Outline
	span rawjson.Span
}

func (p piece) len() int {
	switch {
	case p.make != nil:
		return p.size
	case p.part == nil:
		return len(p.raw)
	}
	return p.span.End - p.span.Start
}

// bytes returns the bytes of a piece without a part.
func (p piece) bytes() ([]byte, error) {
	if p.make == nil {
		return p.raw, nil
	}
	raw, err := p.make()
	if err == nil && len(raw) != p.size {
		err = errors.New("a message changed after the layout of its file")
	}
	return raw, err
}

// A layout describes a file that is to be written: its pieces, and its outline
// without checksums and Stat.
type layout struct {
	pieces  []piece
	outline *Outline
	at      int      // number of bytes so far
	err     error    // if not nil, the file cannot be written
	times   []string // times of the messages from Run.Make, in order

	sealed     rawjson.Span // span of a checkpoint's messages
	sealDigits int          // offset of the seal's checksum in the first piece

	untimed rawjson.Span // span of the last message if its time is unknown

	block int // size of the blocks that the file can share, see Document.Block
	grain int // number of these that are shared as a unit
}

func (l *layout) raw(b []byte) {
	if len(b) > 0 {
		l.pieces = append(l.pieces, piece{raw: b})
		l.at += len(b)
	}
}

func (l *layout) copy(part *Outline, span rawjson.Span) {
	p := piece{part: part, span: span}
	if !part.inFile() {
		p = piece{raw: span.Of(part.data)}
	}
	l.pieces = append(l.pieces, p)
	l.at += p.len()
}

// SealPlaceholder is written in place of a seal's checksum until that is known.
const SealPlaceholder = "00000000"

// manyMessages is the number of messages above which a document is written without
// an outline of each message.
const manyMessages = 1 << 17

// layout returns the layout of the file: the eight keys, formatted as Penguin does.
func (d *Document) layout() *layout {
	l := &layout{outline: &Outline{ID: d.ID, OwnID: d.ID, CreatedAt: d.CreatedAt, LastActive: d.LastActive}, block: d.Block, grain: 1}
	o := l.outline
	head := l.head(d)
	messages := l.messages(d)
	for i, key := range recordKeys {
		end := ",\n"
		if i == len(recordKeys)-1 {
			end = "\n"
		}
		l.records(i, key, end, d.Records.list(i))
	}
	l.raw([]byte("}"))
	if l.err != nil {
		return l
	}
	o.size, o.FitsSeal = l.at, true
	if seal := o.Meta.Sealed; seal != nil && seal.CRC32C == SealPlaceholder {
		l.sealed = messages
		l.sealDigits = bytes.LastIndex(head, []byte(SealPlaceholder))
	}
	if n := len(o.marks); n > 0 {
		d.stamp(o, l.times)
		if _, known := o.stampOf(n - 1); !known {
			l.untimed = o.span(n-1, n)
		}
	}
	return l
}

// head adds all members before the messages as one piece and returns it.
func (l *layout) head(d *Document) []byte {
	o := l.outline
	head := []byte("{\n")
	member := func(key string, value []byte) {
		m := rawjson.Member{Key: key}
		head = append(head, rawjson.Indent...)
		m.KeyStart = len(head)
		head = append(append(head, rawjson.Compact(key)...), ": "...)
		m.Value.Start = len(head)
		head = append(head, value...)
		m.Value.End = len(head)
		head = append(head, ",\n"...)
		o.members = append(o.members, m)
	}
	member(keyID, rawjson.Compact(d.ID))
	member(keyCreated, rawjson.Compact(d.CreatedAt))
	member(keyActive, rawjson.Compact(d.LastActive))
	metadata := rawjson.AppendObject(nil, d.Metadata.members, 1)
	member(keyMetadata, metadata)
	o.setMetadata(metadata, o.members[len(o.members)-1].Value.Start)
	l.raw(head)
	return head
}

// messages adds the messages and returns their span.
func (l *layout) messages(d *Document) rawjson.Span {
	var all messages
	count, at := d.Len(), 0
	begins := opening{at: -1}
	if count > manyMessages {
		l.outline.brief, l.outline.Header = count, d.Header
	}
	if count > 0 && d.Messages[0].Part != nil {
		const before = rawjson.Indent + `"` + keyMessages + `": [`
		l.pad(d.Messages[0], len(before)+len(Separator)-1)
	}
	span := l.array(keyMessages, ",\n", len(d.Messages), func(i int) {
		r := d.Messages[i]
		first := at
		at += r.Len()
		if r.Make != nil {
			begins.add(l.make(r.Make, &all), first)
			return
		}
		if r.Part == nil {
			begins.add(r.Raw, first)
			all.addRaw(r.Raw, l.at)
			l.raw(r.Raw)
			return
		}
		begins.addRun(r, first)
		padded := l.pad(r, 0)
		if l.outline.Brief() {
			l.outline.merges = l.outline.merges || r.Part.mergesIn(r.From, r.To)
		} else {
			all.copy(r.Part, r.From, r.To, uint32(l.at), !padded)
		}
		l.copy(r.Part, r.Part.span(r.From, r.To))
	})
	if l.outline.Brief() {
		l.outline.merges = l.outline.merges || slices.ContainsFunc(all.marks, func(m mark) bool { return m.merges })
	} else {
		all.into(l.outline)
	}
	if l.outline.continues() != "" {
		begins = opening{at: -1}
	}
	l.outline.opening = begins
	return span
}

// make adds the message that f returns and returns it.
func (l *layout) make(f func() ([]byte, error), all *messages) []byte {
	raw, err := f()
	if err != nil {
		l.err = cmp.Or(l.err, err)
		return nil
	}
	l.times = append(l.times, all.addRaw(raw, l.at))
	l.pieces = append(l.pieces, piece{make: f, size: len(raw)})
	l.at += len(raw)
	return raw
}

// array adds a member that is an array of n elements; each(i) adds element i.
func (l *layout) array(key, end string, n int, each func(i int)) rawjson.Span {
	m := rawjson.Member{Key: key, KeyStart: l.at + len(rawjson.Indent)}
	l.raw([]byte(rawjson.Indent + `"` + key + `": `))
	m.Value.Start = l.at
	l.raw([]byte("["))
	var span rawjson.Span
	l.pieces = slices.Grow(l.pieces, 2*n)
	for i := range n {
		if i == 0 {
			l.raw([]byte(Separator[1:]))
			span.Start = l.at
		} else {
			l.raw([]byte(Separator))
		}
		each(i)
		span.End = l.at
	}
	if n > 0 {
		l.raw([]byte("\n" + rawjson.Indent))
	}
	l.raw([]byte("]"))
	m.Value.End = l.at
	l.raw([]byte(end))
	l.outline.members = append(l.outline.members, m)
	return span
}

// records adds the member key, which has index i in [recordKeys].
func (l *layout) records(i int, key, end string, list []Record) {
	count := 0
	span := l.array(key, end, len(list), func(k int) {
		if r := list[k]; r.Part == nil {
			l.raw(r.Raw)
			count++
		} else {
			l.copy(r.Part, r.Part.records[i].span)
			count += r.Part.records[i].count
		}
	})
	l.outline.records[i] = array{span, count}
}

// stamp sets the times of the outline's leaves, as far as the document has them.
// made are the times of the messages from Run.Make.
func (d *Document) stamp(o *Outline, made []string) {
	times := map[int]string{}
	at := 0
	for _, r := range d.Messages {
		switch {
		case r.Make != nil:
			times[at], made = made[0], made[1:]
		case r.Part == nil:
			times[at] = timeText(r.Raw)
		default:
			for _, s := range r.Part.stamps[r.Part.stampsBefore(r.From):r.Part.stampsBefore(r.To)] {
				times[at+int(s.at)-r.From] = s.text
			}
		}
		at += r.Len()
	}
	o.stampLeaves(times)
}

// stampLeaves sets the times of the leaves of o that are in times.
func (o *Outline) stampLeaves(times map[int]string) {
	for _, i := range o.leaves() {
		if text, ok := times[i]; ok {
			o.stamps = append(o.stamps, stamp{uint32(i), text})
		}
	}
}

// setMetadata sets the metadata of o, which begins at the offset at. The metadata
// must be valid.
func (o *Outline) setMetadata(metadata []byte, at int) {
	members, err := rawjson.Members(metadata, rawjson.Root(metadata))
	if err == nil {
		o.Meta, err = metaOf(metadata, members)
	}
	if err != nil {
		panic("session: " + err.Error())
	}
	o.metadata = bytes.Clone(metadata)
	o.LinkOffset = at + linkOffset(members, 0)
}
