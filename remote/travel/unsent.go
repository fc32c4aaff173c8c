package travel

import (
	"encoding/json"
	"slices"

	"github.com/tidwall/gjson"

	"github.com/bough-dev/bough/remote/join"
	"github.com/bough-dev/bough/remote/plan"
	"github.com/bough-dev/bough/remote/record"
	"github.com/bough-dev/bough/workspace/mirror"
	"github.com/bough-dev/bough/workspace/project"
)

// about says where a folder is, and what it is about.
type about struct {
	Path    string           `json:"path"`
	Machine string           `json:"machine,omitempty"` // "" if it is the one that says so
	Project *project.Project `json:"project,omitempty"`
}

// An UnsentState is a state of which something is to be recorded.
type UnsentState struct {
	mirror.State
	New   bool // the remote does not have it
	links []json.RawMessage
}

// Unsent decides which states of a workspace, and links to them, are recorded: those of sessions that
// travel.
func Unsent(f *mirror.Files, there *Files, view *plan.View) (list []UnsentState) {
	travels := func(session string) bool { return f.Sessions[session] && !view.IsPurged(session) }
	for _, st := range f.States {
		if !slices.ContainsFunc(st.Sessions, travels) {
			continue
		}
		is := there.known[st.ID]
		t := UnsentState{State: st, New: is == nil}
		for _, l := range st.Links {
			if s := gjson.GetBytes(l, "session_id").Str; s != "" && !travels(s) {
				continue
			}
			if t.New || !hasLink(is, l) {
				t.links = append(t.links, l)
			}
		}
		if t.New || len(t.links) > 0 {
			list = append(list, t)
		}
	}
	return list
}

// hasLink reports whether a link to a state is there. When it was made does not matter.
func hasLink(st *State, link json.RawMessage) bool {
	return slices.ContainsFunc(st.Links, func(el join.Element) bool { return linkKey(el.Value) == linkKey(link) })
}

func linkKey(link json.RawMessage) [3]string {
	v := gjson.GetManyBytes(link, "session_id", "message_id", "prompt_id")
	return [3]string{v[0].Str, v[1].Str, v[2].Str}
}

// Ops returns the operations that record the state.
func (t *UnsentState) Ops() (ops []plan.Op) {
	entity := statePrefix + t.ID
	if t.New {
		ops = append(ops, add(entity, "record", t.Record))
	}
	for _, l := range t.links {
		ops = append(ops, add(entity, "links", l))
	}
	return ops
}

// FolderOps returns the operations to record for the folders of states.
func FolderOps(f *mirror.Files, there *Files, unsent []UnsentState) (ops []plan.Op) {
	for _, folder := range f.Folders {
		if !slices.ContainsFunc(unsent, func(t UnsentState) bool { return t.New && t.Folder == folder.ID }) {
			continue
		}
		is := valueOf(about{folder.Path, folder.Machine, folder.Project})
		i := slices.IndexFunc(there.Folders, func(o Folder) bool { return o.ID == folder.ID })
		if i < 0 || there.Folders[i].About.Value == nil || folder.Machine == "" && string(there.Folders[i].About.Value) != string(is) {
			ops = append(ops, plan.Op{Op: record.Op{Do: record.Set, Entity: folderPrefix + folder.ID, Field: "about", Value: is}})
		}
	}
	return ops
}

// Forget returns the operations that record which contents were deleted permanently, so that states are
// complete without them.
func Forget(there *Files, contents []string) (ops []plan.Op) {
	for _, c := range contents {
		if !slices.Contains(there.Forgotten, c) {
			ops = append(ops, add(forgotten, "all", valueOf(c)))
		}
	}
	return ops
}

// Objects returns the operation that adds a pack of objects of a folder.
func Objects(folder string, pack []byte) plan.Op {
	op := add(folderPrefix+folder, objectsField, nil)
	op.Items = []record.Item{{Content: pack}}
	return op
}

// ReplaceObjects returns the operations that replace a run of objects of a folder by a pack, or only drop
// it if the pack is nil.
func ReplaceObjects(folder string, run record.Stamp, pack []byte) (ops []plan.Op) {
	if pack != nil {
		ops = append(ops, Objects(folder, pack))
	}
	return append(ops, drop(folderPrefix+folder, objectsField, []record.Stamp{run}))
}

// IsObjects reports whether an operation adds objects of a folder.
func IsObjects(op record.Op) bool {
	return op.Do == record.Add && op.Field == objectsField && len(op.Entity) > len(folderPrefix) && op.Entity[:len(folderPrefix)] == folderPrefix
}

// Purge returns the operations with which a machine takes its records of states out of the store that
// belong to purged sessions alone, and its links to these sessions. dead are the ids of such states.
func Purge(there *Files, own record.Machine, purged func(session string) bool) (ops []plan.Op, dead map[string]bool) {
	dead = map[string]bool{}
	for _, st := range there.States {
		sessions := st.Sessions()
		gone := len(sessions) > 0 && !slices.ContainsFunc(sessions, func(s string) bool { return !purged(s) })
		if gone {
			dead[st.ID] = true
			if stamps := stampsOf(st.Records, own, func(join.Element) bool { return true }); len(stamps) > 0 {
				ops = append(ops, drop(statePrefix+st.ID, "record", stamps))
			}
		}
		stamps := stampsOf(st.Links, own, func(el join.Element) bool { return gone || purged(gjson.GetBytes(el.Value, "session_id").Str) })
		if len(stamps) > 0 {
			ops = append(ops, drop(statePrefix+st.ID, "links", stamps))
		}
	}
	return ops, dead
}

func stampsOf(list []join.Element, own record.Machine, fits func(join.Element) bool) (stamps []record.Stamp) {
	for _, el := range list {
		if el.Stamp.Machine == own && fits(el) {
			stamps = append(stamps, el.Stamp)
		}
	}
	return stamps
}
