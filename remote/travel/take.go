package travel

import (
	"encoding/json"
	"slices"

	"github.com/tidwall/gjson"

	"github.com/bough-dev/bough/remote/join"
	"github.com/bough-dev/bough/remote/plan"
	"github.com/bough-dev/bough/remote/record"
	"github.com/bough-dev/bough/workspace/mirror"
)

// Take returns the states that a workspace with files f receives, which are states of sessions that
// it has, and the folders of these states. had reports whether it had a state before: a state that
// it removed is received again only if the scope has a session.
func Take(f *mirror.Files, there *Files, view *plan.View, had func(state string) bool, scope plan.Scope) (c mirror.Files) {
	local := make(map[string]map[[3]string]bool, len(f.States))
	for _, st := range f.States {
		links := map[[3]string]bool{}
		for _, l := range st.Links {
			links[linkKey(l)] = true
		}
		local[st.ID] = links
	}
	wanted := func(session string) bool {
		return f.Sessions[session] && !view.IsPurged(session) && (scope.Session == "" || sameLine(view, session, scope.Session))
	}
	c.Forgotten = there.Forgotten
	folders := map[string]bool{}
	for i := range there.States {
		st := &there.States[i]
		links, is := local[st.ID]
		if !is && scope.Session == "" && had(st.ID) || !slices.ContainsFunc(st.Sessions(), wanted) {
			continue
		}
		m := mirror.State{ID: st.ID, Folder: gjson.GetBytes(st.Record, "folder").Str, Record: st.Record}
		for _, l := range st.Links {
			if !links[linkKey(l.Value)] {
				m.Links = append(m.Links, l.Value)
			}
		}
		if !is || len(m.Links) > 0 {
			c.States = append(c.States, m)
			folders[m.Folder] = true
		}
	}
	for _, folder := range there.Folders {
		var is about
		if !folders[folder.ID] || json.Unmarshal(folder.About.Value, &is) != nil {
			continue
		}
		if is.Machine == "" {
			is.Machine = machineName(view, folder.About.Stamp.Machine)
		}
		c.Folders = append(c.Folders, mirror.Folder{ID: folder.ID, Path: is.Path, Machine: is.Machine, Project: is.Project})
	}
	return c
}

// sameLine reports whether one of two sessions continues the other one.
func sameLine(view *plan.View, a, b string) bool {
	return continues(view, a, b) || continues(view, b, a)
}

// continues reports whether a session is another one, or continues it.
func continues(view *plan.View, id, other string) bool {
	for seen := map[string]bool{}; !seen[id]; {
		if id == other {
			return true
		}
		seen[id] = true
		s := view.Session(id)
		if s == nil || !s.Continues() {
			return false
		}
		id = join.OriginOf(s.Shell)
	}
	return false
}

func machineName(view *plan.View, m record.Machine) string {
	for _, one := range view.Machines {
		if one.ID == m {
			return one.Name
		}
	}
	return string(m)
}
