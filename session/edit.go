package session

import (
	"cmp"
	"slices"

	"github.com/bough-dev/bough/internal/rawjson"
	"github.com/tidwall/gjson"
	"github.com/tidwall/sjson"
)

// An Edit changes single members of a session file and keeps every other byte.
// [Outline.Edit] returns one, its methods add changes, and Write writes it.
type Edit struct {
	o        *Outline
	metadata []byte
	messages [][]byte
	active   string   // the new last_active, "" for the old one
	changed  []splice // messages with another metadata.bough
	exactly  []splice // if not nil, replaces all other changes
	block    int      // see Align
}

// Edit returns an empty edit of the file of o. o is not modified.
func (o *Outline) Edit() *Edit { return &Edit{o: o, metadata: o.metadata} }

// Of returns the outline of the file before the edit.
func (e *Edit) Of() *Outline { return e.o }

// SetMeta sets a member of the metadata. The name must not contain a dot.
func (e *Edit) SetMeta(name string, value any) {
	metadata := e.metadata
	if metadata == nil {
		metadata = []byte("{}")
	}
	e.metadata = mustEdit(sjson.SetRawBytes(metadata, name, rawjson.Compact(value)))
}

// DeleteMeta removes a member of the metadata; a dot in name separates levels.
func (e *Edit) DeleteMeta(name string) {
	if e.metadata != nil {
		e.metadata = mustEdit(sjson.DeleteBytes(e.metadata, name))
	}
}

// SetOwn sets a member of the metadata's object bough; a nil value removes it. The
// name must not contain a dot.
func (e *Edit) SetOwn(name string, value []byte) {
	if value == nil {
		e.DeleteMeta("bough." + name)
		return
	}
	metadata := e.metadata
	if metadata == nil {
		metadata = []byte("{}")
	}
	e.metadata = mustEdit(sjson.SetRawBytes(metadata, "bough."+name, value))
}

// SetMessageOwn sets a member of metadata.bough of message i of s, the session that
// e edits. No other part of a message may change. It returns false and changes
// nothing if metadata or metadata.bough of the message is not an object.
func (e *Edit) SetMessageOwn(s *Session, i int, name string, value []byte) bool {
	raw := s.Messages[i].Raw
	for _, path := range []string{"metadata", "metadata.bough"} {
		if v := gjson.GetBytes(raw, path); v.Exists() && v.Type != gjson.Null && !v.IsObject() {
			return false
		}
	}
	with := mustEdit(sjson.SetRawBytes(raw, "metadata.bough."+name, value))
	e.changed = append(e.changed, splice{s.span(i, i+1), with, reverting})
	return true
}

// ReplaceMessage replaces message i by raw: the complete form of an open message,
// or the same message with another metadata.bough.
func (e *Edit) ReplaceMessage(i int, raw []byte) {
	e.changed = append(e.changed, splice{e.o.span(i, i+1), raw, reverting})
}

// Remove removes messages, given by their indexes in ascending order, with the separators
// between them. An edit that removes messages must not append any.
func (e *Edit) Remove(list ...int) {
	for len(list) > 0 {
		n := 1
		for n < len(list) && list[n] == list[n-1]+1 {
			n++
		}
		from, to := list[0], list[n-1]+1
		list = list[n:]
		at := e.o.span(from, to)
		switch {
		case from > 0:
			at.Start = e.o.span(from-1, from).End
		case to < e.o.Len():
			at.End = e.o.span(to, to+1).Start
		}
		e.changed = append(e.changed, splice{at, nil, reverting})
	}
}

func mustEdit(b []byte, err error) []byte {
	if err != nil {
		panic("session: " + err.Error())
	}
	return b
}

// SetActive sets last_active.
func (e *Edit) SetActive(t string) { e.active = t }

// Append adds the message at the end.
func (e *Edit) Append(message []byte) { e.messages = append(e.messages, message) }

// Replace replaces the bytes from start up to but not including end, offsets in the old
// file, by other ones. Calls must be in the order of the offsets. An edit that replaces
// bytes makes no other changes.
func (e *Edit) Replace(start, end int, with []byte) {
	e.exactly = append(e.exactly, splice{rawjson.Span{Start: start, End: end}, with, reverting})
}

// Changes calls f with the offsets in the old file of the bytes that e replaces, and with
// what replaces them, in order. The error is that of f.
func (e *Edit) Changes(f func(start, end int, with []byte) error) error {
	for _, s := range e.splices() {
		if err := f(s.Start, s.End, s.with); err != nil {
			return err
		}
	}
	return nil
}

// Bytes returns the edited file. It calls open for the old one.
func (e *Edit) Bytes(open func(*Outline) (*Session, error)) ([]byte, error) {
	return e.layout().bytes(open)
}

// Outline returns the outline of the edited file, without its checksum. It is nil if the
// file has to be decoded for that.
func (e *Edit) Outline() *Outline { return e.layout().outline }

// A splice replaces a span of a file by other bytes.
type splice struct {
	rawjson.Span
	with []byte
	kind int
}

// The kinds of splices, by what they write.
const (
	replacing = iota // the value of a member
	appending        // messages
	adding           // members
	reverting        // anything
)

// splices returns the changes in the order of their offsets.
func (e *Edit) splices() []splice {
	if e.exactly != nil {
		return e.exactly
	}
	o := e.o
	var list []splice
	var added []byte
	put := func(key string, value []byte) {
		if span, ok := rawjson.Find(o.members, key); ok {
			list = append(list, splice{span, value, replacing})
			return
		}
		added = append(append(added, ",\n"+rawjson.Indent...), rawjson.Compact(key)...)
		added = append(append(added, ": "...), value...)
	}
	if e.active != "" {
		put(keyActive, rawjson.Compact(e.active))
	}
	if e.metadata != nil {
		put(keyMetadata, e.metadata)
	}
	list = append(list, e.changed...)
	if len(e.messages) > 0 {
		list = append(list, e.appended())
	}
	if len(added) > 0 {
		end := o.members[len(o.members)-1].Value.End
		list = append(list, splice{rawjson.Span{Start: end, End: end}, added, adding})
	}
	slices.SortStableFunc(list, func(a, b splice) int { return cmp.Compare(a.Start, b.Start) })
	return e.aligned(list)
}

// appended returns the splice that inserts the new messages, with separators.
func (e *Edit) appended() splice {
	array, _ := rawjson.Find(e.o.members, keyMessages)
	at, glue, end := array.Start+1, Separator[1:], "\n"+rawjson.Indent
	if n := e.o.Len(); n > 0 {
		at, glue, end = e.o.span(n-1, n).End, Separator, ""
	}
	var with []byte
	for _, message := range e.messages {
		with = append(append(with, glue...), message...)
		glue = Separator
	}
	return splice{rawjson.Span{Start: at, End: at}, append(with, end...), appending}
}

// layout returns the edited file.
func (e *Edit) layout() *layout {
	l := &layout{block: e.block, grain: editGrain}
	at, appended := 0, 0
	splices := e.splices()
	for _, s := range splices {
		l.copy(e.o, rawjson.Span{Start: at, End: s.Start})
		if s.kind == appending {
			appended = l.at
		}
		l.raw(s.with)
		at = s.End
	}
	l.copy(e.o, rawjson.Span{Start: at, End: e.o.size})
	if e.exactly == nil && !slices.ContainsFunc(splices, func(s splice) bool { return s.kind >= adding }) {
		l.outline = e.outline(splices, appended)
		l.outline.size = l.at
	}
	return l
}

// outline returns the outline of the edited file. All splices must replace members
// or append messages; the appended messages begin at the new offset appended.
func (e *Edit) outline(splices []splice, appended int) *Outline {
	was := e.o
	o := &Outline{
		ID: was.ID, OwnID: was.OwnID, CreatedAt: was.CreatedAt, Header: was.Header,
		LastActive: cmp.Or(e.active, was.LastActive),
	}
	move := func(s rawjson.Span) rawjson.Span {
		return rawjson.Span{Start: moved(s.Start, splices, false), End: moved(s.End, splices, true)}
	}
	for _, m := range was.members {
		o.members = append(o.members, rawjson.Member{Key: m.Key, KeyStart: moved(m.KeyStart, splices, false), Value: move(m.Value)})
	}
	for i, r := range was.records {
		if r.count > 0 {
			o.records[i] = array{move(r.span), r.count}
		}
	}
	if span, ok := rawjson.Find(o.members, keyMetadata); ok && e.metadata != nil {
		o.setMetadata(e.metadata, span.Start)
	}
	o.FitsSeal = o.Meta.Sealed == nil || was.FitsSeal && len(e.messages) == 0
	var all messages
	if n := was.Len(); n > 0 {
		all.copy(was, 0, n, uint32(move(was.span(0, n)).Start), true)
	}
	switch o.opening = was.opening; {
	case o.continues() != "":
		o.opening = opening{at: -1}
	case was.continues() != "":
		o.opening.lost = true
	}
	times := map[int]string{}
	for _, s := range was.stamps {
		times[int(s.at)] = s.text
	}
	glue := len(Separator)
	if was.Len() == 0 {
		glue--
	}
	for _, m := range e.messages {
		if o.continues() == "" {
			o.opening.add(m, len(all.marks))
		}
		time := all.addRaw(m, appended+glue)
		times[len(all.marks)-1] = time
		appended += glue + len(m)
		glue = len(Separator)
	}
	all.into(o)
	o.Header = was.Header
	o.stampLeaves(times)
	return o
}

// moved returns the offset in the new file of a byte of the old one. At an
// insertion, the end of a span does not move, and the start of a span does.
func moved(at int, splices []splice, end bool) int {
	by := 0
	for _, s := range splices {
		if s.End < at || s.End == at && (!end || s.Start < s.End) {
			by += len(s.with) - (s.End - s.Start)
		}
	}
	return at + by
}

// Copy returns message i of s with another id and time, for the header of a
// continuation.
func (s *Session) Copy(i int, id, time string) []byte {
	pairs := rawjson.Pairs(s.data, s.span(i, i+1))
	for k, p := range pairs {
		switch p.Key {
		case "id":
			pairs[k].Value = rawjson.Compact(id)
		case "timestamp":
			pairs[k].Value = rawjson.Compact(time)
		}
	}
	return rawjson.AppendObject(nil, pairs, 2)
}
