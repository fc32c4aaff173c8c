// Package join merges the records of the machines of a remote into one state. The package is
// pure.
//
// A [State] depends only on the set of records that were added, not on their order, as long as each
// record is added after those that its machine had seen. No clock decides anything: a register has
// the value with the greatest stamp, an element of a set is there until an operation that has seen
// it drops it, and an entity is alive while a set or an add on it is not covered by a removal.
//
// A [Base] replaces the first records of a machine, so that they can be deleted. A [View] is
// what the entities mean to a workspace.
package join

import (
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/bough-dev/bough/remote/record"
)

// A State is the join of records. It is not safe for concurrent use, not even for reading. One that
// was opened from rows reads entities from them when they are needed.
type State struct {
	rows     Rows // nil if all entities are in memory
	streams  map[record.Machine]*stream
	entities map[string]*slot           // those in memory
	names    []string                   // of these, ascending; nil if it has to be made again
	linked   map[link][]string          // of those that changed; nil if it has to be made again
	seen     map[position]record.Vector // of the records with a removal
	needs    record.Vector              // what the bases had seen
	lost     record.Vector              // see GiveUp
	kept     []Kept                     // ascending by machine, sequence number and index
}

// A stream is the state of the stream of one machine.
type stream struct {
	Seq     uint64        `json:"seq"` // of the newest record
	Lamport uint64        `json:"lamport"`
	Seen    record.Vector `json:"seen,omitempty"` // what its machine is known to have merged of others
}

// A position identifies a record.
type position struct {
	machine record.Machine
	seq     uint64
}

// Kept is an operation without an effect: a newer version of bough made it, or it is not valid.
type Kept struct {
	Stamp record.Stamp `json:"stamp"`
	Op    record.Op    `json:"op"`
}

// A HeldError reports a record that cannot be added yet.
type HeldError struct {
	Machine record.Machine
	Seq     uint64
	Missing record.Vector // what has to be added before, up to these records
}

func (e *HeldError) Error() string {
	return fmt.Sprintf("record %d of machine %s follows %d others that are missing", e.Seq, e.Machine, len(e.Missing))
}

// New returns a state without records.
func New() *State {
	return &State{
		streams:  map[record.Machine]*stream{},
		entities: map[string]*slot{},
		seen:     map[position]record.Vector{},
		needs:    record.Vector{},
		lost:     record.Vector{},
	}
}

// Vector returns what s includes of each stream.
func (s *State) Vector() record.Vector {
	v := make(record.Vector, len(s.streams))
	for m, st := range s.streams {
		v[m] = st.Seq
	}
	return v
}

// Lamport returns the greatest Lamport of a record that s includes. The next record of a machine
// that has merged s has a greater one.
func (s *State) Lamport() uint64 {
	var greatest uint64
	for _, st := range s.streams {
		greatest = max(greatest, st.Lamport)
	}
	return greatest
}

// Missing returns, for each machine, the number of the last record that a base in s had seen, if s
// does not include it and it was not given up. While the result is not empty, s may lack newer
// values and still have dropped elements: it must not be passed to Project.
func (s *State) Missing() record.Vector { return s.beyond(s.needs) }

// Ahead returns, ascending, the machines of bases in s that had seen records which s does not
// include, and the machines that had seen one of these bases. There are none if Missing returns an
// empty vector.
func (s *State) Ahead() (machines []record.Machine) {
	v := s.Vector()
	for m, n := range s.lost {
		v[m] = max(v[m], n)
	}
	for again := true; again; {
		again = false
		for m, st := range s.streams {
			if v[m] > 0 && !v.Covers(st.Seen) {
				v[m], again = 0, true
				machines = append(machines, m)
			}
		}
	}
	slices.Sort(machines)
	return machines
}

// Kept returns the operations without an effect, by machine, in the order of its stream.
func (s *State) Kept() []Kept { return slices.Clone(s.kept) }

// Newer returns the machines of the operations that are not known, ascending: a newer version of bough wrote them.
// While one of them is not retired, nothing of the remote should be deleted as garbage. An operation that is known and not valid
// has no effect in any version.
func (s *State) Newer() (machines []record.Machine) {
	for _, k := range s.kept { // ascending by machine
		if !known(k.Op.Do) && !slices.Contains(machines, k.Stamp.Machine) {
			machines = append(machines, k.Stamp.Machine)
		}
	}
	return machines
}

// GiveUp marks the records of each machine in lost, up to the given number, as lost: s then accepts
// records that depend on them, although it does not include them. If they appear, they are added as
// any other ones; then s is the same as if they had been there before.
func (s *State) GiveUp(lost record.Vector) {
	for m, n := range lost {
		s.lost[m] = max(s.lost[m], n)
	}
}

// Lost returns the records that were given up and that s does not include.
func (s *State) Lost() record.Vector {
	lost := record.Vector{}
	for m, n := range s.lost {
		if s.seq(m) < n {
			lost[m] = n
		}
	}
	return lost
}

// beyond returns the part of v that s does not include, and that was not given up.
func (s *State) beyond(v record.Vector) record.Vector {
	missing := record.Vector{}
	for m, n := range v {
		if max(s.seq(m), s.lost[m]) < n {
			missing[m] = n
		}
	}
	return missing
}

func (s *State) seq(m record.Machine) uint64 {
	if st := s.streams[m]; st != nil {
		return st.Seq
	}
	return 0
}

// Add adds a record. A record that s includes already changes nothing. The error is a *[HeldError]
// if s does not include the records before it and all that its machine had seen; then s is as it
// was. An operation that is not known or not valid has no effect and is kept, see [State.Kept].
//
// The signature, the machine and the chain of hashes of r must have been verified.
func (s *State) Add(r *record.Record) error {
	st := s.streams[r.Machine]
	if st == nil {
		st = &stream{}
	}
	if r.Seq <= st.Seq {
		return nil
	}
	seen := make(record.Vector, len(r.Seen))
	for m, n := range r.Seen {
		if m != r.Machine && n > 0 {
			seen[m] = n
		}
	}
	missing := s.beyond(seen)
	if r.Seq != st.Seq+1 {
		missing[r.Machine] = r.Seq - 1
	}
	if len(missing) > 0 {
		return &HeldError{r.Machine, r.Seq, missing}
	}
	st.Lamport = lamport(r, st.Lamport, seen)
	removed := removes(r, seen)
	st.Seq = r.Seq
	st.merge(seen)
	s.streams[r.Machine] = st
	for i, op := range r.Ops {
		s.apply(record.Stamp{Lamport: st.Lamport, Machine: r.Machine, Seq: r.Seq, Index: i}, op, seen, removed)
	}
	return nil
}

// lamport returns the Lamport with which the operations of r count. Every honest one is greater than
// that of the record before and not greater than the number of records that r includes, with those
// that its machine gave up; so no machine can have the last word for ever.
func lamport(r *record.Record, before uint64, seen record.Vector) uint64 {
	claimed := max(r.Lamport, before+1)
	return min(claimed, r.Seq+seen.Sum(r.Lost, claimed))
}

// removes returns which records of others the removals of r cover: those in seen, and of a machine that its only removal
// retires those that only others have read.
func removes(r *record.Record, seen record.Vector) record.Vector {
	removals := 0
	covered := seen
	for _, op := range r.Ops {
		if op.Do != record.Remove {
			continue
		}
		removals++
		if m, n := op.Retires(seen); m != r.Machine && n > seen[m] && n <= maxSeq {
			covered = maps.Clone(seen)
			covered[m] = n
		}
	}
	if removals != 1 {
		return seen
	}
	return covered
}

// merge adds to what the machine is known to have merged.
func (st *stream) merge(seen record.Vector) {
	if st.Seen == nil {
		st.Seen = make(record.Vector, len(seen))
	}
	for m, n := range seen {
		st.Seen[m] = max(st.Seen[m], n)
	}
}

// apply applies one operation of a record that had seen the records of others in seen, and whose removals cover removed.
func (s *State) apply(stamp record.Stamp, op record.Op, seen, removed record.Vector) {
	if !valid(op, stamp.Machine) {
		s.keep(Kept{stamp, storable(op)})
		return
	}
	e := s.change(op.Entity)
	if op.Do == record.Drop && op.Field == logField {
		s.whole(op.Entity)
	}
	switch op.Do {
	case record.Set:
		e.touch(stamp)
		e.set(op.Field, Register{op.Value, stamp})
	case record.Add:
		e.touch(stamp)
		e.add(op.Field, Element{stamp, op.Value, op.Body})
	case record.Drop:
		for _, target := range op.Stamps {
			if covers(stamp, seen, target) {
				e.drop(op.Field, elementOf(target), stamp.Machine)
			}
		}
	case record.Remove:
		s.seen[position{stamp.Machine, stamp.Seq}] = removed
		e.remove(stamp, s.seen)
	}
	e.Alive = e.alive(s.seen)
}

// covers reports whether an operation with a stamp, whose machine had seen the records of others in
// seen, had seen another operation. The Lamport of the other one does not matter.
func covers(stamp record.Stamp, seen record.Vector, other record.Stamp) bool {
	if other.Machine == stamp.Machine {
		return place{other.Seq, other.Index}.compare(place{stamp.Seq, stamp.Index}) < 0
	}
	return other.Seq <= seen[other.Machine]
}

// keep inserts k in order.
func (s *State) keep(k Kept) {
	i, _ := slices.BinarySearchFunc(s.kept, k, compareKept)
	s.kept = slices.Insert(s.kept, i, k)
}

func compareKept(a, b Kept) int {
	if c := strings.Compare(string(a.Stamp.Machine), string(b.Stamp.Machine)); c != 0 {
		return c
	}
	return place{a.Stamp.Seq, a.Stamp.Index}.compare(place{b.Stamp.Seq, b.Stamp.Index})
}

// Entities yields the entities whose names begin with prefix, ascending by name, including those
// that are not alive. They must not be modified, and are valid until s changes. The log of a
// machine may lack elements, see [State.Log].
func (s *State) Entities(prefix string) iter.Seq2[string, *Entity] { return s.each(prefix, false) }

// each is Entities, with all elements of the logs if whole is set.
func (s *State) each(prefix string, whole bool) iter.Seq2[string, *Entity] {
	return func(yield func(string, *Entity) bool) {
		get := s.entity
		if whole {
			get = s.whole
		}
		memory := s.sorted() // entities may get into memory meanwhile
		first, _ := slices.BinarySearch(memory, prefix)
		rest := memory[first:]
		next := func(end string) bool { // yields those in memory before a name
			for len(rest) > 0 && strings.HasPrefix(rest[0], prefix) && (end == "" || rest[0] < end) {
				name := rest[0]
				if rest = rest[1:]; !yield(name, get(name)) {
					return false
				}
			}
			return true
		}
		if s.rows == nil {
			next("")
			return
		}
		for name, e := range s.stored(prefix, whole) {
			if !next(name) {
				return
			}
			if len(rest) > 0 && rest[0] == name {
				continue // it may have changed
			}
			if s.entities[name] != nil {
				e = get(name)
			}
			if !yield(name, e) {
				return
			}
		}
		next("")
	}
}

// Entity returns an entity, nil if no operation named it. It must not be modified. The log of a machine
// may lack elements.
func (s *State) Entity(name string) *Entity { return s.entity(name) }

func (s *State) sorted() []string {
	if s.names == nil {
		s.names = slices.Sorted(maps.Keys(s.entities))
	}
	return s.names
}

// A slot holds an entity in memory, or its line of an encoded state until it is asked for.
type slot struct {
	line   []byte
	entity *Entity
	short  bool // elements of the log of a machine are in the rows only

	changed bool // since it was loaded
}

// entity returns an entity, nil if there is none.
func (s *State) entity(name string) *Entity {
	sl := s.entities[name]
	if sl == nil && s.rows != nil {
		if sl = s.load(name, false); sl != nil {
			s.entities[name], s.names = sl, nil
		}
	}
	if sl == nil {
		return nil
	}
	if sl.entity == nil {
		e, err := decodeLine(sl.line)
		if err != nil {
			panic(err) // the checksum was right
		}
		sl.entity = e
		sl.entity.Alive = sl.entity.alive(s.seen)
	}
	return sl.entity
}

// whole returns an entity with all elements, nil if there is none.
func (s *State) whole(name string) *Entity {
	e := s.entity(name)
	sl := s.entities[name]
	if sl == nil || !sl.short {
		return e
	}
	sl.short = false
	if all := s.load(name, true); all != nil {
		for _, el := range all.entity.Sets[logField] {
			e.add(logField, el)
		}
	}
	return e
}

// change returns the entity with a name, which the caller changes.
func (s *State) change(name string) *Entity {
	e := s.entity(name)
	if e == nil {
		e = newEntity()
		s.entities[name], s.names = &slot{entity: e}, nil
	}
	sl := s.entities[name]
	sl.line, sl.changed, s.linked = nil, true, nil
	return e
}
