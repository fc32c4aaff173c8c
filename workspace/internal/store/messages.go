package store

import (
	"github.com/bough-dev/bough/session"
)

// NoteUnusable notes the sessions that cannot be read.
func (v *View) NoteUnusable() {
	for _, e := range v.Index.Unusable() {
		v.Store.Opts.Note(e.Err.Error())
	}
}

// Messages returns the messages at nodes of l.
func (v *View) Messages(l *Line, nodes []int) ([]session.Message, error) {
	list := make([]session.Message, 0, len(nodes))
	for _, n := range nodes {
		m, err := v.Message(l, n)
		if err != nil {
			return nil, err
		}
		list = append(list, m)
	}
	return list, nil
}

// Message returns the message at a node of l.
func (v *View) Message(l *Line, node int) (session.Message, error) {
	s, err := v.Reopen(l.Parts[l.Part(node)])
	if err != nil {
		return session.Message{}, err
	}
	return s.Messages[l.Index(node)], nil
}
