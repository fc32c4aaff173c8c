package folders

import (
	"fmt"

	"github.com/bough-dev/bough/internal/operation"
	"github.com/bough-dev/bough/internal/restore"
	"github.com/bough-dev/bough/internal/states"
	"github.com/bough-dev/bough/workspace/fault"
	"github.com/bough-dev/bough/workspace/internal/store"
	"github.com/bough-dev/bough/workspace/restores"
)

// Revert restores the files that an operation changed, as far as nothing else changed
// them since, in the operation of tx. conflicts says what happens to the others. A path that stays as it is is a note.
// The caller calls [Held.Conclude] after the commit.
func (h *Held) Revert(tx *store.Tx, of *operation.Restored, conflicts string) error {
	o := restores.Options{Conflicts: conflicts}
	if err := checkOptions(o); err != nil {
		return err
	}
	_, err := read(tx.View, func(r *reading) (store.Nothing, error) {
		byID := map[string]*states.State{}
		for _, st := range r.list {
			byID[st.ID] = st
		}
		before, after := byID[of.Before], byID[of.After]
		if before == nil || after == nil {
			return store.Nothing{}, &fault.Error{Code: fault.Refused, Message: "the states of the files before and after it were removed", Hint: "nothing was changed"}
		}
		g := &goal{target: before, exact: true, timeline: timeline{last: after, own: []restore.Span{{From: before.Tree, To: after.Tree}}}}
		done, err := h.change(tx, r.Store, g, o, true)
		if err == nil && len(done.Kept) > 0 {
			h.w.Opts.Note(fmt.Sprintf("in %s, %s could not be brought back", h.Path, some(done.Kept)))
		}
		return store.Nothing{}, err
	})
	return err
}

// some names paths that stay as they are.
func some(kept []restores.Kept) string {
	first := fmt.Sprintf("%s (%s)", kept[0].Path, kept[0].Why)
	if len(kept) == 1 {
		return first
	}
	return fmt.Sprintf("%d paths, such as %s,", len(kept), first)
}
