package plan

import (
	"encoding/json"
	"slices"

	"github.com/bough-dev/bough/remote/join"
	"github.com/bough-dev/bough/remote/record"
	"github.com/bough-dev/bough/workspace/mirror"
)

// An Own is how a machine describes itself.
type Own struct {
	Machine record.Machine
	Name    string
	Person  string // "" if unknown
	Time    string // of the record
}

// OtherOps returns the operations to record beside those of sessions. Has reports whether a message is in the remote or
// in the workspace. Attachments have no items yet: the caller adds the content.
func (h *Here) OtherOps(f *mirror.Facts, view *View, own Own, has func(session, message string) bool) (ops []Op) {
	ops = append(ops, h.bookmarkOps(f, view, has)...)
	ops = append(ops, h.agentsOps(f, view, own)...)
	for _, x := range f.Explorations {
		if sum := sumOf(x.Data); h.Explorations[x.ID] != sum && string(view.exploration(x.ID)) != string(x.Data) {
			ops = append(ops, set(explorationPrefix+x.ID, "file", x.Data))
		}
	}
	known := lines(view.Learnings)
	for _, l := range f.Learnings {
		if !known[string(l)] {
			known[string(l)] = true
			ops = append(ops, add(learningsEntity, "all", l))
		}
	}
	stored := map[string]bool{}
	for _, a := range view.Attachments {
		stored[a.SHA256] = true
	}
	for _, sum := range f.Attachments {
		if !stored[sum] {
			ops = append(ops, addItems(attachmentPrefix+sum, "content", nil))
		}
	}
	return append(ops, h.machineOps(f, view, own)...)
}

func lines(list []json.RawMessage) map[string]bool {
	set := make(map[string]bool, len(list))
	for _, l := range list {
		set[string(l)] = true
	}
	return set
}

func (v *View) exploration(id string) json.RawMessage {
	i := slices.IndexFunc(v.Explorations, func(x mirror.File) bool { return x.ID == id })
	if i < 0 {
		return nil
	}
	return v.Explorations[i].Data
}

// machineOps returns the operations to record for the machine itself: name, head, and what its users did.
func (h *Here) machineOps(f *mirror.Facts, view *View, own Own) (ops []Op) {
	entity := machinePrefix + string(own.Machine)
	var name, person string
	var head *mirror.Head
	if i := slices.IndexFunc(view.Machines, func(m join.Machine) bool { return m.ID == own.Machine }); i >= 0 {
		name, person, head = view.Machines[i].Label, view.Machines[i].Person, view.Machines[i].Head
	}
	if name != own.Name && own.Name != "" {
		ops = append(ops, set(entity, "name", valueOf(own.Name)))
	}
	if person != own.Person && own.Person != "" {
		ops = append(ops, set(entity, "person", valueOf(own.Person)))
	}
	if !sameHead(f.Head, head) {
		ops = append(ops, set(entity, "head", valueOf(f.Head)))
	}
	for _, o := range f.Since {
		if o.Line != nil {
			ops = append(ops, add(entity, "log", o.Line))
		}
	}
	return ops
}

// At returns the operation that says when a record was written.
func (o Own) At() Op { return set(machinePrefix+string(o.Machine), "at", valueOf(o.Time)) }

// Compared notes in h what of the facts is recorded, beside the sessions that were compared.
func (h *Here) Compared(f *mirror.Facts) {
	h.Since, h.Count, h.Projects = max(h.Since, f.Last), f.Count, f.Projects
	gone := slices.Clone(f.Gone)
	if f.Whole {
		there := h.There(f)
		for id := range h.sessions.all() {
			if !there(id) && !slices.Contains(f.Unread, id) {
				gone = append(gone, id)
			}
		}
	}
	for _, id := range gone { // if it was not removed, it comes back
		h.sessions.drop(id)
		if !slices.Contains(h.Gone, id) {
			h.Gone = append(h.Gone, id)
		}
	}
	h.Again = slices.Clone(f.Unread)
	for _, id := range f.Unread {
		if _, ok := h.sessions.get(id); !ok {
			h.SetSession(id, Session{Auto: true})
		}
	}
	for _, s := range f.Sessions {
		if _, ok := h.sessions.get(s.ID); s.Auto && !ok {
			h.SetSession(s.ID, Session{Auto: true, Version: s.Version})
		}
	}
	h.Bookmarks = slices.Clone(f.Bookmarks)
	h.Agents = map[string]agentHad{}
	for _, a := range f.Agents {
		if key := keyOf(a); key != "" {
			h.Agents[key] = agentOf(a)
		}
	}
	h.Explorations = map[string]string{}
	for _, x := range f.Explorations {
		h.Explorations[x.ID] = sumOf(x.Data)
	}
}
