package workspace

import (
	"context"
	"slices"

	"github.com/bough-dev/bough/internal/operation"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace/bookmark"
	"github.com/bough-dev/bough/workspace/internal/store"
)

// A RemovedExploration lists what [Exploration.Remove] moved to the trash.
type RemovedExploration struct {
	ID      string   `json:"id"`
	Removed []string `json:"removed_session_ids"`
	Kept    []string `json:"kept_session_ids"` // sessions that are needed otherwise
}

// Remove moves the file of the exploration to the trash, and the sessions of
// its branches. branches maps each session to the id of the branch's result
// message. A session stays if it has later messages, if a session that stays
// was copied from it, or if the head, a bookmark or an agent refers to it. The
// file need not be valid. The caller must hold the exploration; see
// [Exploration.Hold].
func (x Exploration) Remove(ctx context.Context, branches map[string]string) (*RemovedExploration, error) {
	op := operation.Operation{Verb: "explore rm", Args: store.Args{"exploration": x.id}}
	return store.Update(ctx, x.w.store, op, func(tx *store.Tx) (*RemovedExploration, error) {
		r := &RemovedExploration{ID: x.id, Removed: []string{}, Kept: []string{}}
		if len(branches) > 0 {
			if err := tx.View.Whole(); err != nil {
				return nil, err
			}
			marks, _, err := tx.View.Bookmarks()
			if err != nil {
				return nil, err // a damaged agent may refer to any session
			}
			if r.Removed, r.Kept, err = unneededBranches(tx.View, branches, marks.Bookmarks); err != nil {
				return nil, err
			}
		}
		for _, s := range r.Removed {
			if err := tx.Remove(s); err != nil {
				return nil, err
			}
		}
		return r, tx.Discard(store.ExplorationsDir + "/" + x.id + ".json")
	})
}

// unneededBranches divides the sessions of branches into those that nothing
// else refers to, and the others. It omits missing sessions.
func unneededBranches(v *store.View, branches map[string]string, marks []bookmark.Bookmark) (unneeded, needed []string, err error) {
	unneeded, needed = []string{}, []string{}
	for _, e := range v.Index.Entries() {
		result, ok := branches[e.ID]
		if !ok {
			continue
		}
		extended, err := extended(v, e.ID, result)
		if err != nil {
			return nil, nil, err
		}
		if extended || pointedAt(v, e.ID, marks) {
			needed = append(needed, e.ID)
		} else {
			unneeded = append(unneeded, e.ID)
		}
	}
	// The origins of a session that stays must stay.
	for i := 0; i < len(unneeded); i++ {
		stays := func(child string) bool { return !slices.Contains(unneeded, child) }
		if id := unneeded[i]; slices.ContainsFunc(v.Index.Children(id), stays) || len(v.PenguinBelow(id)) > 0 {
			needed = append(needed, id)
			unneeded = slices.Delete(unneeded, i, i+1)
			i = -1
		}
	}
	return unneeded, needed, nil
}

// extended reports whether the session of a branch has messages other than the copied path
// and the result.
func extended(v *store.View, id, result string) (bool, error) {
	o, err := v.Outline(id)
	if err != nil {
		return false, err
	}
	if o.Len() == 0 || v.Kind(id) != session.Branch {
		return true, nil
	}
	last := o.MessageID(o.Len() - 1)
	if last == o.Meta.BranchPoint {
		return false, nil
	}
	return last != result || o.Len() < 2 || o.MessageID(o.Len()-2) != o.Meta.BranchPoint, nil
}

// pointedAt reports whether the head, a bookmark or an agent refers to a
// session.
func pointedAt(v *store.View, id string, marks []bookmark.Bookmark) bool {
	if h, ok := v.Head(); ok && h.Session == id {
		return true
	}
	owner, err := v.Owner(id)
	return err != nil || owner != nil || slices.ContainsFunc(marks, func(b bookmark.Bookmark) bool { return b.Session == id })
}
