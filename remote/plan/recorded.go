package plan

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/bough-dev/bough/remote/record"
	"github.com/bough-dev/bough/workspace/bookmark"
	"github.com/bough-dev/bough/workspace/mirror"
	"github.com/bough-dev/bough/workspace/project"
)

// Recorded notes in h that the workspace had what an own record says. Call it for a record that was
// stored although h was not, because the process ended in between. Otherwise a change that the user
// has reverted since then would look like a change by another machine. Before and after are views
// of the joined state without the record, and with it.
func (h *Here) Recorded(r *record.Record, before, after *View) {
	for i, op := range r.Ops {
		if id, ok := SessionOf(op.Entity); ok {
			h.recordedSession(id, op)
		} else if key, ok := strings.CutPrefix(op.Entity, agentPrefix); ok {
			h.recordedAgent(key, op, before)
		} else if id, ok := strings.CutPrefix(op.Entity, explorationPrefix); ok && op.Do == record.Set && op.Field == "file" {
			h.Explorations[id] = sumOf(op.Value)
		} else if op.Entity == bookmarksEntity {
			h.recordedBookmark(op, r.Stamp(i), before, after)
		}
	}
}

func (h *Here) recordedSession(id string, op record.Op) {
	s, known := h.known(id)
	if op.Do == record.Remove {
		h.sessions.drop(id)
	}
	if op.Do != record.Set || !known { // what is not known is compared with the joined state alone
		return
	}
	switch op.Field {
	case "title":
		s.Title = textOf(op.Value)
	case "shell":
		s.Shell = sumOf(op.Value)
	case "project":
		var p project.Project
		if json.Unmarshal(op.Value, &p) == nil {
			s.Project = p.String()
		}
	}
	s.Version = ""
	h.SetSession(id, s)
}

func (h *Here) recordedBookmark(op record.Op, at record.Stamp, before, after *View) {
	switch op.Do {
	case record.Add:
		for i, is := range after.bookmarksHere() {
			if slices.Contains(after.Bookmarks[i].Stamps, at) {
				h.Bookmarks = append(slices.DeleteFunc(h.Bookmarks, func(o bookmark.Bookmark) bool { return samePlace(o, is) }), is)
			}
		}
	case record.Drop:
		for i, is := range before.bookmarksHere() {
			if slices.ContainsFunc(before.Bookmarks[i].Stamps, func(s record.Stamp) bool { return slices.Contains(op.Stamps, s) }) {
				h.Bookmarks = slices.DeleteFunc(h.Bookmarks, func(o bookmark.Bookmark) bool { return samePlace(o, is) })
			}
		}
	}
}

func (h *Here) recordedAgent(key string, op record.Op, before *View) {
	if op.Do == record.Remove {
		delete(h.Agents, key)
		return
	}
	is := h.Agents[key]
	is.Trees = slices.Clone(is.Trees)
	idOf := func(tree string) string { return gjson.Get(tree, "id").Str }
	without := func(id string) []string {
		return slices.DeleteFunc(is.Trees, func(tree string) bool { return idOf(tree) == id })
	}
	switch {
	case op.Do == record.Set && op.Field == "name":
		is.Name = textOf(op.Value)
	case op.Do == record.Set && op.Field == "settings":
		is.Settings = sumOf(op.Value)
	case op.Do == record.Set && op.Field == "head":
		head := &mirror.Head{}
		if json.Unmarshal(op.Value, head) == nil {
			is.Head = head
		}
	case op.Do == record.Add && op.Field == "trees":
		is.Trees = append(without(idOf(string(op.Value))), string(op.Value))
	case op.Do == record.Drop && op.Field == "trees":
		if a := before.agent(key); a != nil {
			for _, el := range a.Trees {
				if slices.Contains(op.Stamps, el.Stamp) {
					is.Trees = without(gjson.GetBytes(el.Value, "id").Str)
				}
			}
		}
	}
	h.Agents[key] = is
}
