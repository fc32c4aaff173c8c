package store

import (
	"iter"
)

// IDs returns the ids of all messages.
func (l *Line) IDs() iter.Seq[string] {
	return func(yield func(string) bool) {
		for n := range l.Len() {
			if !yield(l.ID(n)) {
				return
			}
		}
	}
}

// IdsOf returns the ids of the messages at nodes.
func (l *Line) IdsOf(nodes []int) iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, n := range nodes {
			if !yield(l.ID(n)) {
				return
			}
		}
	}
}

// Tracks reports whether the line is tracked.
func (l *Line) Tracks() bool {
	return string(l.Parts[0].Own(OwnUntracked)) != "true"
}
