package plan

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/bough-dev/bough/internal/sessionid"
	"github.com/bough-dev/bough/remote/join"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace/mirror"
)

// Unread reports whether the messages of a session of the facts must be read to record it.
func (h *Here) Unread(s mirror.Session) bool {
	was, _ := h.known(s.ID)
	return !s.Auto && (s.Version == "" || was.Version != s.Version || s.Shell != nil)
}

// Versions returns the versions of all sessions, for [mirror.Known].
func (h *Here) Versions() map[string]string {
	versions := map[string]string{}
	h.sessions.load()
	for id, s := range h.sessions.all() {
		if s.Version != "" {
			versions[id] = s.Version
		}
	}
	return versions
}

// A SessionOps has the operations to record for a session.
type SessionOps struct {
	Ops     []Op
	Notes   []Note  // of the messages in Ops
	Is      Session // for Here
	Missing bool    // the workspace lacks a message that others have, or has one whose append was undone: the session is pending
}

// OpsFor returns the operations to record for a session of the facts whose messages were read. In
// is the session in the joined state, or nil if it is not there. Notes returns the notes of the
// published messages of a session.
func (h *Here) OpsFor(f *mirror.Facts, s mirror.Session, messages []mirror.Message, in *join.Session, own Own, notes func(session string) Notes) SessionOps {
	entity := sessionPrefix + s.ID
	was, known := h.known(s.ID)
	t := SessionOps{Is: Session{Version: s.Version, Title: was.Title, Shell: was.Shell, Project: was.Project}}
	if s.Shell != nil {
		t.Is.Title, t.Is.Shell = s.Title, sumOf(s.Shell)
		if in == nil || in.Shell == nil || was.Shell != "" && was.Shell != t.Is.Shell && string(in.Shell) != string(s.Shell) {
			t.Ops = append(t.Ops, set(entity, "shell", s.Shell))
		}
		joined := ""
		if in != nil {
			joined = in.Title
		}
		if s.Title != joined && (!known || s.Title != was.Title) {
			t.Ops = append(t.Ops, set(entity, "title", valueOf(s.Title)))
		}
		t.Ops = append(t.Ops, ownerOps(entity, ownerIn(in), s.Origin, own)...)
		if s.Project != nil {
			t.Is.Project = s.Project.String()
			if joined := projectIn(in); t.Is.Project != joined && (!known || t.Is.Project != was.Project) {
				t.Ops = append(t.Ops, set(entity, "project", valueOf(s.Project)))
			}
		}
	}
	published := notes(s.ID)
	have := make(map[string]bool, len(messages))
	var fresh []mirror.Message
	for _, m := range messages {
		have[m.ID] = true
		if in != nil && in.Undone[m.ID] && !isRedone(f, mirror.Ref{Session: s.ID, Message: m.ID}) {
			t.Missing = true // an undo of a pull brought it back
		}
		if _, ok := published[m.ID]; !ok {
			fresh = append(fresh, m)
		}
	}
	if len(fresh) > 0 {
		items, list := itemsOf(fresh, sourcesOf(s), notes)
		t.Ops = append(t.Ops, addItems(entity, "messages", items))
		t.Notes = list
		newest := cmp.Or(s.Newest, fresh[len(fresh)-1].ID)
		if in == nil || in.Newest != newest {
			t.Ops = append(t.Ops, set(entity, "newest", valueOf(newest)))
		}
	}
	for id := range published {
		if !have[id] && !strings.HasPrefix(id, runPrefix) && (in == nil || !in.Undone[id]) && !isUndone(f, mirror.Ref{Session: s.ID, Message: id}) {
			t.Missing = true
		}
	}
	return t
}

func isUndone(f *mirror.Facts, m mirror.Ref) bool {
	return slices.ContainsFunc(f.Since, func(o mirror.Operation) bool { return slices.Contains(o.Undone, m) })
}

func isRedone(f *mirror.Facts, m mirror.Ref) bool {
	return slices.ContainsFunc(f.Since, func(o mirror.Operation) bool { return slices.Contains(o.Redone, m) })
}

// IsOpen reports whether a longer import may replace a message.
func IsOpen(m mirror.Message) bool {
	return gjson.GetBytes(m.Raw, "metadata.bough."+session.OwnOpen).Bool()
}

// sourcesOf returns the sessions of which a snapshot may repeat messages.
func sourcesOf(s mirror.Session) []string {
	from := gjson.GetBytes(s.Shell, "metadata.branched_from").Str
	if from == "" {
		return nil
	}
	list := []string{from}
	lineage := gjson.GetBytes(s.Shell, "metadata.lineage").Array()
	for _, id := range slices.Backward(lineage) {
		if sessionid.Valid(id.Str) && id.Str != s.ID && !slices.Contains(list, id.Str) {
			list = append(list, id.Str)
		}
	}
	return slices.DeleteFunc(list, func(id string) bool { return !sessionid.Valid(id) })
}

// OpsSince returns the operations to record for sessions because of operations in the log since the
// last comparison. View is the view of the joined state.
func (h *Here) OpsSince(f *mirror.Facts, view *View, notes func(session string) Notes) (ops []Op) {
	there := h.There(f)
	for _, o := range f.Since {
		for _, id := range o.Removed {
			if f.Withdrawn[id] {
				h.SetPending(id, true)
			}
			if in := view.Session(id); in != nil && in.Alive && !there(id) && h.isSeen(id) {
				ops = append(ops, remove(sessionPrefix+id))
			}
		}
		for _, id := range o.Returned {
			if in := view.Session(id); in != nil && !in.Alive && there(id) {
				ops = append(ops, h.revive(in))
			}
		}
		for _, u := range o.Undone {
			if in := view.Session(u.Session); in != nil && !in.Undone[u.Message] && notes(u.Session).Has(u.Message) {
				ops = append(ops, add(sessionPrefix+u.Session, "undone", valueOf(u.Message)))
			}
		}
		for _, u := range o.Redone {
			if stamps := view.undone(u); len(stamps) > 0 {
				ops = append(ops, drop(sessionPrefix+u.Session, "undone", stamps))
			}
		}
	}
	for _, s := range f.Sessions {
		if _, known := h.known(s.ID); known || s.Auto {
			continue
		}
		if in := view.Session(s.ID); in != nil && !in.Alive && in.Shell != nil { // another program put it back
			ops = append(ops, h.revive(in))
		}
	}
	return distinct(ops)
}

// revive returns the operation that brings back a session that was removed. Others may have added to it meanwhile, so it is
// compared whole.
func (h *Here) revive(in *join.Session) Op {
	h.SetPending(in.ID, true)
	return set(sessionPrefix+in.ID, "shell", in.Shell)
}

// distinct returns ops without repetitions.
func distinct(ops []Op) (list []Op) {
	seen := map[string]bool{}
	for _, op := range ops {
		data, err := json.Marshal(op.Op)
		if key := string(data); err != nil || !seen[key] {
			seen[key] = true
			list = append(list, op)
		}
	}
	return list
}
