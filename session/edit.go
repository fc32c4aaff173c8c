package session

import (
	"cmp"
	"slices"

	"github.com/bough-dev/bough/internal/rawjson"
	"github.com/tidwall/gjson"
	"github.com/tidwall/sjson"
)

// An Edit changes single members of a session file and leaves every other byte
// where it is. Make one with [Outline.Edit], say what changes, and give it to
// [Folder.Replace].
type Edit struct {
	o        *Outline
	metadata []byte
	messages [][]byte
	active   string   // the new last_active, "" for the old one
	changed  []splice // messages that get another metadata.bough
	exactly  []splice // what changes in place of all that, if not nil
}

// Edit begins an edit of the file of o, which does not change.
func (o *Outline) Edit() *Edit { return &Edit{o: o, metadata: o.metadata} }

// Of returns the outline of the file that e changes.
func (e *Edit) Of() *Outline { return e.o }

// SetMeta sets a member of the metadata. The name must not hold a dot.
func (e *Edit) SetMeta(name string, value any) {
	metadata := e.metadata
	if metadata == nil {
		metadata = []byte("{}")
	}
	e.metadata = mustEdit(sjson.SetRawBytes(metadata, name, rawjson.Compact(value)))
}

// DeleteMeta removes a member of the metadata; a dot leads into an object.
func (e *Edit) DeleteMeta(name string) {
	if e.metadata != nil {
		e.metadata = mustEdit(sjson.DeleteBytes(e.metadata, name))
	}
}

// SetOwn sets a member of the metadata's object bough, nil removes it. The name
// must not hold a dot.
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

// SetMessageOwn sets a member of metadata.bough of message i of s, whose outline e
// is an edit of: the one thing of a message that may change. It reports whether
// that can be: the metadata of a message may be no object.
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

// ReplaceMessage puts a message, raw, in the place of message i: an open message that is
// complete now, or one of which only metadata.bough changes.
func (e *Edit) ReplaceMessage(i int, raw []byte) {
	e.changed = append(e.changed, splice{e.o.span(i, i+1), raw, reverting})
}

func mustEdit(b []byte, err error) []byte {
	if err != nil {
		panic("session: " + err.Error())
	}
	return b
}

// SetActive sets last_active.
func (e *Edit) SetActive(t string) { e.active = t }

// Append adds a message, raw, at the end.
func (e *Edit) Append(message []byte) { e.messages = append(e.messages, message) }

// A splice is bytes that take the place of others in a file.
type splice struct {
	rawjson.Span
	with []byte
	kind int
}

// The kinds of splices.
const (
	replacing = iota // the value of a member
	appending        // messages
	adding           // members
	reverting        // anything
)

// splices returns what the edit changes, in the order of the file.
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
	return list
}

// separator stands between messages, as in Penguin's files.
const separator = ",\n    "

// appended returns the messages that are added, with what goes before them.
func (e *Edit) appended() splice {
	array, _ := rawjson.Find(e.o.members, keyMessages)
	at, glue, end := array.Start+1, separator[1:], "\n"+rawjson.Indent
	if n := e.o.Len(); n > 0 {
		at, glue, end = e.o.span(n-1, n).End, separator, ""
	}
	var with []byte
	for _, message := range e.messages {
		with = append(append(with, glue...), message...)
		glue = separator
	}
	return splice{rawjson.Span{Start: at, End: at}, append(with, end...), appending}
}

// layout returns the file as edited.
func (e *Edit) layout() *layout {
	l := &layout{}
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

// outline returns what the outline will be after splices that replace members
// and append messages at the new offset appended.
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
		all.copy(was, 0, n, uint32(move(was.span(0, n)).Start))
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
	glue := len(separator)
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
		glue = len(separator)
	}
	all.into(o)
	o.Header = was.Header
	o.stampLeaves(times)
	return o
}

// moved returns where a byte of the old file stands after splices. Where one
// inserts bytes, what ends there stays and what begins there moves.
func moved(at int, splices []splice, end bool) int {
	by := 0
	for _, s := range splices {
		if s.End < at || s.End == at && (!end || s.Start < s.End) {
			by += len(s.with) - (s.End - s.Start)
		}
	}
	return at + by
}

// A NewMessage is a message to be written.
type NewMessage struct {
	ID       string
	Role     string
	Content  []byte // JSON
	Category string // "" for the one that goes with the role
	Time     string
	Metadata []rawjson.Pair
	Line     bool // it is written on one line
}

// Encode returns m as the ten keys of a message, laid out for a place in a
// session's messages.
func (m NewMessage) Encode() []byte {
	const depth = 2
	category := m.Category
	if category == "" {
		category = Category(m.Role)
	}
	quote := func(v any) []byte { return rawjson.Compact(v) }
	object := func(pairs []rawjson.Pair, depth int) []byte {
		if m.Line {
			return rawjson.AppendLine(nil, pairs)
		}
		return rawjson.AppendObject(nil, pairs, depth)
	}
	return object([]rawjson.Pair{
		{Key: "role", Value: quote(m.Role)},
		{Key: "content", Value: m.Content},
		{Key: "category", Value: quote(category)},
		{Key: "id", Value: quote(m.ID)},
		{Key: "timestamp", Value: quote(m.Time)},
		{Key: "metadata", Value: object(m.Metadata, depth+1)},
		{Key: "tokens", Value: quote(0)},
		{Key: "agent_id", Value: quote(nil)},
		{Key: "recipient_id", Value: quote(nil)},
		{Key: "message_type", Value: quote("message")},
	}, depth)
}

// Category returns Penguin's category for messages of a role.
func Category(role string) string {
	switch role {
	case "system":
		return "SYSTEM"
	case "tool":
		return "SYSTEM_OUTPUT"
	}
	return "DIALOG"
}

// Marker returns the message that ends the header of a continuation of previous
// and says what the next message follows.
func Marker(id, previous, parent, time string) []byte {
	quote := func(v string) []byte { return rawjson.Compact(v) }
	return NewMessage{
		ID:      id,
		Role:    "system",
		Content: quote("Continuing from session " + previous),
		Time:    time,
		Metadata: []rawjson.Pair{
			{Key: "kind", Value: quote("system")},
			{Key: "type", Value: quote("session_transition")},
			{Key: "previous_session", Value: quote(previous)},
			{Key: "parent_id", Value: quote(parent)},
		},
	}.Encode()
}

// Copy returns the members of message i of s with another id and time: how a
// continuation repeats a header.
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
