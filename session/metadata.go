package session

import (
	"iter"
	"slices"

	"github.com/bough-dev/bough/internal/rawjson"
)

// A Metadata is the metadata of a session in stored form: members in order,
// with raw values. [Meta] is the decoded form of what bough needs. The zero
// Metadata is empty.
type Metadata struct {
	members []rawjson.Pair
}

// All returns the names and raw values of the members.
func (m Metadata) All() iter.Seq2[string, []byte] {
	return func(yield func(string, []byte) bool) {
		for _, p := range m.members {
			if !yield(p.Key, p.Value) {
				return
			}
		}
	}
}

// Get returns the raw value of a member, nil if there is none.
func (m Metadata) Get(name string) []byte {
	if i := m.index(name); i >= 0 {
		return m.members[i].Value
	}
	return nil
}

// Set sets a member to a raw value. A new member is the last one.
func (m *Metadata) Set(name string, value []byte) {
	if i := m.index(name); i >= 0 {
		m.members[i].Value = value
		return
	}
	m.members = append(m.members, rawjson.Pair{Key: name, Value: value})
}

// Merge sets the members of other for which wanted returns true, all of them if
// wanted is nil.
func (m *Metadata) Merge(other Metadata, wanted func(name string) bool) {
	for _, p := range other.members {
		if wanted != nil && !wanted(p.Key) {
			continue
		}
		if i := m.index(p.Key); i >= 0 {
			m.members[i] = p
		} else {
			m.members = append(m.members, p)
		}
	}
}

func (m Metadata) index(name string) int {
	return slices.IndexFunc(m.members, func(p rawjson.Pair) bool { return p.Key == name })
}
