// Package tree orders the messages of a transcript for formats whose files are linear or
// have an order of their own.
package tree

import (
	"slices"

	"github.com/bough-dev/bough/convert/transcript"
)

// An Outline is the index of a transcript's messages: their positions by id, and the
// children of each.
type Outline struct {
	messages []*transcript.Message
	At       map[string]int
	Children map[string][]*transcript.Message // those of "" have no parent here
}

func NewOutline(t *transcript.Transcript) Outline {
	o := Outline{t.Messages, map[string]int{}, map[string][]*transcript.Message{}}
	for i, m := range t.Messages {
		o.At[m.ID] = i
	}
	for _, m := range t.Messages {
		p := o.Parent(m)
		o.Children[p] = append(o.Children[p], m)
	}
	return o
}

// Leaf returns the id of the message at which the conversation continues.
func Leaf(t *transcript.Transcript) string {
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

func (o Outline) Has(id string) bool {
	_, ok := o.At[id]
	return ok
}

// Parent returns the id of the message before m, "" if that is not among them.
func (o Outline) Parent(m *transcript.Message) string {
	if o.Has(m.Parent) {
		return m.Parent
	}
	return ""
}

// PathTo returns the messages on the path to the one with an id, root first.
func (o Outline) PathTo(id string) (path []*transcript.Message) {
	for o.Has(id) && len(path) < len(o.messages) {
		m := o.messages[o.At[id]]
		path = append(path, m)
		id = m.Parent
	}
	slices.Reverse(path)
	return path
}
