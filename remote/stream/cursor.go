package stream

import (
	"maps"

	"github.com/bough-dev/bough/remote/record"
)

// A Cursor is how far a stream was read. The zero Cursor is its beginning.
type Cursor struct {
	Seq     uint64 `json:"seq"`     // of the last record
	Last    string `json:"last"`    // SHA-256 of its stored bytes
	Lamport uint64 `json:"lamport"` // its Lamport
	Key     []byte `json:"key"`     // public key of the machine

	// Missing counts the fetches in a row that did not find a record that must exist, up to one more than their Patience.
	Missing int `json:"missing,omitempty"`
}

// Cursors are the cursors of a remote. They are stored by the caller, together with what it made of
// the records.
type Cursors map[record.Machine]Cursor

// Vector returns the numbers of the last records.
func (c Cursors) Vector() record.Vector {
	v := record.Vector{}
	for m, cursor := range c {
		if cursor.Seq > 0 {
			v[m] = cursor.Seq
		}
	}
	return v
}

// Lamport returns the greatest Lamport of the last records.
func (c Cursors) Lamport() uint64 {
	var most uint64
	for _, cursor := range c {
		most = max(most, cursor.Lamport)
	}
	return most
}

// Merge moves the cursors on to those in o that are further.
func (c Cursors) Merge(o Cursors) {
	for m, cursor := range o {
		if cursor.Seq > c[m].Seq {
			c[m] = cursor
		}
	}
}

func (c Cursors) clone() Cursors {
	if c == nil {
		return Cursors{}
	}
	return maps.Clone(c)
}
