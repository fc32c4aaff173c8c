package join

import (
	"cmp"
	"encoding/json"
	"slices"

	"github.com/bough-dev/bough/remote/record"
)

// An Entity is the result of all operations on one name.
type Entity struct {
	Alive     bool // some set or add of it is not covered by a removal
	Registers map[string]Register
	Sets      map[string][]Element // ascending by stamp; never empty

	touched map[record.Machine]place                // the last set or add of each machine
	removed []removal                               // ascending by machine, place
	dropped map[string]map[element][]record.Machine // of each set: who dropped an element of another machine, ascending
}

// A Register is a value and the operation that set it.
type Register struct {
	Value json.RawMessage
	Stamp record.Stamp
}

// An Element is an element of a set: a value, or a run of items.
type Element struct {
	Stamp record.Stamp
	Value json.RawMessage
	Body  *record.Body
}

// A place is that of an operation in the stream of a machine.
type place struct {
	seq   uint64
	index int
}

func (p place) compare(o place) int {
	return cmp.Or(cmp.Compare(p.seq, o.seq), cmp.Compare(p.index, o.index))
}

// A removal is an operation that removed an entity.
type removal struct {
	by record.Machine
	at place
}

func (r removal) compare(o removal) int {
	return cmp.Or(cmp.Compare(r.by, o.by), r.at.compare(o.at))
}

// An element identifies an element of a set.
type element struct {
	of record.Machine
	at place
}

func elementOf(s record.Stamp) element { return element{s.Machine, place{s.Seq, s.Index}} }

func (e element) compare(o element) int {
	return cmp.Or(cmp.Compare(e.of, o.of), e.at.compare(o.at))
}

func newEntity() *Entity {
	return &Entity{
		Registers: map[string]Register{},
		Sets:      map[string][]Element{},
		touched:   map[record.Machine]place{},
		dropped:   map[string]map[element][]record.Machine{},
	}
}

func (e *Entity) touch(s record.Stamp) {
	at := place{s.Seq, s.Index}
	if at.compare(e.touched[s.Machine]) > 0 {
		e.touched[s.Machine] = at
	}
}

// Unseen reports whether the entity has a set or an add, and whether it has a removal, of another
// machine than m and beyond seen.
func (e *Entity) Unseen(m record.Machine, seen record.Vector) (change, removal bool) {
	for by, at := range e.touched {
		change = change || by != m && at.seq > seen[by]
	}
	for _, r := range e.removed {
		removal = removal || r.by != m && r.at.seq > seen[r.by]
	}
	return change, removal
}

func (e *Entity) set(field string, r Register) {
	if old, ok := e.Registers[field]; !ok || old.Stamp.Compare(r.Stamp) < 0 {
		e.Registers[field] = r
	}
}

// add adds an element that is not there and was not dropped.
func (e *Entity) add(field string, el Element) {
	if e.dropped[field][elementOf(el.Stamp)] != nil {
		return
	}
	list := e.Sets[field]
	i, there := slices.BinarySearchFunc(list, el.Stamp, func(a Element, s record.Stamp) int { return a.Stamp.Compare(s) })
	if !there {
		e.Sets[field] = slices.Insert(list, i, el)
	}
}

// drop drops an element, and remembers it if the base of its own machine may still have it.
func (e *Entity) drop(field string, id element, by record.Machine) {
	if id.of != by {
		if e.dropped[field] == nil {
			e.dropped[field] = map[element][]record.Machine{}
		}
		list := e.dropped[field][id]
		if i, there := slices.BinarySearch(list, by); !there {
			e.dropped[field][id] = slices.Insert(list, i, by)
		}
	}
	e.keepElements(field, func(el Element) bool { return elementOf(el.Stamp) != id })
}

// keepElements deletes the elements of a set for which keep returns false.
func (e *Entity) keepElements(field string, keep func(Element) bool) {
	list := slices.DeleteFunc(e.Sets[field], func(el Element) bool { return !keep(el) })
	if len(list) == 0 {
		delete(e.Sets, field)
		return
	}
	e.Sets[field] = list
}

// remove adds a removal, and deletes the earlier ones of its machine that cover no more.
func (e *Entity) remove(s record.Stamp, seen map[position]record.Vector) {
	r := removal{s.Machine, place{s.Seq, s.Index}}
	now := seen[position{s.Machine, s.Seq}]
	e.removed = slices.DeleteFunc(e.removed, func(o removal) bool {
		return o.by == r.by && now.Covers(seen[position{o.by, o.at.seq}])
	})
	i, _ := slices.BinarySearchFunc(e.removed, r, removal.compare)
	e.removed = slices.Insert(e.removed, i, r)
}

// alive reports whether an operation is not covered by a removal. A removal covers all operations
// of a machine up to one, so only the last of each machine matters.
func (e *Entity) alive(seen map[position]record.Vector) bool {
	for m, last := range e.touched {
		if !slices.ContainsFunc(e.removed, func(r removal) bool {
			stamp := record.Stamp{Machine: r.by, Seq: r.at.seq, Index: r.at.index}
			return covers(stamp, seen[position{r.by, r.at.seq}], record.Stamp{Machine: m, Seq: last.seq, Index: last.index})
		}) {
			return true
		}
	}
	return false
}
