package session

import (
	"bytes"

	"github.com/bough-dev/bough/internal/rawjson"
	"github.com/tidwall/gjson"
)

// messages collects what an outline knows of messages, one after the other.
type messages struct {
	marks   []mark
	ids     []byte
	tools   []toolUse
	markers []marker
}

// A marker is the previous session that message at names.
type marker struct {
	at       int
	previous string
}

// add passes the message that w stands before and takes it in. It returns its
// id, "" if it has none.
func (c *messages) add(w *rawjson.Walker, data []byte) (string, error) {
	var id string
	var metadata []byte
	var keys rawjson.Keys
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
			id = idOf(value.Of(data))
		case "metadata":
			if data[value.Start] == '{' {
				metadata = value.Of(data)
			}
		}
		return nil
	})
	if err != nil {
		return "", err
	}
	end, _ := w.Start()
	c.take(id, metadata, data[start:end:end], uint32(start))
	return id, nil
}

// addRaw takes in a message that is valid and will begin at start.
func (c *messages) addRaw(raw []byte, start int) {
	err := rawjson.Walk(raw, func(w *rawjson.Walker) error {
		_, err := c.add(w, raw)
		return err
	})
	if err != nil {
		panic("session: " + err.Error())
	}
	m := &c.marks[len(c.marks)-1]
	m.start, m.end = m.start+uint32(start), m.end+uint32(start)
}

// take takes in a message that begins at start.
func (c *messages) take(id string, metadata, raw []byte, start uint32) {
	m := mark{start: start, end: start + uint32(len(raw)), id: uint32(len(c.ids))}
	c.ids = append(c.ids, id...)
	m.parent = uint32(len(c.ids))
	at := len(c.marks)
	if mayHold(metadata, "parent_id") {
		var parent string
		m.edge, parent = parentOf(metadata)
		c.ids = append(c.ids, parent...)
	}
	if mayHold(metadata, "continued") {
		m.late = gjson.GetBytes(metadata, "bough.continued").Bool()
	}
	if previous, ok := marks(metadata); ok {
		c.markers = append(c.markers, marker{at, previous})
	}
	if bytes.Contains(raw, []byte("tool")) {
		message := Message{ID: id, Raw: raw}
		if calls, results := message.calls(), message.results(); len(calls)+len(results) > 0 {
			c.tools = append(c.tools, toolUse{uint32(at), calls, results})
		}
	}
	c.marks = append(c.marks, m)
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
	for _, t := range o.tools {
		if int(t.at) >= from && int(t.at) < to {
			t.at = uint32(int(t.at) - from + at)
			c.tools = append(c.tools, t)
		}
	}
}

// idOf returns the id of message i.
func (c *messages) idOf(i int) []byte { return c.ids[c.marks[i].id:c.marks[i].parent] }

// into gives o the messages. Its Meta says what it continues.
func (c *messages) into(o *Outline) {
	o.marks, o.ids, o.tools = c.marks, string(c.ids), c.tools
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

// idOf returns the id that value is, "" if it is none.
func idOf(value []byte) string {
	if len(value) > 1 && value[0] == '"' && bytes.IndexByte(value, '\\') < 0 {
		return string(value[1 : len(value)-1])
	}
	return idText(gjson.ParseBytes(value))
}

// timeText returns the time of a message as it is written, "" if it has none.
func timeText(message []byte) string { return text(gjson.GetBytes(message, "timestamp")) }
