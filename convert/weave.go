package convert

import (
	"encoding/json"
	"slices"

	"github.com/tidwall/gjson"
)

// links are the names of the members of a record that say what it is called, and what
// the record before it is.
type links struct{ id, parent string }

// A weave writes the records of messages so that each names one that is written.
type weave struct {
	links
	format string
	read   func(record []byte) bool // it says what a message says
	looked map[*byte]bool           // the same, of the records that were looked at

	written map[string]bool   // the ids of all records that are written
	main    map[string]string // of each message the id of the record that others follow
	owner   map[string]string // the message that a record says
}

// newWeave looks at all records of a transcript that are of a format.
func newWeave(t *Transcript, format string, l links, says func([]byte) bool) *weave {
	w := &weave{
		links: l, format: format, read: says, looked: map[*byte]bool{},
		written: map[string]bool{}, main: map[string]string{}, owner: map[string]string{},
	}
	if t.Format == format {
		for _, r := range t.Records {
			w.take(r)
		}
	}
	for _, m := range t.Messages {
		if !w.has(m) {
			continue
		}
		for _, r := range m.Records {
			if id := w.take(r); id != "" && w.says(r) {
				if _, taken := w.owner[id]; !taken {
					w.owner[id] = m.ID
				}
			}
		}
	}
	for _, m := range t.Messages {
		if w.has(m) {
			for i := range m.Records {
				if id := w.id(m, i); id != "" && w.says(m.Records[i]) {
					w.main[m.ID] = id
				}
			}
		}
	}
	return w
}

// says reports whether a record says what a message says.
func (w *weave) says(record []byte) bool {
	is, known := w.looked[&record[0]]
	if !known {
		is = w.read(record)
		w.looked[&record[0]] = is
	}
	return is
}

// has reports whether a message has records of the format.
func (w *weave) has(m *Message) bool { return m.Format == w.format && len(m.Records) > 0 }

func (w *weave) take(record []byte) string {
	id := gjson.GetBytes(record, w.links.id).Str
	if id != "" {
		w.written[id] = true
	}
	return id
}

// id returns the id of a record of m: its own, or that of the message if it is that of
// another message's record.
func (w *weave) id(m *Message, i int) string {
	id := gjson.GetBytes(m.Records[i], w.links.id).Str
	if other, ok := w.owner[id]; ok && other != m.ID && w.says(m.Records[i]) {
		return m.ID
	}
	return id
}

// own returns the records of a message as they are, but for an id that stands twice, a
// link that makes a ring, and one to a record that is not written, which becomes a link
// to parent. in says that the message before it is written.
func (w *weave) own(m *Message, parent string, in bool) []json.RawMessage {
	list := m.Records
	change := func(i int, name string, value any) {
		if &list[0] == &m.Records[0] {
			list = slices.Clone(list)
		}
		list[i] = setMember(list[i], name, value)
	}
	places := map[string]int{}
	first := -1
	for i, r := range m.Records {
		id := gjson.GetBytes(r, w.links.id).Str
		if id == "" {
			continue
		}
		if now := w.id(m, i); now != id {
			change(i, w.links.id, now)
		}
		if _, taken := places[id]; !taken {
			places[id] = i
		}
		if first < 0 && w.says(r) {
			first = i
		}
	}
	for i := first; i >= 0; {
		link := gjson.GetBytes(m.Records[i], w.parent).Str
		at, here := places[link]
		_, said := w.owner[link]
		switch {
		case here && at < i:
			i = at
			continue
		case link == "":
		case m.Parent == "" && said:
			change(i, w.parent, nil)
		case in && parent != "" && !w.written[link]:
			change(i, w.parent, parent)
		}
		break
	}
	return list
}
