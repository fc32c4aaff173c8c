package plan

import (
	"encoding/json"
	"slices"

	"github.com/tidwall/gjson"

	"github.com/bough-dev/bough/remote/join"
	"github.com/bough-dev/bough/remote/record"
	"github.com/bough-dev/bough/workspace/mirror"
)

// A View is the view of a joined state, with what is looked up in it.
type View struct {
	*join.View
	state    *join.State
	sessions map[string]*join.Session
	held     map[string]bool // messages; see Held
}

// NewView returns the view of a state, which must not be changed while the view is used.
func NewView(s *join.State) *View {
	v := &View{View: join.Project(s), state: s, sessions: map[string]*join.Session{}}
	for i := range v.Sessions {
		v.sessions[v.Sessions[i].ID] = &v.Sessions[i]
	}
	v.revive()
	return v
}

// revive makes alive what others need, although it was removed at the same time: the trees of agents,
// and what continuations continue.
func (v *View) revive() {
	owned := map[string]bool{}
	for _, a := range v.Agents {
		for _, tree := range a.Trees {
			owned[gjson.GetBytes(tree.Value, "id").Str] = true
		}
	}
	for i := range v.Sessions {
		s := &v.Sessions[i]
		line := v.line(s)
		if owned[line[len(line)-1].ID] && s.Shell != nil {
			s.Alive = true
		}
		for _, origin := range line {
			origin.Alive = origin.Alive || s.Alive
		}
	}
}

// line returns a session, that which it continues, and so on.
func (v *View) line(s *join.Session) []*join.Session {
	list := []*join.Session{s}
	for continues(s.Shell) && len(list) <= len(v.Sessions) {
		if s = v.sessions[originOf(s.Shell)]; s == nil {
			break
		}
		list = append(list, s)
	}
	return list
}

// Session returns a session, nil if the view does not have it.
func (v *View) Session(id string) *join.Session { return v.sessions[id] }

// IsPurged reports whether a session is to leave the store: nothing of it is told or taken any more.
func (v *View) IsPurged(id string) bool {
	e := v.state.Entity(sessionPrefix + id)
	return e != nil && string(e.Registers[purged].Value) == "true"
}

// Purged returns the ids of the sessions that are to leave the store.
func (v *View) Purged() (ids []string) {
	for _, s := range v.Sessions {
		if v.IsPurged(s.ID) {
			ids = append(ids, s.ID)
		}
	}
	return ids
}

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

// Held returns the messages that stay although their append was undone: those that a bookmark, a
// head, the tree of an agent or a snapshot refers to.
func (v *View) Held() map[string]bool {
	if v.held != nil {
		return v.held
	}
	v.held = v.View.Held()
	for _, m := range v.Machines {
		if m.Head != nil && m.Head.Message != "" {
			v.held[m.Head.Message] = true
		}
	}
	for _, a := range v.Agents {
		for _, tree := range a.Trees {
			if id := gjson.GetBytes(tree.Value, "node_id").Str; id != "" {
				v.held[id] = true
			}
		}
	}
	for _, s := range v.Sessions {
		if id := gjson.GetBytes(s.Shell, "metadata.branch_point").Str; id != "" && s.Alive {
			v.held[id] = true
		}
	}
	return v.held
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
