package convert

import "slices"

// An outline is what is known of the messages of a transcript that is written: their places
// by id, and the children of each.
type outline struct {
	messages []*Message
	at       map[string]int
	children map[string][]*Message // "" those without a parent here
}

func outlineOf(t *Transcript) outline {
	o := outline{t.Messages, map[string]int{}, map[string][]*Message{}}
	for i, m := range t.Messages {
		o.at[m.ID] = i
	}
	for _, m := range t.Messages {
		p := o.parent(m)
		o.children[p] = append(o.children[p], m)
	}
	return o
}

// leaf returns the id of the message where the conversation goes on.
func leafOf(t *Transcript) string {
	for _, m := range t.Messages {
		if m.ID == t.Leaf {
			return m.ID
		}
	}
	if n := len(t.Messages); n > 0 {
		return t.Messages[n-1].ID
	}
	return ""
}

func (o outline) has(id string) bool {
	_, ok := o.at[id]
	return ok
}

// parent returns the id of the message before m, "" if that is not among them.
func (o outline) parent(m *Message) string {
	if o.has(m.Parent) {
		return m.Parent
	}
	return ""
}

// path returns the messages that lead to the one of an id, from their root.
func (o outline) pathTo(id string) (path []*Message) {
	for o.has(id) && len(path) < len(o.messages) {
		m := o.messages[o.at[id]]
		path = append(path, m)
		id = m.Parent
	}
	slices.Reverse(path)
	return path
}
