package store

import (
	"fmt"
	"slices"
	"strings"

	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace/fault"
)

// WholeLine returns the files of the line of id, unreadable ones included.
func (v *View) WholeLine(id string) ([]string, error) {
	ids, err := v.Index.Line(id)
	for i := 0; i < len(ids); i++ {
		for _, child := range v.Index.Continuations(ids[i]) {
			if !slices.Contains(ids, child) {
				ids = append(ids, child)
			}
		}
	}
	return ids, err
}

// Dependents returns the sessions that depend on one of ids and are not in ids: those
// that continue it, and those that were copied from it.
func (v *View) Dependents(ids []string) (continued, copied []string) {
	for _, id := range ids {
		for _, child := range v.Index.Children(id) {
			switch {
			case slices.Contains(ids, child):
			case slices.Contains(v.Index.Continuations(id), child):
				continued = append(continued, child)
			case v.isAuto(child): // automatic, and independent of its origin
			default:
				copied = append(copied, child)
			}
		}
		copied = append(copied, v.PenguinBelow(id)...)
	}
	return continued, copied
}

// MayRemove returns an error if a session that stays depends on one of ids.
func (v *View) MayRemove(ids []string, force bool) error {
	continued, copied := v.Dependents(ids)
	refuse := func(why string, children []string, hint string, next fault.Action) error {
		return &fault.Error{
			Code:    fault.HasChildren,
			Message: fmt.Sprintf("%s %s %s", ids[0], why, strings.Join(children, ", ")),
			Hint:    hint,
			Next:    fault.Do(next),
		}
	}
	switch {
	case len(continued) > 0:
		return refuse("is continued by", continued, "", fault.RemoveLine)
	case len(copied) > 0 && !force:
		return refuse("is the origin of", copied, "checkpoints and branches do not need it", fault.RemoveAnyway)
	}
	return nil
}

// isAuto reports whether a session is an automatic checkpoint.
func (v *View) isAuto(id string) bool {
	e := v.Index.Entry(id)
	return e != nil && e.Kind() == session.Checkpoint && e.Auto
}

// PenguinBelow returns Penguin's checkpoints that are not flattened and belong
// to a session that continues id: they are incomplete without id.
func (v *View) PenguinBelow(id string) []string {
	var ids []string
	for _, cp := range v.PenguinIDs() {
		p := v.Penguin[cp]
		if p.Type != "auto" && p.Type != "rollback" || p.Session == id {
			continue
		}
		lineage, _ := v.Index.Lineage(p.Session)
		for i := len(lineage) - 1; i > 0 && v.Kind(lineage[i]) == session.Continuation; i-- {
			if lineage[i-1] == id {
				ids = append(ids, cp)
			}
		}
	}
	return ids
}

// RemoveAll stages the removal of sessions that continue each other, the last
// first, and of a head in one of them.
func (tx *Tx) RemoveAll(ids []string) error {
	parent := ""
	if tx.View.Kind(ids[0]) == session.Continuation {
		parent = tx.View.Index.Origin(ids[0])
	}
	for _, id := range slices.Backward(ids) {
		if err := tx.Remove(id); err != nil {
			return err
		}
	}
	if tx.View.Index.Entry(parent) != nil {
		if o, err := tx.View.Outline(parent); err != nil {
			tx.View.Warn("the link from "+parent+" is not removed", err)
		} else if err := tx.SetContinuedTo(o); err != nil {
			return err
		}
	}
	if h, ok := tx.View.Head(); ok && slices.Contains(ids, h.Session) {
		return tx.Discard(HeadFile)
	}
	return nil
}
