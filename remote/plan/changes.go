package plan

import (
	"maps"
	"slices"

	"github.com/bough-dev/bough/internal/sessionid"
	"github.com/bough-dev/bough/remote/join"
	"github.com/bough-dev/bough/remote/record"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace/mirror"
)

// A Scope limits what a pull applies.
type Scope struct {
	Session string          // the only session, "" for all
	Kinds   map[string]bool // nil for all
}

// Has reports whether a kind is in the scope.
func (s Scope) Has(kind string) bool { return s.Kinds == nil || s.Kinds[kind] }

// maxChain is how many sessions that continue or copy each other are followed. A hostile machine can write any
// number; those beyond are refused, because they come before their origins.
const maxChain = 10_000

// Wanted returns the ids of the sessions of which items are needed to apply the view to a workspace
// with facts: those that it lacks, and those that are pending. Origins come first.
func (h *Here) Wanted(f *mirror.Facts, view *View, scope Scope) (ids []string) {
	if !scope.Has("sessions") {
		return nil
	}
	there := h.There(f)
	done := map[string]bool{}
	depth := 0
	var visit func(id string)
	visit = func(id string) {
		depth++
		defer func() { depth-- }()
		s := view.Session(id)
		if s == nil || done[id] || !s.Alive || view.IsPurged(id) || s.Shell == nil || !sessionid.Valid(id) {
			return
		}
		done[id] = true
		if origin := join.OriginOf(s.Shell); depth < maxChain && origin != "" && (scope.Session == "" || s.Continues()) {
			visit(origin)
		}
		if _, pending := h.pending.get(id); pending || !there(id) {
			ids = append(ids, id)
		}
	}
	if scope.Session == "" {
		for _, id := range h.Suspects(f, scope) {
			visit(id)
		}
		return ids
	}
	line := []string{scope.Session}
	for n := 0; n < len(line); n++ { // with those that continue it
		visit(line[n])
		if done[line[n]] {
			line = append(line, slices.DeleteFunc(view.state.Continuations(line[n]), func(id string) bool { return slices.Contains(line, id) })...)
		}
	}
	return ids
}

// Suspects returns, ascending, the ids of the sessions in a scope that may be incomplete or missing
// in the workspace: pending sessions, and sessions that it had and no longer has.
func (h *Here) Suspects(f *mirror.Facts, scope Scope) []string {
	switch {
	case !scope.Has("sessions"):
		return nil
	case scope.Session != "":
		return []string{scope.Session}
	}
	ids := map[string]bool{}
	for id := range h.pending.all() {
		ids[id] = true
	}
	for _, id := range slices.Concat(f.Gone, h.Gone) {
		ids[id] = true
	}
	if f.Whole {
		there := h.There(f)
		for id := range h.sessions.all() {
			if !there(id) {
				ids[id] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(ids))
}

// Take adds to changes what a workspace lacks of a session. Items are all that were published of it,
// without paths. Local are the messages that the workspace has, nil if it does not have the session. Undone are
// those whose append was undone.
func (v *View) Take(c *mirror.Changes, id string, items []record.Item, local []mirror.Message, there bool, undone map[string]bool) {
	in := v.Session(id)
	present, _ := join.Present(items, undone, v.heldIn(in))
	have := make(map[string]bool, len(local))
	for _, m := range local {
		have[m.ID] = true
	}
	stays := make(map[string]bool, len(present))
	var lacks []mirror.Message
	for _, it := range present {
		stays[it.ID] = true
		if !have[it.ID] && !(there && it.Header) {
			lacks = append(lacks, messageOf(it))
		}
	}
	switch {
	case !there:
		c.New = append(c.New, mirror.NewSession{Session: mirror.Session{ID: id, Shell: in.Shell, Title: in.Title}, Messages: lacks})
		c.Origins = append(c.Origins, originOfSession(in))
		return
	case len(lacks) > 0:
		c.Messages = append(c.Messages, mirror.NewMessages{Session: id, Messages: lacks})
	}
	for _, m := range local {
		if undone[m.ID] && !stays[m.ID] {
			c.Undone = append(c.Undone, mirror.Ref{Session: id, Message: m.ID})
		}
	}
}

func messageOf(it record.Item) mirror.Message {
	return mirror.Message{ID: it.ID, Parent: session.ID(parentOf(it)), Raw: it.Raw, Header: it.Header}
}

// TakeRest adds to changes all but the messages of sessions. The attachments have no content yet.
func (h *Here) TakeRest(c *mirror.Changes, f *mirror.Facts, view *View, scope Scope) {
	if scope.Has("sessions") {
		h.takeTitles(c, f, view, scope)
	}
	h.takeOrigins(c, f, view, scope)
	if scope.Session != "" {
		return
	}
	if scope.Has("bookmarks") {
		there := h.There(f)
		c.AddBookmarks, c.DropBookmarks = h.takeBookmarks(f, view, func(id string) bool {
			return there(id) || slices.ContainsFunc(c.New, func(n mirror.NewSession) bool { return n.ID == id })
		})
	}
	if scope.Has("agents") {
		c.Agents, c.DropAgents = h.takeAgents(f, view)
	}
	if scope.Has("explorations") {
		for _, x := range view.Explorations {
			if i := slices.IndexFunc(f.Explorations, func(o mirror.File) bool { return o.ID == x.ID }); i < 0 || string(f.Explorations[i].Data) != string(x.Data) {
				c.Explorations = append(c.Explorations, x)
			}
		}
	}
	if scope.Has("learnings") {
		known := lines(f.Learnings)
		for _, l := range view.Learnings {
			if !known[string(l)] {
				c.Learnings = append(c.Learnings, l)
			}
		}
	}
	if scope.Has("attachments") {
		stored := map[string]bool{}
		for _, sum := range f.Attachments {
			stored[sum] = true
		}
		for _, a := range view.Attachments {
			if !stored[a.SHA256] {
				c.Attachments = append(c.Attachments, mirror.Content{SHA256: a.SHA256})
			}
		}
	}
}

// takeTitles adds the titles that differ, and the sessions that were removed.
func (h *Here) takeTitles(c *mirror.Changes, f *mirror.Facts, view *View, scope Scope) {
	listed := map[string]mirror.Session{}
	for _, s := range f.Sessions {
		listed[s.ID] = s
	}
	there := h.There(f)
	for _, id := range h.Suspects(f, scope) {
		in := view.Session(id)
		if in == nil || !there(id) || view.IsPurged(id) {
			continue
		}
		was, known := h.known(id)
		s, ok := listed[id]
		if !ok {
			s.Version = was.Version
		}
		if !in.Alive {
			if known && !s.Auto {
				c.Removed = append(c.Removed, mirror.Removal{Session: id, Version: s.Version})
			}
			continue
		}
		title := s.Title
		if s.Shell == nil {
			title = was.Title
		}
		if known && was.Shell != "" && sumOf(in.Shell) != was.Shell && string(s.Shell) != string(in.Shell) {
			c.Shells = append(c.Shells, mirror.Shell{Session: id, Shell: in.Shell})
		}
		if in.Title != title {
			if c.Titles == nil {
				c.Titles = map[string]string{}
			}
			c.Titles[id] = in.Title
		}
	}
}

// Applied notes in h what of the changes was applied.
func (h *Here) Applied(c *mirror.Changes, done *mirror.Applied, view *View) {
	left := map[string]bool{}
	for _, l := range done.Left {
		left[l.What] = true
		if id, _, ok := cutMessage(l.What); ok {
			left[id] = true
		}
	}
	for _, n := range c.New {
		if !left[n.ID] {
			h.SetSession(n.ID, Session{Title: n.Title})
		}
	}
	for _, n := range c.Messages {
		h.changed(n.Session)
	}
	for _, u := range c.Undone {
		h.changed(u.Session)
	}
	for id, title := range c.Titles {
		if s, _ := h.known(id); !left[id] {
			s.Title, s.Version = title, ""
			h.SetSession(id, s)
		}
	}
	for _, x := range c.Shells {
		if s, _ := h.known(x.Session); !left[x.Session] {
			s.Shell, s.Version = "", ""
			h.SetSession(x.Session, s)
		}
	}
	for _, r := range c.Removed {
		if !left[r.Session] {
			h.sessions.drop(r.Session)
		}
	}
	for _, b := range c.DropBookmarks {
		if i := indexOf(h.Bookmarks, b); i >= 0 {
			h.Bookmarks = slices.Delete(h.Bookmarks, i, i+1)
		}
	}
	for _, b := range c.AddBookmarks {
		if left[b.Label] {
			continue
		}
		if i := indexOf(h.Bookmarks, b); i >= 0 {
			h.Bookmarks[i] = b
		} else {
			h.Bookmarks = append(h.Bookmarks, b)
		}
	}
	for _, a := range c.Agents {
		if !left[a.Name] {
			h.Agents[keyOf(a)] = agentOf(a)
		}
	}
	maps.DeleteFunc(h.Agents, func(_ string, a agentHad) bool { return slices.Contains(c.DropAgents, a.Name) && !left[a.Name] })
	for _, x := range c.Explorations {
		if !left[x.ID] {
			h.Explorations[x.ID] = sumOf(x.Data)
		}
	}
}

// Concerns returns the id of the session that l.What names, or its other name, such as a label.
func Concerns(l mirror.Left) string {
	id, _, _ := cutMessage(l.What)
	return id
}

// changed notes that a session of the workspace changed.
func (h *Here) changed(id string) {
	s, _ := h.known(id)
	s.Version = ""
	h.SetSession(id, s)
}
