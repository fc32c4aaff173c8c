package plan

import (
	"reflect"

	"github.com/bough-dev/bough/remote/join"
	"github.com/bough-dev/bough/workspace/mirror"
	"github.com/bough-dev/bough/workspace/provenance"
)

// ownerOps returns the operation that records who made an entity, which is done once: the one from whom it
// came, else the person of this machine.
func ownerOps(entity, joined string, origin *provenance.Origin, own Own) []Op {
	person := own.Person
	if origin != nil {
		person = origin.Owner
	}
	if joined != "" || person == "" {
		return nil
	}
	return []Op{set(entity, "owner", valueOf(person))}
}

func ownerIn(in *join.Session) string {
	if in == nil {
		return ""
	}
	return in.Owner
}

func projectIn(in *join.Session) string {
	if in == nil || in.Project == nil {
		return ""
	}
	return in.Project.String()
}

// takeOrigins adds to changes where agents come from that are new in the workspace, and newer facts
// about sessions and agents that came from elsewhere before. New sessions are done by [View.Take].
func (h *Here) takeOrigins(c *mirror.Changes, f *mirror.Facts, view *View, scope Scope) {
	there := h.There(f)
	for _, id := range h.Suspects(f, scope) {
		if s := view.Session(id); s != nil && there(id) {
			is := originOfSession(s)
			if was, ok := f.Origins.Session(id); ok && !reflect.DeepEqual(was, is) {
				c.Origins = append(c.Origins, is)
			}
		}
	}
	if scope.Session != "" || !scope.Has("agents") {
		return
	}
	here := map[string]bool{}
	for _, a := range f.Agents {
		here[keyOf(a)] = true
	}
	for _, a := range view.Agents {
		is := provenance.Origin{Agent: a.Key, Owner: a.Owner}
		if was, ok := f.Origins.Agent(a.Key); !here[a.Key] && !ok || ok && was != is {
			c.Origins = append(c.Origins, is)
		}
	}
}

func originOfSession(in *join.Session) provenance.Origin {
	return provenance.Origin{Session: in.ID, Owner: in.Owner, Project: in.Project}
}
