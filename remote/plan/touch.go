package plan

import (
	"maps"
	"slices"

	"github.com/tidwall/gjson"
)

// Touch notes which sessions may be different in a view after operations on sessions, beside these: what
// they continue, and those with messages whose append was undone, if other things refer to these.
func (h *Here) Touch(v *View, ids []string) {
	for _, id := range ids {
		s := v.session(id)
		if s == nil {
			continue
		}
		if len(s.Undone) > 0 {
			h.SetPending(id, true)
		}
		for i, one := range v.line(s) {
			if i > 0 {
				h.SetPending(one.ID, false)
			}
			h.touchUndone(v, gjson.GetBytes(one.Shell, "metadata.branch_point").Str)
		}
	}
	for _, message := range difference(h.Held, v.held) {
		h.touchUndone(v, message)
	}
	for _, tree := range difference(h.Owned, v.owned) {
		h.touchLine(v, tree)
	}
	h.Held, h.Owned = slices.Sorted(maps.Keys(v.held)), slices.Sorted(maps.Keys(v.owned))
}

// touchUndone notes the sessions where the append of a message was undone.
func (h *Here) touchUndone(v *View, message string) {
	if message == "" {
		return
	}
	for _, id := range v.state.Undone(message) {
		h.SetPending(id, true)
	}
}

// touchLine notes a session and those that continue it.
func (h *Here) touchLine(v *View, id string) {
	line := []string{id}
	for n := 0; n < len(line); n++ {
		h.SetPending(line[n], false)
		for _, next := range v.state.Continuations(line[n]) {
			if !slices.Contains(line, next) {
				line = append(line, next)
			}
		}
	}
}

// difference returns the elements of one list that the other one lacks.
func difference(was []string, is map[string]bool) (list []string) {
	for _, s := range was {
		if !is[s] {
			list = append(list, s)
		}
	}
	for s := range is {
		if _, ok := slices.BinarySearch(was, s); !ok {
			list = append(list, s)
		}
	}
	return list
}
