package join

import (
	"maps"
	"slices"

	"github.com/bough-dev/bough/remote/record"
)

// A Base replaces the first records of a machine, so that these can be deleted. It has the
// registers whose values the machine set, its elements, its drops and removals, and its operations
// without an effect. It omits everything that records of other machines replaced, so a state with a
// base is complete only when it includes all records that the machine had seen, see
// [State.Missing].
type Base struct {
	Machine record.Machine
	Seq     uint64        // the last record that the base replaces
	Lamport uint64        // of that record
	Seen    record.Vector // what the machine had merged of others when it made the base
	Lost    record.Vector // what it had given up, and not merged, see [State.Lost]

	entities map[string]*Entity
	removals map[uint64]record.Vector // what the removals in these records cover
	kept     []Kept
}

// Base returns the base of a machine for all its records that s includes. Only the machine itself
// may publish it.
func (s *State) Base(m record.Machine) *Base {
	b := &Base{Machine: m, Seen: s.Vector(), Lost: s.Lost(), entities: map[string]*Entity{}, removals: map[uint64]record.Vector{}}
	delete(b.Seen, m)
	delete(b.Lost, m)
	if st := s.streams[m]; st != nil {
		b.Seq, b.Lamport = st.Seq, st.Lamport
	}
	for name, e := range s.each("", true) {
		if part := e.of(m); part != nil {
			b.entities[name] = part
			for _, r := range part.removed {
				b.removals[r.at.seq] = s.seen[position{m, r.at.seq}]
			}
		}
	}
	for _, k := range s.kept {
		if k.Stamp.Machine == m {
			b.kept = append(b.kept, k)
		}
	}
	return b
}

// of returns the part of an entity that the operations of a machine made, nil if there is none.
func (e *Entity) of(m record.Machine) *Entity {
	part := newEntity()
	if at, ok := e.touched[m]; ok {
		part.touched[m] = at
	}
	for field, r := range e.Registers {
		if r.Stamp.Machine == m {
			part.Registers[field] = r
		}
	}
	for field, list := range e.Sets {
		for _, el := range list {
			if el.Stamp.Machine == m {
				part.Sets[field] = append(part.Sets[field], el)
			}
		}
	}
	for field, dropped := range e.dropped {
		for id, by := range dropped {
			if slices.Contains(by, m) {
				part.drop(field, id, m)
			}
		}
	}
	for _, r := range e.removed {
		if r.by == m {
			part.removed = append(part.removed, r)
		}
	}
	if len(part.touched)+len(part.Registers)+len(part.Sets)+len(part.dropped)+len(part.removed) == 0 {
		return nil
	}
	return part
}

// AddBase adds the records that b replaces, and returns the names of the entities that may have
// changed. A state that includes some of the records receives the rest; one that includes all is not
// changed.
func (s *State) AddBase(b *Base) (changed []string) {
	before := s.seq(b.Machine)
	if b.Seq <= before {
		return nil
	}
	changed = slices.Collect(maps.Keys(b.entities))
	if before > 0 {
		changed = append(changed, s.dropAbsent(b)...)
	}
	for seq, seen := range b.removals {
		s.seen[position{b.Machine, seq}] = seen
	}
	for name, part := range b.entities {
		e := s.change(name)
		e.merge(part, b.Machine, s.seen)
		e.Alive = e.alive(s.seen)
	}
	s.kept = slices.DeleteFunc(s.kept, func(k Kept) bool { return k.Stamp.Machine == b.Machine })
	for _, k := range b.kept {
		s.keep(k)
	}
	st := s.streams[b.Machine]
	if st == nil {
		st = &stream{}
		s.streams[b.Machine] = st
	}
	st.Seq, st.Lamport = b.Seq, b.Lamport
	st.merge(b.Seen)
	for _, v := range []record.Vector{b.Seen, b.Lost} { // who reads the base has or gives up all of it
		for m, n := range v {
			s.needs[m] = max(s.needs[m], n)
		}
	}
	return changed
}

// dropAbsent drops the elements of the machine of b that its base no longer has: someone dropped
// them in a record that s does not include, or that the base replaces. It returns the names of
// the entities with such elements.
func (s *State) dropAbsent(b *Base) (changed []string) {
	for name, e := range s.each("", true) {
		part := b.entities[name]
		for field, list := range e.Sets {
			absent := func(el Element) bool {
				return el.Stamp.Machine == b.Machine && (part == nil || !slices.ContainsFunc(part.Sets[field], func(o Element) bool { return o.Stamp == el.Stamp }))
			}
			if slices.ContainsFunc(list, absent) {
				s.change(name)
				s.whole(name).keepElements(field, func(el Element) bool { return !absent(el) })
				changed = append(changed, name)
			}
		}
	}
	return changed
}

// merge adds to e the part of it that a base of a machine has.
func (e *Entity) merge(part *Entity, m record.Machine, seen map[position]record.Vector) {
	maps.Copy(e.touched, part.touched)
	for field, r := range part.Registers {
		e.set(field, r)
	}
	for field, list := range part.Sets {
		for _, el := range list {
			e.add(field, el)
		}
	}
	for field, dropped := range part.dropped {
		for id := range dropped {
			e.drop(field, id, m)
		}
	}
	for _, r := range part.removed {
		e.remove(record.Stamp{Machine: m, Seq: r.at.seq, Index: r.at.index}, seen)
	}
}
