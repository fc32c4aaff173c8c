package plan

import (
	"encoding/json"
	"maps"
	"slices"

	"github.com/tidwall/gjson"

	"github.com/bough-dev/bough/internal/sessionid"
	"github.com/bough-dev/bough/remote/join"
	"github.com/bough-dev/bough/remote/record"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace/mirror"
)

// A Scope says what is taken in.
type Scope struct {
	Session string          // the only session, "" for all
	Kinds   map[string]bool // nil for all
}

// Has reports whether a kind is in the scope.
func (s Scope) Has(kind string) bool { return s.Kinds == nil || s.Kinds[kind] }

// Wanted returns the ids of the sessions of which items are needed to apply the view to a workspace
// with facts: those that it lacks, and those that are pending. Origins come first.
func (h *Here) Wanted(f *mirror.Facts, view *View, scope Scope) (ids []string) {
	if !scope.Has("sessions") {
		return nil
	}
	there := sessionsIn(f)
	done := map[string]bool{}
	var visit func(id string)
	visit = func(id string) {
		s := view.Session(id)
		if s == nil || done[id] || !s.Alive || view.IsPurged(id) || s.Shell == nil || !sessionid.Valid(id) {
			return
		}
		done[id] = true
		if origin := originOf(s.Shell); origin != "" && (scope.Session == "" || continues(s.Shell)) {
			visit(origin)
		}
		_, here := there[id]
		if _, pending := h.Pending[id]; pending || !here {
			ids = append(ids, id)
		}
	}
	if scope.Session == "" {
		for _, s := range view.Sessions {
			visit(s.ID)
		}
		return ids
	}
	visit(scope.Session)
	for again := true; again; {
		again = false
		for _, s := range view.Sessions { // those that continue it
			if !done[s.ID] && s.Alive && continues(s.Shell) && done[originOf(s.Shell)] {
				visit(s.ID)
				again = done[s.ID]
			}
		}
	}
	return ids
}

// continues reports whether a shell is that of a continuation: a session with an origin that is not
// a snapshot.
func continues(shell json.RawMessage) bool {
	return gjson.GetBytes(shell, "metadata.continued_from.0").Str != "" &&
		gjson.GetBytes(shell, "metadata.branched_from").Str == "" && gjson.GetBytes(shell, "metadata.branch_point").Str == ""
}

func sessionsIn(f *mirror.Facts) map[string]mirror.Session {
	there := make(map[string]mirror.Session, len(f.Sessions))
	for _, s := range f.Sessions {
		there[s.ID] = s
	}
	return there
}

// Take adds to changes what a workspace lacks of a session. Items are all that were published of it,
// without paths. Local are the messages that the workspace has, nil if it does not have the session.
func (v *View) Take(c *mirror.Changes, id string, items []record.Item, local []mirror.Message, there bool) {
	in := v.Session(id)
	present, _ := join.Present(items, in.Undone, v.Held())
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
		return
	case len(lacks) > 0:
		c.Messages = append(c.Messages, mirror.NewMessages{Session: id, Messages: lacks})
	}
	for _, m := range local {
		if in.Undone[m.ID] && !stays[m.ID] {
			c.Undone = append(c.Undone, mirror.Ref{Session: id, Message: m.ID})
		}
	}
}

func messageOf(it record.Item) mirror.Message {
	return mirror.Message{ID: it.ID, Parent: session.ID(parentOf(it)), Raw: it.Raw, Header: it.Header}
}

// TakeRest adds to changes all but the messages of sessions. The attachments have no content yet.
func (h *Here) TakeRest(c *mirror.Changes, f *mirror.Facts, view *View, scope Scope) {
	there := sessionsIn(f)
	for _, n := range c.New {
		there[n.ID] = n.Session
	}
	if scope.Has("sessions") {
		h.takeTitles(c, there, view, scope)
	}
	if scope.Session != "" {
		return
	}
	if scope.Has("bookmarks") {
		c.AddBookmarks, c.DropBookmarks = takeBookmarks(f, view, func(id string) bool { _, ok := there[id]; return ok })
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
func (h *Here) takeTitles(c *mirror.Changes, there map[string]mirror.Session, view *View, scope Scope) {
	for _, in := range view.Sessions {
		s, ok := there[in.ID]
		if !ok || scope.Session != "" && scope.Session != in.ID || view.IsPurged(in.ID) {
			continue
		}
		was, known := h.Sessions[in.ID]
		if !in.Alive {
			if known && !s.Auto {
				c.Removed = append(c.Removed, mirror.Removal{Session: in.ID, Version: s.Version})
			}
			continue
		}
		title := s.Title
		if s.Shell == nil {
			title = was.Title
		}
		if known && was.Shell != "" && sumOf(in.Shell) != was.Shell && string(s.Shell) != string(in.Shell) {
			c.Shells = append(c.Shells, mirror.Shell{Session: in.ID, Shell: in.Shell})
		}
		if in.Title != title {
			if c.Titles == nil {
				c.Titles = map[string]string{}
			}
			c.Titles[in.ID] = in.Title
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
			h.Sessions[n.ID] = Session{Title: n.Title}
			delete(h.Pending, n.ID)
		} else {
			h.Pending[n.ID] = true
		}
	}
	for _, n := range c.Messages {
		h.changed(n.Session, left)
	}
	for _, u := range c.Undone {
		h.changed(u.Session, left)
	}
	for id, title := range c.Titles {
		if s := h.Sessions[id]; !left[id] {
			s.Title, s.Version = title, ""
			h.Sessions[id] = s
		}
	}
	for _, x := range c.Shells {
		if s := h.Sessions[x.Session]; !left[x.Session] {
			s.Shell, s.Version = "", ""
			h.Sessions[x.Session] = s
		}
	}
	for _, r := range c.Removed {
		if !left[r.Session] {
			delete(h.Sessions, r.Session)
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

// Concerns reports whether something that was left is of a session.
func Concerns(l mirror.Left, session string) bool {
	id, _, _ := cutMessage(l.What)
	return id == session
}

func (h *Here) changed(id string, left map[string]bool) {
	s := h.Sessions[id]
	s.Version = ""
	h.Sessions[id] = s
	if left[id] {
		h.Pending[id] = true
	} else {
		delete(h.Pending, id)
	}
}

// originOf returns the session that one with a shell continues or was copied from, "" if there is none.
func originOf(shell json.RawMessage) string {
	if from := gjson.GetBytes(shell, "metadata.continued_from.0").Str; from != "" {
		return from
	}
	return gjson.GetBytes(shell, "metadata.branched_from").Str
}
