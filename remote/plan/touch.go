package plan

import (
	"maps"
	"slices"

	"github.com/tidwall/gjson"
)

// Touch marks as pending the sessions that may differ in a view after operations on the sessions
// with these ids: the sessions that they continue, and sessions with messages whose append was
// undone, if something else refers to these messages.
func (h *Here) Touch(v *View, ids []string) { h.touch(v, ids, h.SetPending) }

// TouchOwn does the same for operations that the workspace recorded.
func (h *Here) TouchOwn(v *View, ids []string) {
	h.touch(v, ids, func(id string, whole bool) {
		seen := h.isSeen(id)
		if h.setPending(id, whole); seen {
			h.touched.set(id, true)
		}
	})
}

func (h *Here) touch(v *View, ids []string, setPending func(id string, whole bool)) {
	for _, id := range ids {
		s := v.session(id)
		if s == nil {
			continue
		}
		if len(s.Undone) > 0 {
			setPending(id, true)
		}
		for i, one := range v.line(s) {
			if i > 0 {
				setPending(one.ID, false)
			}
			v.touchUndone(gjson.GetBytes(one.Shell, "metadata.branch_point").Str, setPending)
		}
	}
	for _, message := range difference(h.Held, v.held) {
		v.touchUndone(message, setPending)
	}
	for _, tree := range difference(h.Owned, v.owned) {
		v.touchLine(tree, setPending)
	}
	h.Held, h.Owned = slices.Sorted(maps.Keys(v.held)), slices.Sorted(maps.Keys(v.owned))
}

// touchUndone notes the sessions where the append of a message was undone.
func (v *View) touchUndone(message string, setPending func(id string, whole bool)) {
	if message == "" {
		return
	}
	for _, id := range v.state.Undone(message) {
		setPending(id, true)
	}
}

// touchLine notes a session and those that continue it.
func (v *View) touchLine(id string, setPending func(id string, whole bool)) {
	line := []string{id}
	for n := 0; n < len(line); n++ {
		setPending(line[n], false)
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
