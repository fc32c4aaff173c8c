package importer

import (
	"slices"

	"github.com/bough-dev/bough/workspace/agents"
	"github.com/bough-dev/bough/workspace/internal/store"
)

// holds reports whether a bookmark, a head or a snapshot refers to a message of
// a line, or another workspace may have it, so that it must not be replaced.
func holds(v *store.View, l *store.Line, id string) bool {
	if len(v.BookmarksIn(l)[id]) > 0 || agentAt(v, l, id) {
		return true
	}
	ids := make([]string, len(l.Parts))
	for i, part := range l.Parts {
		ids[i] = part.ID
	}
	if h, ok := v.Head(); ok && string(h.Message) == id && slices.Contains(ids, h.Session) {
		return true
	}
	if slices.ContainsFunc(ids, func(part string) bool { return v.IsPublished(part, id) }) {
		return true
	}
	return slices.ContainsFunc(ids, func(part string) bool {
		return slices.ContainsFunc(v.Index.Children(part), func(child string) bool { return copied(v, child, id) })
	})
}

// copied reports whether a snapshot has, or if it is unreadable may have, a
// message.
func copied(v *store.View, snapshot, message string) bool {
	e := v.Index.Entry(snapshot)
	if e == nil || !e.Snapshot {
		return false
	}
	if e.BranchPoint == message {
		return true
	}
	o, err := v.Outline(snapshot)
	if err != nil {
		return true
	}
	for i := range o.Len() {
		if o.MessageID(i) == message {
			return true
		}
	}
	return false
}

// agentAt reports whether a tree of an agent is at a message of a line. An
// agent that cannot be read may be there.
func agentAt(v *store.View, l *store.Line, id string) (at bool) {
	_ = v.EachAgent(func(_ string, a *agents.Agent, err error) error {
		at = at || err != nil
		for i := 0; err == nil && i < len(a.Trees); i++ {
			at = at || a.Trees[i].ID == l.Parts[0].ID && string(a.Trees[i].Node) == id
		}
		return nil
	})
	return at
}
