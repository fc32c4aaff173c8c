package plan

import (
	"encoding/json"
	"iter"
	"maps"
	"slices"

	"github.com/tidwall/gjson"

	"github.com/bough-dev/bough/remote/join"
	"github.com/bough-dev/bough/remote/record"
	"github.com/bough-dev/bough/workspace/mirror"
)

// A View is the view of a joined state, with a cache of lookups in it. It reads sessions when they are
// needed.
type View struct {
	*join.View
	state    *join.State
	sessions map[string]*join.Session // nil for those that the state does not have
	judged   map[string]bool          // sessions whose Alive is that of the view
	owned    map[string]bool          // the trees of agents
	held     map[string]bool          // see Held
}

// NewView returns the view of a state, which must not be changed while the view is used.
func NewView(s *join.State) *View {
	v := &View{View: join.Project(s), state: s, sessions: map[string]*join.Session{}, judged: map[string]bool{}, owned: map[string]bool{}, held: map[string]bool{}}
	for _, a := range v.Agents {
		for _, tree := range a.Trees {
			v.owned[gjson.GetBytes(tree.Value, "id").Str] = true
			v.held[gjson.GetBytes(tree.Value, "node_id").Str] = true
		}
	}
	maps.Copy(v.held, v.View.Held())
	for _, m := range v.Machines {
		if m.Head != nil {
			v.held[m.Head.Message] = true
		}
	}
	delete(v.held, "")
	return v
}

// Session returns a session, nil if the view does not have it. A removed session is still alive if
// it is needed: if it is in a tree of an agent, or if a session that is alive continues it.
func (v *View) Session(id string) *join.Session {
	s := v.session(id)
	if s != nil && !v.judged[id] {
		v.judged[id] = true
		s.Alive = s.Alive || v.isNeeded(s, map[string]bool{})
	}
	return s
}

// session returns a session as the state has it.
func (v *View) session(id string) *join.Session {
	s, known := v.sessions[id]
	if !known {
		if one, ok := v.state.Session(id); ok {
			s = &one
		}
		v.sessions[id] = s
	}
	return s
}

func (v *View) isNeeded(s *join.Session, seen map[string]bool) bool {
	seen[s.ID] = true
	if len(seen) > maxChain {
		return false
	}
	if line := v.line(s); s.Shell != nil && v.owned[line[len(line)-1].ID] {
		return true
	}
	return slices.ContainsFunc(v.state.Continuations(s.ID), func(id string) bool {
		next := v.session(id)
		return next != nil && !seen[id] && (next.Alive || v.isNeeded(next, seen))
	})
}

// line returns a session, that which it continues, and so on.
func (v *View) line(s *join.Session) []*join.Session {
	list := []*join.Session{s}
	seen := map[string]bool{s.ID: true}
	for s.Continues() {
		if s = v.session(join.OriginOf(s.Shell)); s == nil || seen[s.ID] {
			break
		}
		seen[s.ID] = true
		list = append(list, s)
	}
	return list
}

// Sessions yields all sessions, ascending by id.
func (v *View) Sessions() iter.Seq[*join.Session] {
	return func(yield func(*join.Session) bool) {
		for one := range v.state.Sessions() {
			if v.sessions[one.ID] == nil {
				v.sessions[one.ID] = &one
			}
			if !yield(v.Session(one.ID)) {
				return
			}
		}
	}
}

// Log returns the operations of all machines, in the order of the join.
func (v *View) Log() []join.Operation { return v.state.Log() }

// IsPurged reports whether a session is to leave the store: it is neither recorded nor applied any more.
func (v *View) IsPurged(id string) bool {
	e := v.state.Entity(sessionPrefix + id)
	return e != nil && string(e.Registers[purged].Value) == "true"
}

// Purged returns the ids of the sessions that are to leave the store.
func (v *View) Purged() []string { return v.state.Purged() }

// Holders returns the machines with messages of a session in their streams.
func (v *View) Holders(id string) (list []record.Machine) {
	if s := v.Session(id); s != nil {
		for _, run := range s.Runs {
			if !slices.Contains(list, run.Stamp.Machine) {
				list = append(list, run.Stamp.Machine)
			}
		}
	}
	return list
}

// Held returns the messages to which a bookmark, a head or the tree of an agent refers. They stay
// even if their append was undone, as the branch points of snapshots do, which Held omits. It must
// not be modified.
func (v *View) Held() map[string]bool { return v.held }

// Owned returns the ids of the trees of agents. It must not be modified.
func (v *View) Owned() map[string]bool { return v.owned }

// heldIn returns which of the messages of a session whose append was undone stay.
func (v *View) heldIn(s *join.Session) map[string]bool {
	held := map[string]bool{}
	for id := range s.Undone {
		held[id] = v.held[id] || slices.ContainsFunc(v.state.Snapshots(id), func(at string) bool {
			snapshot := v.Session(at)
			return snapshot != nil && snapshot.Alive
		})
	}
	return held
}

// UndoneBy returns the messages of a session whose append was undone by machines for which by returns true.
func (v *View) UndoneBy(session string, by func(record.Machine) bool) map[string]bool {
	ids := map[string]bool{}
	s := v.session(session)
	if s == nil {
		return ids
	}
	for id := range s.Undone {
		ids[id] = slices.ContainsFunc(v.undone(mirror.Ref{Session: session, Message: id}), func(at record.Stamp) bool { return by(at.Machine) })
	}
	return ids
}

// undone returns the stamps of the elements that say that the append of a message was undone.
func (v *View) undone(u mirror.Ref) (stamps []record.Stamp) {
	e := v.state.Entity(sessionPrefix + u.Session)
	if e == nil {
		return nil
	}
	for _, el := range e.Sets["undone"] {
		var id string
		if json.Unmarshal(el.Value, &id) == nil && id == u.Message {
			stamps = append(stamps, el.Stamp)
		}
	}
	return stamps
}
