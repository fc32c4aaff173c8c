// Package record defines the records with which the machines of a remote exchange their
// changes. The package is pure.
//
// Each machine writes a stream of records: numbered from 1 without gaps, never changed, and
// written by it alone. A record is a list of operations on entities. An entity has registers,
// sets and an existence, all of which merge without a clock (package join), whatever the entity
// is: a version of bough that does not know an entity keeps and merges its operations too.
//
// The entities, by the part of the name before the slash:
//
//	session/ID       register shell: the session file without its messages and title
//	                 register title: a string
//	                 register newest: the id of the message that was added last
//	                 register owner: who made it, a string
//	                 register project: that of its folder, an object with id and path
//	                 register purged: true after a user purged the session
//	                 set messages: runs of messages, see Body and Item
//	                 set undone: ids of messages whose append was undone
//	                 register message/ID: metadata that a user set, of the message
//	bookmarks        set all: bookmarks
//	agent/KEY        register name, register settings, register head, register owner; set trees. KEY is drawn
//	                 by the machine that created the agent
//	exploration/ID   register file
//	learnings        set all
//	attachment/HASH  set content: one run, whose only item is the file
//	state/ID         sets record, with one value for all time, and links: see package travel
//	folder/ID        register about; set objects: runs whose items are packs of the objects of states
//	forgotten        set all: SHA-256 of contents that were deleted permanently
//	machine/ID       registers name, person, head and at; set log: operations of its workspace. Only
//	                 the machine writes it, and another one removes it to retire the machine
//
// A register's value is the one with the greatest Stamp. An element of a set is there until an
// operation that has seen it drops it, by its stamp. An entity is alive while a set or an add on it
// is not covered by a removal of it: removing wins only over what the remover had seen.
package record

import (
	"cmp"
	"encoding/json"
)

// Format is the version of the records that this package defines.
const Format = 1

// A Machine identifies one writer of a remote: 32 hexadecimal digits, the first half of the SHA-256
// of its public key.
type Machine string

// A Vector says how much of each stream is included: the number of the last record. A machine that
// is absent is included up to 0, which is nothing.
type Vector map[Machine]uint64

// Covers reports whether v includes all that o does.
func (v Vector) Covers(o Vector) bool {
	for m, n := range o {
		if v[m] < n {
			return false
		}
	}
	return true
}

// Sum returns how many records v and the parts of lost beyond it have, at most limit.
func (v Vector) Sum(lost Vector, limit uint64) (sum uint64) {
	for m, n := range v {
		sum = min(sum+min(max(n, lost[m]), limit), limit)
	}
	for m, n := range lost {
		if _, ok := v[m]; !ok {
			sum = min(sum+min(n, limit), limit)
		}
	}
	return sum
}

// A Stamp identifies an operation in a remote and orders operations: an operation is greater than
// all that its machine had seen when it was written.
type Stamp struct {
	Lamport uint64  `json:"lamport"`
	Machine Machine `json:"machine"`
	Seq     uint64  `json:"seq"`   // of the record
	Index   int     `json:"index"` // in the record, from 0
}

// Compare orders stamps by Lamport, Machine, Seq and Index.
func (s Stamp) Compare(o Stamp) int {
	return cmp.Or(cmp.Compare(s.Lamport, o.Lamport), cmp.Compare(s.Machine, o.Machine), cmp.Compare(s.Seq, o.Seq), cmp.Compare(s.Index, o.Index))
}

// A Record is one object of a stream.
type Record struct {
	Format  int     `json:"format"`
	Machine Machine `json:"machine"`
	Seq     uint64  `json:"seq"`            // from 1
	Lamport uint64  `json:"lamport"`        // greater than that of every record that it includes, and at most one more than their number with those in Lost
	Seen    Vector  `json:"seen"`           // what its machine had merged; its own records before this one are always included
	Lost    Vector  `json:"lost,omitempty"` // for each retired machine, the number of its last record that the writer has given up, because records in Seen had seen it
	Before  string  `json:"before"`         // SHA-256 of the stored bytes of the record before, in hexadecimal digits; "" for the first
	Key     []byte  `json:"key,omitempty"`  // of the first record: the machine's public key, Ed25519
	Ops     []Op    `json:"ops"`
}

// Stamp returns the stamp of the operation with an index.
func (r *Record) Stamp(index int) Stamp { return Stamp{r.Lamport, r.Machine, r.Seq, index} }

// The actions of operations. An operation with another action is kept and has no effect.
const (
	Set    = "set"    // Field of Entity, a register, is Value
	Add    = "add"    // the set Field of Entity has Value or Body, under the stamp of the operation
	Drop   = "drop"   // the set Field of Entity does not have the elements with Stamps
	Remove = "remove" // Entity is removed, as far as the record's machine had seen it
)

// An Op is one operation of a record.
type Op struct {
	Do     string          `json:"do"`
	Entity string          `json:"entity"`
	Field  string          `json:"field,omitempty"`
	Value  json.RawMessage `json:"value,omitempty"`
	Body   *Body           `json:"body,omitempty"`
	Stamps []Stamp         `json:"stamps,omitempty"`
}

// A Body is a run of items: inline if it is small, else a part of a pack.
type Body struct {
	Items []Item `json:"items,omitempty"`

	Pack  string `json:"pack,omitempty"`  // SHA-256 of the stored bytes of the pack, its name
	At    int64  `json:"at,omitempty"`    // in the content of the pack, in bytes
	Size  int64  `json:"size,omitempty"`  // in the content of the pack, in bytes: lines, each an Item in JSON
	Count int    `json:"count,omitempty"` // of items
}

// An Item is a part of a session: one message, or the messages of a path of another session, which
// a snapshot repeats; or the content of an attachment.
type Item struct {
	ID     string          `json:"id,omitempty"`
	Parent *string         `json:"parent"`           // null for a root
	Raw    json.RawMessage `json:"raw,omitempty"`    // the message as it is stored
	Header bool            `json:"header,omitempty"` // the message is in the header of a continuation

	Path *Path `json:"path,omitempty"`

	Content []byte `json:"content,omitempty"`
}

// A Path is the messages from First to Last of a session, following parents, as they were published.
type Path struct {
	Session string `json:"session"`
	First   string `json:"first"`
	Last    string `json:"last"`
	Count   int    `json:"count"`
	SHA256  string `json:"sha256"` // of the messages, a line break after each
}
