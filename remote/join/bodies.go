package join

import (
	"iter"
	"slices"

	"github.com/bough-dev/bough/remote/record"
)

// A Place is that of an element in a state.
type Place struct {
	Entity, Field string
	Stamp         record.Stamp
}

// Inline yields the elements of a machine whose items are not in a pack, with their bodies. They must
// not be modified.
func (s *State) Inline(m record.Machine) iter.Seq2[Place, *record.Body] {
	return func(yield func(Place, *record.Body) bool) {
		for name, e := range s.Entities("") {
			for field, list := range e.Sets {
				for _, el := range list {
					if el.Stamp.Machine == m && el.Body != nil && len(el.Body.Items) > 0 && !yield(Place{name, field, el.Stamp}, el.Body) {
						return
					}
				}
			}
		}
	}
}

// Move replaces the body of an element, whose items are then elsewhere. Nothing else changes.
func (s *State) Move(at Place, b *record.Body) {
	e := s.change(at.Entity)
	list := slices.Clone(e.Sets[at.Field])
	for i := range list {
		if list[i].Stamp == at.Stamp {
			list[i].Body = b
		}
	}
	e.Sets[at.Field] = list
}

// Strip removes the content of the items of a session that are not in packs. The state still knows
// which machines added the items.
func (s *State) Strip(id string) {
	name := sessionKind + id
	if s.entity(name) == nil {
		return
	}
	e := s.change(name)
	for field, list := range e.Sets {
		list = slices.Clone(list)
		for i, el := range list {
			if el.Body == nil || len(el.Body.Items) == 0 {
				continue
			}
			body := &record.Body{}
			for _, it := range el.Body.Items {
				body.Items = append(body.Items, record.Item{ID: it.ID, Parent: it.Parent})
			}
			list[i].Body = body
		}
		e.Sets[field] = list
	}
}

// Wrote reports whether a machine set or added anything of an entity.
func (s *State) Wrote(entity string, m record.Machine) bool {
	e := s.entity(entity)
	if e == nil {
		return false
	}
	_, ok := e.touched[m]
	return ok
}

// LogOf returns the elements of the log of a machine.
func (s *State) LogOf(m record.Machine) []Element {
	e := s.whole(machineKind + string(m))
	if e == nil {
		return nil
	}
	return e.Sets[logField]
}
