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

// Marks returns the states of the messages on the path to ref, in the order of the path, and of
// each message that which find returns first.
func Marks(ctx context.Context, w *store.Store, ref string) ([]files.Mark, error) {
	return store.Read(ctx, w, func(v *store.View) ([]files.Mark, error) {
		return read(v, func(r *reading) ([]files.Mark, error) {
			if len(r.list) == 0 {
				return nil, nil
			}
			p, err := v.Place(ref, true)
			if err != nil || p.Node < 0 {
				return nil, err
			}
			return r.marks(p)
		})
	})
}

func (r *reading) marks(p *store.Place) (list []files.Mark, err error) {
	scope := r.scope(p)
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
	for _, node := range p.Path(p.Node) {
		m, err := r.view.Message(p.Line, node)
		if err != nil {
			return nil, err
		}
		var known []string // states of the message
		add := func(folder, state string) {
			if st := byID[state]; st != nil && st.Folder == folder && !slices.Contains(known, state) {
				known = append(known, state)
				list = append(list, files.Mark{Message: session.ID(m.ID), State: *recorded(st, r.paths[folder])})
			}
		}
		if own := gjson.GetBytes(m.Raw, "metadata.bough.files"); own.IsObject() {
			add(own.Get("folder").Str, own.Get("state").Str)
		}
		for _, l := range links[p.ID(node)] {
			add(l.Folder, l.State)
		}
	}
	return list, nil
}

// scope returns the sessions whose links count at a place: its own and its ancestors.
func (r *reading) scope(p *store.Place) []string {
	scope, _ := r.view.Lineage(p.SessionID())
	for _, part := range p.Parts {
		scope = append(scope, part.ID)
	}
	return scope
}
