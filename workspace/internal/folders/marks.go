package folders

import (
	"context"
	"slices"

	"github.com/bough-dev/bough/internal/states"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace/files"
	"github.com/bough-dev/bough/workspace/internal/store"
	"github.com/tidwall/gjson"
)

// Marks returns the states of messages of a session or its ancestors, in their order, and of each
// message that which find returns first.
func Marks(ctx context.Context, w *store.Store, id string, messages []session.Message) ([]files.Mark, error) {
	return store.Read(ctx, w, func(v *store.View) ([]files.Mark, error) {
		return read(v, func(r *reading) ([]files.Mark, error) {
			if len(r.list) == 0 {
				return nil, nil
			}
			scope, err := v.LineIDs(id)
			if err != nil {
				return nil, err
			}
			ancestors, _ := v.Lineage(id)
			return r.marks(append(ancestors, scope...), messages), nil
		})
	})
}

func (r *reading) marks(scope []string, messages []session.Message) (list []files.Mark) {
	links := map[string][]*states.Link{} // by message, newest first
	for _, l := range r.links {
		if slices.Contains(scope, l.SessionID) {
			links[l.MessageID] = append(links[l.MessageID], l)
		}
	}
	byID := map[string]*states.State{}
	for _, st := range r.list {
		byID[st.ID] = st
	}
	for _, m := range messages {
		var known []string // states of the message
		add := func(folder, state string) {
			if st := byID[state]; st != nil && st.Folder == folder && !slices.Contains(known, state) {
				known = append(known, state)
				list = append(list, files.Mark{Message: session.ID(m.ID), State: *r.recorded(st)})
			}
		}
		if own := gjson.GetBytes(m.Raw, "metadata.bough.files"); own.IsObject() {
			add(own.Get("folder").Str, own.Get("state").Str)
		}
		for _, l := range links[m.ID] {
			add(l.Folder, l.State)
		}
	}
	return list
}

// scope returns the sessions whose links count at a place: its own and its ancestors.
func (r *reading) scope(p *store.Place) []string {
	scope, _ := r.view.Lineage(p.SessionID())
	for _, part := range p.Parts {
		scope = append(scope, part.ID)
	}
	return scope
}
