package workspace

import (
	"context"

	"github.com/bough-dev/bough/workspace/internal/store"
)

// Dependents are the sessions that depend on a session and would remain if it
// was removed.
type Dependents struct {
	// ContinuedBy are the sessions that continue it. They are incomplete without
	// it, so [Workspace.Remove] refuses even if it is forced.
	ContinuedBy []Entry `json:"continued_by"`
	// OriginOf are the branches and checkpoints that were copied from it, without
	// automatic checkpoints. They are complete without it.
	OriginOf []Entry `json:"origin_of"`
}

// Dependents returns the sessions because of which [Workspace.Remove] and
// [Agent.DeleteTree] refuse to remove a session with the code
// [fault.HasChildren]. With o.Line it returns those that depend on any file of
// the line, as for [Agent.DeleteTree]; o.Force is ignored. Dependents reads no
// session, and does not check for other reasons to refuse.
func (w *Workspace) Dependents(ctx context.Context, name string, o RemoveOptions) (*Dependents, error) {
	return store.Read(ctx, w.store, func(v *store.View) (*Dependents, error) {
		id, err := ownID(v, name)
		if err != nil {
			return nil, err
		}
		ids := []string{id}
		if o.Line {
			if ids, err = v.WholeLine(id); len(ids) == 0 {
				return nil, err
			}
		}
		continued, copied := v.Dependents(ids)
		return &Dependents{entriesOf(v, continued), entriesOf(v, copied)}, nil
	})
}

func entriesOf(v *store.View, ids []string) []Entry {
	list := make([]Entry, len(ids))
	for i, id := range ids {
		list[i] = entryOf(v, id)
	}
	return list
}
