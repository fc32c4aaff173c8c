package session

import (
	"bytes"
	"slices"

	"github.com/bough-dev/bough/internal/rawjson"
	"github.com/cespare/xxhash/v2"
	"github.com/tidwall/gjson"
)

// messages collects the messages of an outline in the order of the file.
type messages struct {
	marks   []mark
	ids     []byte
	tools   []toolUse
	ties    []tie
	markers []marker
	time    []byte // raw timestamp of the last message, nil if it has none
}

// reset removes all messages and keeps the memory, but not that of the file.
func (c *messages) reset() {
	c.time = nil
	c.marks, c.ids, c.tools, c.ties, c.markers = c.marks[:0], c.ids[:0], c.tools[:0], c.ties[:0], c.markers[:0]
}

// A marker is a message that names the previous session of its file.
type marker struct {
	at       int
	previous string
}

// fields are the raw members of a message that an outline depends on, nil if
// absent.
type fields struct {
	id, metadata, content, toolCalls, toolCallID []byte
}

// add parses the message at the position of w and adds it. It returns its id, empty
// if it has none.
func (c *messages) add(w *rawjson.Walker, data []byte) ([]byte, error) {
	var f fields
	var keys rawjson.Keys
	c.time = nil
	start, _ := w.Start()
	err := w.Object(func(key []byte, keyStart int) error {
		if err := keys.Add(key, keyStart); err != nil {
			return err
		}
		value, err := w.Value()
		if err != nil {
			return err
		}
		switch string(key) {
		case "id":
			f.id = value.Of(data)
		case "metadata":
			f.metadata = value.Of(data)
		case "content":
			f.content = value.Of(data)
		case "tool_calls":
			f.toolCalls = value.Of(data)
		case "tool_call_id":
			f.toolCallID = value.Of(data)
		case "timestamp":
			c.time = value.Of(data)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	end, _ := w.Start()
	id := c.addFields(f, uint32(start), uint32(end))
	c.sum(data, start, end)
	return id, nil
}

// sum sets the hash of the last message, which is data[start:end].
func (c *messages) sum(data []byte, start, end int) {
	m := &c.marks[len(c.marks)-1]
	if m.spaced = bytes.HasSuffix(data[:start], []byte(Separator)); m.spaced {
		m.hash = xxhash.Sum64(data[start-len(Separator) : end])
		return
	}
	var h xxhash.Digest
	h.Reset()
	h.WriteString(Separator)
	h.Write(data[start:end])
	m.hash = h.Sum64()
}

// addRaw adds a valid message that will begin at the offset start, and returns its
// time as timeText does.
func (c *messages) addRaw(raw []byte, start int) string {
	err := rawjson.Walk(raw, func(w *rawjson.Walker) error {
		_, err := c.add(w, raw)
		return err
	})
	if err != nil {
		panic("session: " + err.Error())
	}
	m := &c.marks[len(c.marks)-1]
	m.start, m.end, m.spaced = m.start+uint32(start), m.end+uint32(start), true
	return text(gjson.ParseBytes(c.time))
}

// addFields adds a message from its fields and its span, and returns its id.
func (c *messages) addFields(f fields, start, end uint32) (id []byte) {
	id = idOf(f.id)
	if len(f.metadata) > 0 && f.metadata[0] != '{' {
		f.metadata = nil
	}
	m := mark{start: start, end: end, id: uint32(len(c.ids))}
	c.ids = append(c.ids, id...)
	m.parent = uint32(len(c.ids))
	at := len(c.marks)
	if mayContain(f.metadata, "parent_id") {
		var parent string
		m.edge, parent = parentOf(f.metadata)
		c.ids = append(c.ids, parent...)
	}
	if mayContain(f.metadata, "bough") {
		c.addOwn(&m, at, gjson.GetBytes(f.metadata, "bough"))
	}
	if previous, ok := marks(f.metadata); ok {
		c.markers = append(c.markers, marker{at, previous})
	}
	if calls, results := f.calls(), f.results(); len(calls)+len(results) > 0 {
		c.tools = append(c.tools, toolUse{uint32(at), calls, results})
	}
	c.marks = append(c.marks, m)
	return id
}

// addOwn reads metadata.bough of the message at. Of duplicate members the first one
// counts.
func (c *messages) addOwn(m *mark, at int, own gjson.Result) {
	if !own.IsObject() {
		return
	}
	var continued, format, joined, replaced, merged gjson.Result
	first := func(r *gjson.Result, value gjson.Result) {
		if !r.Exists() {
			*r = value
		}
	}
	own.ForEach(func(key, value gjson.Result) bool {
		switch key.Str {
		case "continued":
			first(&continued, value)
		case "format":
			first(&format, value)
		case OwnJoined:
			first(&joined, value)
		case OwnReplacedBy:
			first(&replaced, value)
		case OwnMerged:
			first(&merged, value)
		}
		return true
	})
	m.late = continued.Bool()
	m.stored = format.Type == gjson.String
	m.merges = merged.IsObject()
	if t := (tie{uint32(at), idText(joined), idText(replaced)}); t.joined != "" || t.replaced != "" {
		m.tied = true
		c.ties = append(c.ties, t)
	}
}

// copy adds the messages from up to but not including to of o. The first of them
// will begin at the offset start; spaced reports whether only the separator will be
// before it.
func (c *messages) copy(o *Outline, from, to int, start uint32, spaced bool) {
	if from == to {
		return
	}
	ids := uint32(len(c.ids))
	first, at := o.marks[from], len(c.marks)
	for _, m := range o.marks[from:to] {
		m.start, m.end = m.start-first.start+start, m.end-first.start+start
		m.id, m.parent = m.id-first.id+ids, m.parent-first.id+ids
		c.marks = append(c.marks, m)
	}
	c.marks[at].spaced = spaced
	end := len(o.ids)
	if to < len(o.marks) {
		end = int(o.marks[to].id)
	}
	c.ids = append(c.ids, o.ids[first.id:end]...)
	for _, t := range o.tools[o.toolsBefore(from):o.toolsBefore(to)] {
		t.at = uint32(int(t.at) - from + at)
		c.tools = append(c.tools, t)
	}
	for _, t := range o.ties[o.tiesBefore(from):o.tiesBefore(to)] {
		t.at = uint32(int(t.at) - from + at)
		c.ties = append(c.ties, t)
	}
}

// idOf returns the id of message i.
func (c *messages) idOf(i int) []byte { return c.ids[c.marks[i].id:c.marks[i].parent] }

// into copies the messages to o and finds the end of its header. o.Meta must be
// set.
func (c *messages) into(o *Outline) {
	o.marks, o.ids = slices.Clone(c.marks), string(c.ids)
	if len(o.marks) > 0 {
		o.marks[0].spaced = false
	}
	o.tools, o.ties = slices.Clone(c.tools), slices.Clone(c.ties)
	if previous := o.continues(); previous != "" {
		for _, m := range c.markers {
			if m.previous == previous {
				o.Header = m.at + 1
				break
			}
		}
	}
}

// parentOf reads the parent_id of a message's metadata.
func parentOf(metadata []byte) (edge, string) {
	switch v := gjson.GetBytes(metadata, "parent_id"); {
	case !v.Exists():
		return follows, ""
	case v.Type == gjson.String && v.Str != "":
		return named, idText(v)
	default:
		return begins, ""
	}
}

// marks reports whether metadata belongs to the marker of a continuation, and
// returns the session that it names.
func marks(metadata []byte) (previous string, ok bool) {
	if !mayContain(metadata, "session_transition") || text(gjson.GetBytes(metadata, "type")) != "session_transition" {
		return "", false
	}
	return text(gjson.GetBytes(metadata, "previous_session")), true
}

// mayContain is a fast check that is false if metadata cannot contain the text s.
func mayContain(metadata []byte, s string) bool {
	return bytes.Contains(metadata, []byte(s)) || bytes.IndexByte(metadata, '\\') >= 0
}

// idOf returns the id in a raw value, empty if it is not one.
func idOf(value []byte) []byte {
	if len(value) > 1 && value[0] == '"' && bytes.IndexByte(value, '\\') < 0 {
		return value[1 : len(value)-1]
	}
	return []byte(idText(gjson.ParseBytes(value)))
}

// timeText returns the timestamp of a message as written, "" if it has none.
func timeText(message []byte) string { return text(gjson.GetBytes(message, "timestamp")) }
