package session

import (
	"bytes"
	"slices"

	"github.com/bough-dev/bough/internal/rawjson"
	"github.com/tidwall/gjson"
)

// messages collects what an outline knows of messages, one after the other.
type messages struct {
	marks   []mark
	ids     []byte
	tools   []toolUse
	ties    []tie
	markers []marker
	time    []byte // the value of the last message's timestamp, nil if it has none
}

// reset forgets all messages and keeps the memory.
func (c *messages) reset() {
	c.marks, c.ids, c.tools, c.ties, c.markers = c.marks[:0], c.ids[:0], c.tools[:0], c.ties[:0], c.markers[:0]
}

// A marker is the previous session that message at names.
type marker struct {
	at       int
	previous string
}

// fields are the members of a message that an outline looks at, raw, nil where
// they are not there.
type fields struct {
	id, metadata, content, toolCalls, toolCallID []byte
}

// add passes the message that w stands before and takes it in. It returns its
// id, empty if it has none.
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
	return c.take(f, uint32(start), uint32(end)), nil
}

// addRaw takes in a message that is valid and will begin at start, and returns its time
// as timeText does.
func (c *messages) addRaw(raw []byte, start int) string {
	err := rawjson.Walk(raw, func(w *rawjson.Walker) error {
		_, err := c.add(w, raw)
		return err
	})
	if err != nil {
		panic("session: " + err.Error())
	}
	m := &c.marks[len(c.marks)-1]
	m.start, m.end = m.start+uint32(start), m.end+uint32(start)
	return text(gjson.ParseBytes(c.time))
}

// take takes in a message with its place in the file, and returns its id.
func (c *messages) take(f fields, start, end uint32) (id []byte) {
	id = idOf(f.id)
	if len(f.metadata) > 0 && f.metadata[0] != '{' {
		f.metadata = nil
	}
	m := mark{start: start, end: end, id: uint32(len(c.ids))}
	c.ids = append(c.ids, id...)
	m.parent = uint32(len(c.ids))
	at := len(c.marks)
	if mayHold(f.metadata, "parent_id") {
		var parent string
		m.edge, parent = parentOf(f.metadata)
		c.ids = append(c.ids, parent...)
	}
	if mayHold(f.metadata, "bough") {
		c.takeOwn(&m, at, gjson.GetBytes(f.metadata, "bough"))
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

// takeOwn takes in metadata.bough of message at. Of members with the same name the first
// counts.
func (c *messages) takeOwn(m *mark, at int, own gjson.Result) {
	if !own.IsObject() {
		return
	}
	var continued, format, joined, replaced gjson.Result
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
		}
		return true
	})
	m.late = continued.Bool()
	m.stored = format.Type == gjson.String
	if t := (tie{uint32(at), idText(joined), idText(replaced)}); t.joined != "" || t.replaced != "" {
		m.tied = true
		c.ties = append(c.ties, t)
	}
}

// copy takes in messages from to before to of o, the first of which will begin
// at start.
func (c *messages) copy(o *Outline, from, to int, start uint32) {
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

// into gives o the messages. Its Meta says what it continues.
func (c *messages) into(o *Outline) {
	o.marks, o.ids = slices.Clone(c.marks), string(c.ids)
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

// parentOf returns what a message's metadata says of its parent.
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

// marks reports whether metadata is that of a marker, which says where a line
// goes on in another file, and the session that it names.
func marks(metadata []byte) (previous string, ok bool) {
	if !mayHold(metadata, "session_transition") || text(gjson.GetBytes(metadata, "type")) != "session_transition" {
		return "", false
	}
	return text(gjson.GetBytes(metadata, "previous_session")), true
}

// mayHold reports whether metadata may hold the text s. It is a quick look
// before a slow one.
func mayHold(metadata []byte, s string) bool {
	return bytes.Contains(metadata, []byte(s)) || bytes.IndexByte(metadata, '\\') >= 0
}

// idOf returns the id that value is, empty if it is none.
func idOf(value []byte) []byte {
	if len(value) > 1 && value[0] == '"' && bytes.IndexByte(value, '\\') < 0 {
		return value[1 : len(value)-1]
	}
	return []byte(idText(gjson.ParseBytes(value)))
}

// timeText returns the time of a message as it is written, "" if it has none.
func timeText(message []byte) string { return text(gjson.GetBytes(message, "timestamp")) }
