package plan

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/bough-dev/bough/remote/join"
	"github.com/bough-dev/bough/remote/record"
)

// A Conflict is what machines did at the same time to one thing, and what was kept.
type Conflict struct {
	Kind    string   `json:"kind"`       // one of the constants
	Session string   `json:"session_id"` // "" for the kind AgentNamed
	Kept    []string `json:"kept"`       // see the constants
}

// The kinds of conflicts.
const (
	Appended   = "append"   // several added messages; Kept are the ids of the newest of each
	Renamed    = "rename"   // Kept are the titles, first the one that counts
	Removed    = "rm"       // one removed what another one added to; Kept is the id of the session
	Undone     = "undo"     // the append of a message was undone that another one refers to; Kept are the ids of the messages
	Labelled   = "bookmark" // one label on several messages; Kept are the names that the bookmarks have
	HeadMoved  = "head"     // of an agent; Kept are the messages where it was moved to, first the one that counts
	AgentNamed = "agent"    // several agents of one name; Kept are the names that they have
)

// Conflicts collects the conflicts between a state and the records that are added to it.
type Conflicts struct {
	list   []Conflict
	rename map[string][]string // titles, by session
	heads  map[string][]string // messages, by agent
	remove map[string]bool
	before *View
}

// NewConflicts returns the conflicts of a state with records that are added to it from now on. Before
// is its view.
func NewConflicts(before *View) *Conflicts {
	return &Conflicts{rename: map[string][]string{}, heads: map[string][]string{}, remove: map[string]bool{}, before: before}
}

// See looks at a record that will be added to the state next.
func (c *Conflicts) See(s *join.State, r *record.Record) {
	newest := map[string]string{}
	for _, op := range r.Ops {
		if op.Do == record.Set && op.Field == "newest" {
			newest[op.Entity] = textOf(op.Value)
		}
	}
	for _, op := range r.Ops {
		id, isSession := SessionOf(op.Entity)
		if isSession {
			c.seeRemoval(s, id, r, op)
		}
		e := s.Entity(op.Entity)
		if e == nil {
			continue
		}
		if isSession {
			c.seeSession(id, e, r, op, newest[op.Entity])
		} else if key, ok := strings.CutPrefix(op.Entity, agentPrefix); ok && op.Do == record.Set && op.Field == "head" {
			if reg, ok := e.Registers["head"]; ok && !covers(r, reg.Stamp) && string(reg.Value) != string(op.Value) {
				c.heads[key] = union(c.heads[key], messageIn(reg.Value), messageIn(op.Value))
			}
		}
	}
}

// seeRemoval looks for a session that one machine removed and another one changed, or continued in
// a new file, which brings it back.
func (c *Conflicts) seeRemoval(s *join.State, id string, r *record.Record, op record.Op) {
	unseen := func(id string) (change, removal bool) {
		if e := s.Entity(sessionPrefix + id); e != nil {
			change, removal = e.Unseen(r.Machine, r.Seen)
		}
		return change, removal
	}
	switch op.Do {
	case record.Remove:
		for _, changed := range append(s.Continuations(id), id) {
			if change, _ := unseen(changed); change {
				c.remove[id] = true
			}
		}
	case record.Set, record.Add:
		removed := []string{id}
		if op.Field == "shell" && (&join.Session{Shell: op.Value}).Continues() {
			removed = append(removed, join.OriginOf(op.Value))
		}
		for _, id := range removed {
			if _, removal := unseen(id); removal {
				c.remove[id] = true
			}
		}
	}
}

func (c *Conflicts) seeSession(id string, e *join.Entity, r *record.Record, op record.Op, newest string) {
	unseen := func(list []join.Element) bool {
		return slices.ContainsFunc(list, func(el join.Element) bool { return !covers(r, el.Stamp) })
	}
	switch {
	case op.Do == record.Add && op.Field == "messages" && unseen(e.Sets["messages"]):
		kept := union(nil, textOf(e.Registers["newest"].Value), newest)
		if len(kept) > 1 {
			c.merge(Conflict{Appended, id, kept})
		}
	case op.Do == record.Set && op.Field == "title":
		if reg, ok := e.Registers["title"]; ok && !covers(r, reg.Stamp) && string(reg.Value) != string(op.Value) {
			c.rename[id] = union(c.rename[id], textOf(reg.Value), textOf(op.Value))
		}
	}
}

// covers reports whether the machine of a record had seen an operation when it wrote that.
func covers(r *record.Record, s record.Stamp) bool {
	return s.Machine == r.Machine || s.Seq <= r.Seen[s.Machine]
}

// merge adds a conflict to the one of the same kind and session, if there is one.
func (c *Conflicts) merge(one Conflict) {
	for i, o := range c.list {
		if o.Kind == one.Kind && o.Session == one.Session {
			c.list[i].Kept = union(o.Kept, one.Kept...)
			return
		}
	}
	c.list = append(c.list, one)
}

// List returns the conflicts, given the view after all records were added.
func (c *Conflicts) List(after *View) []Conflict {
	list := slices.Clone(c.list)
	add := func(one Conflict) { list = append(list, one) }
	for _, id := range slices.Sorted(maps.Keys(c.rename)) {
		if s := after.Session(id); s != nil {
			add(Conflict{Renamed, id, firstOf(s.Title, c.rename[id])})
		}
	}
	for _, id := range slices.Sorted(maps.Keys(c.remove)) {
		if s := after.Session(id); s != nil && s.Alive {
			add(Conflict{Removed, id, []string{id}})
		}
	}
	for _, key := range slices.Sorted(maps.Keys(c.heads)) {
		if a := after.agent(key); a != nil && a.Head != nil {
			add(Conflict{HeadMoved, a.Head.Session, firstOf(a.Head.Message, c.heads[key])})
		}
	}
	known := map[string]bool{}
	for _, b := range c.before.Bookmarks {
		known[b.Name] = true
	}
	for _, b := range after.Bookmarks {
		if b.Name != b.Label && !known[b.Name] {
			add(Conflict{Labelled, b.Session, []string{b.Name}})
		}
	}
	known = map[string]bool{}
	for _, a := range c.before.Agents {
		known[a.Name] = true
	}
	for _, a := range after.Agents {
		if a.Name != a.Label && !known[a.Name] {
			add(Conflict{AgentNamed, "", []string{a.Label, a.Name}})
		}
	}
	return list
}

// KeptUndone adds the conflicts of messages that stay although their append was undone.
func (c *Conflicts) KeptUndone(session string, messages []string) {
	if len(messages) > 0 {
		c.merge(Conflict{Undone, session, messages})
	}
}

func firstOf(first string, list []string) []string {
	return union([]string{first}, list...)
}

// union appends to list what it does not have.
func union(list []string, more ...string) []string {
	for _, s := range more {
		if s != "" && !slices.Contains(list, s) {
			list = append(list, s)
		}
	}
	return list
}

func textOf(value json.RawMessage) (s string) {
	_ = json.Unmarshal(value, &s) // else it is ""
	return s
}

func messageIn(value json.RawMessage) string {
	var h struct {
		Message string `json:"message_id"`
	}
	_ = json.Unmarshal(value, &h) // else it is ""
	return h.Message
}

// cutMessage returns the session of SESSION@MESSAGE.
func cutMessage(what string) (session, message string, ok bool) { return strings.Cut(what, "@") }
