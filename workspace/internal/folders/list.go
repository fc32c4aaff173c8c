package folders

import (
	"context"
	"fmt"
	"slices"

	"github.com/bough-dev/bough/internal/plural"
	"github.com/bough-dev/bough/internal/states"
	"github.com/bough-dev/bough/workspace/files"
	"github.com/bough-dev/bough/workspace/internal/store"
)

// describe returns a state as results have it.
func (r *reading) describe(st *states.State, exact bool) (*files.State, error) {
	d, err := describe(r.Store, st, r.paths[st.Folder])
	if err == nil {
		d.Exact, d.Machine = exact, r.machines[st.Folder]
	}
	return d, err
}

// recorded returns a state as results have it, without what it does not hold.
func (r *reading) recorded(st *states.State) *files.State {
	d := recorded(st, r.paths[st.Folder])
	d.Machine = r.machines[st.Folder]
	return d
}

// List returns all states, or those that belong to a conversation.
func List(ctx context.Context, w *store.Store, session string) (*files.List, error) {
	return store.Read(ctx, w, func(v *store.View) (*files.List, error) {
		var ids []string
		if session != "" {
			id, err := v.Resolve(session)
			if err != nil {
				return nil, err
			}
			if ids, err = v.LineIDs(id); err != nil {
				return nil, err
			}
		}
		return read(v, func(r *reading) (*files.List, error) {
			l := &files.List{States: []files.State{}}
			if len(ids) > 0 && len(r.list) > 0 {
				if err := r.addMessages(ids[0]); err != nil {
					return nil, err
				}
			}
			var damaged []string
			for _, st := range r.list {
				if session != "" && !r.belongs(st, ids) {
					continue
				}
				d, err := r.describe(st, true)
				if err != nil {
					damaged = append(damaged, unreadable(st, err))
					d = r.recorded(st)
				}
				l.States = append(l.States, *d)
			}
			if n := len(damaged) - 1; n > 0 {
				damaged[0] += fmt.Sprintf("; the same holds for %s", plural.Of(n, "other state"))
			}
			if len(damaged) > 0 {
				v.Store.Opts.Note(damaged[0])
			}
			return l, nil
		})
	})
}

// belongs reports whether a state was taken for a message of the sessions.
func (r *reading) belongs(st *states.State, sessions []string) bool {
	return slices.Contains(sessions, st.SessionID) || slices.ContainsFunc(r.links, func(l *states.Link) bool {
		return l.State == st.ID && slices.Contains(sessions, l.SessionID)
	})
}
