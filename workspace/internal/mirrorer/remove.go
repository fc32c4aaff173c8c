package mirrorer

import (
	"slices"

	"github.com/bough-dev/bough/workspace/internal/store"
	"github.com/bough-dev/bough/workspace/mirror"
)

// removals returns a step for each line of which sessions are removed. A line is known only when
// the steps before are committed, so each step looks for its own.
func (a *applying) removals() (list []step) {
	for _, r := range a.changes.Removed {
		list = append(list, func(tx *store.Tx) ([]mirror.Left, error) { return a.remove(tx, r) })
	}
	return list
}

// remove stages the removal of a session, with the removed sessions that continue it.
func (a *applying) remove(tx *store.Tx, r mirror.Removal) ([]mirror.Left, error) {
	v := tx.View
	e := v.Index.Entry(r.Session)
	switch {
	case e == nil || v.IsPenguin(r.Session):
		return nil, nil
	case e.Err != nil:
		return leave(r.Session, "its file cannot be read")
	case tx.Batch.Len() > 0:
		return nil, errLater // a removal changes heads, agents and links
	}
	ids := []string{r.Session}
	all, _ := v.WholeLine(r.Session)
	for _, id := range all {
		if id != r.Session && a.isRemoved(id) && slices.Contains(ids, v.Index.Origin(id)) {
			ids = append(ids, id)
		}
	}
	for _, id := range ids {
		if at := v.Index.Entry(id); at == nil || at.Version() == "" || at.Version() != a.versionOf(id) {
			return leave(r.Session, "it was changed here")
		}
	}
	if err := v.MayRemove(ids, true); err != nil {
		return leave(r.Session, err.Error())
	}
	if err := tx.LeaveAgent(ids, true); err != nil {
		return leaveFor(tx, r.Session, err)
	}
	return nil, tx.RemoveAll(ids)
}

func (a *applying) isRemoved(id string) bool {
	return slices.ContainsFunc(a.changes.Removed, func(r mirror.Removal) bool { return r.Session == id })
}

func (a *applying) versionOf(id string) string {
	for _, r := range a.changes.Removed {
		if r.Session == id {
			return r.Version
		}
	}
	return ""
}
