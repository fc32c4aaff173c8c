package convert

import (
	"bytes"
	"encoding/json"
)

// A thread reads records that name the record before them, and makes the records of
// messages: those that say something, and those that ride along. A record that rides is
// with the message after it, unless its chain leads elsewhere, so that what a file has
// between two messages is not there when the conversation ends with the first of them.
type thread struct {
	to   Sink
	conv Conversation
	held *Message // it is not handed on, since what follows may be part of it
	said int

	riding []rider          // the records since then that say nothing
	at     map[string]place // where the records are in the tree, by their ids
	late   map[string]string
}

// A rider is a record that says nothing to a reader.
type rider struct {
	raw    json.RawMessage
	id     string // "" for one that is in no chain
	parent string
}

// A place is the message that a record is, or hangs on: "" for none. It may name a
// record that was not seen yet.
type place struct {
	message string
	is      bool // the record says what the message says
}

func newThread(to Sink) *thread {
	return &thread{to: to, at: map[string]place{}, late: map[string]string{}}
}

// find returns the message that a record is or hangs on, "" for none. It is not known if
// the chain of records ends at one that is not there; then its name is returned.
func (t *thread) find(record string) (id string, known bool) {
	for record != "" {
		at, ok := t.at[record]
		if !ok {
			return record, false
		}
		if at.is {
			return at.message, true
		}
		record = at.message
	}
	return "", true
}

// ride takes a record that says nothing.
func (t *thread) ride(raw []byte, id, parent string) {
	t.riding = append(t.riding, rider{raw: bytes.Clone(raw), id: id, parent: parent})
	if _, taken := t.at[id]; id == "" || taken {
		return
	}
	at, _ := t.find(parent)
	if at == id {
		at = ""
	}
	t.at[id] = place{message: at}
}

// say takes a record that begins a message. parent is the record before it; m.Parent is
// the message before it.
func (t *thread) say(m *Message, raw []byte, id, parent string) error {
	if t.held == nil {
		for _, r := range t.riding {
			t.conv.Records = append(t.conv.Records, r.raw)
		}
	} else {
		n := t.split(parent)
		for i, r := range t.riding {
			if i < n {
				t.held.Records = append(t.held.Records, r.raw)
			} else {
				m.Records = append(m.Records, r.raw)
			}
		}
		if err := t.to.Message(t.held); err != nil {
			return err
		}
	}
	t.riding = t.riding[:0]
	m.Records = append(m.Records, bytes.Clone(raw))
	t.is(id, m.ID)
	if id, known := t.find(parent); !known {
		t.late[m.ID] = id
	}
	t.held = m
	t.said++
	return nil
}

// split returns how many of the records that ride stay with the message before: those up
// to the last one that is in a chain, but not in that of parent.
func (t *thread) split(parent string) int {
	n := 0
	for i := len(t.riding) - 1; i >= 0; i-- {
		switch r := &t.riding[i]; r.id {
		case "":
		case parent:
			parent = r.parent
		default:
			n = max(n, i+1)
		}
	}
	return n
}

// join takes a record that says more of the message that is held.
func (t *thread) join(raw []byte, id string) {
	for _, r := range t.riding {
		t.held.Records = append(t.held.Records, r.raw)
	}
	t.riding = t.riding[:0]
	t.held.Records = append(t.held.Records, bytes.Clone(raw))
	t.is(id, t.held.ID)
}

func (t *thread) is(id, message string) {
	if id != "" && !t.at[id].is {
		t.at[id] = place{message, true}
	}
}

// end hands on what is held, and ends the conversation if there is one.
func (t *thread) end() error {
	if t.held == nil {
		return nil
	}
	for _, r := range t.riding {
		t.held.Records = append(t.held.Records, r.raw)
	}
	if err := t.to.Message(t.held); err != nil {
		return err
	}
	for message, record := range t.late {
		if id, known := t.find(record); known && id != record {
			if t.conv.Parents == nil {
				t.conv.Parents = map[string]string{}
			}
			t.conv.Parents[message] = id
		}
	}
	return t.to.End(&t.conv)
}
