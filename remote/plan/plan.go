// Package plan decides which operations a workspace records for the other machines of a remote, and
// which changes it applies from them. The package is pure.
//
// A register, a bookmark or an agent is recorded if it differs both from what was here at the last
// comparison and from the joined state: so the changes of a pull are not recorded again, and neither are
// those of another machine that this one has not applied yet. Messages are recorded if they were never
// published. A missing session was removed only if the log of operations says so.
package plan

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strings"

	"github.com/bough-dev/bough/remote/join"
	"github.com/bough-dev/bough/remote/record"
	"github.com/bough-dev/bough/workspace/bookmark"
	"github.com/bough-dev/bough/workspace/events"
	"github.com/bough-dev/bough/workspace/mirror"
)

// Here is the content of a workspace when it was last compared with a remote. The sessions are in
// rows.
type Here struct {
	Since        events.Seq          `json:"since"`              // the last operation of its log
	Count        int64               `json:"count,omitempty"`    // of its sessions that are plain files
	Again        []string            `json:"again,omitempty"`    // ids of sessions that could not be read
	Gone         []string            `json:"gone,omitempty"`     // ids of sessions that it had, and that were not received since
	Held         []string            `json:"held,omitempty"`     // see View.Held
	Owned        []string            `json:"owned,omitempty"`    // see View.Owned
	Projects     string              `json:"projects,omitempty"` // see mirror.Facts
	Bookmarks    []bookmark.Bookmark `json:"bookmarks"`
	Agents       map[string]agentHad `json:"agents"`          // by key
	Explorations map[string]string   `json:"explorations"`    // sums, by id
	Files        bool                `json:"files,omitempty"` // states of files were compared

	sessions table[Session]
	pending  table[bool]
	touched  table[bool] // those that are pending only because of what the workspace itself recorded
	states   table[bool]
}

// A Session is what a workspace had of a session.
type Session struct {
	Version string `json:"version"` // "" if it changed since
	Title   string `json:"title,omitempty"`
	Shell   string `json:"shell,omitempty"` // its sum; "" if it is that of the joined state
	Project string `json:"project,omitempty"`
	Auto    bool   `json:"auto,omitempty"` // an automatic checkpoint, of which nothing is recorded
}

// An agentHad is what a workspace had of an agent.
type agentHad struct {
	Name     string       `json:"name"`
	Settings string       `json:"settings"` // their sum
	Trees    []string     `json:"trees"`
	Head     *mirror.Head `json:"head"`
}

// NewHere returns the Here of a workspace that was never compared.
func NewHere() *Here {
	h := &Here{Agents: map[string]agentHad{}, Explorations: map[string]string{}}
	h.Open(nil)
	return h
}

// Open connects h with the rows that have what Save stored of sessions. If rows is nil, there are none.
func (h *Here) Open(rows join.Rows) {
	h.sessions, h.pending = newTable[Session](rows, "here"), newTable[bool](rows, "pending")
	h.touched, h.states = newTable[bool](rows, "touched"), newTable[bool](rows, "states")
}

// Save calls put for each row that changed, with a nil value for one that is gone.
func (h *Here) Save(put func(key string, value []byte)) {
	h.sessions.save(put)
	h.pending.save(put)
	h.touched.save(put)
	h.states.save(put)
}

// IsChanged reports whether Save would store anything.
func (h *Here) IsChanged() bool {
	return len(h.sessions.changed)+len(h.pending.changed)+len(h.touched.changed)+len(h.states.changed) > 0
}

// HadState reports whether the workspace had a state of files.
func (h *Here) HadState(id string) bool {
	_, ok := h.states.get(id)
	return ok
}

// SetStates notes which states of files the workspace has.
func (h *Here) SetStates(list []mirror.State) {
	for _, st := range list {
		if !h.HadState(st.ID) {
			h.states.set(st.ID, true)
		}
	}
}

// Session returns what the workspace had of a session. ok is false if it did not have it.
func (h *Here) Session(id string) (s Session, ok bool) { return h.sessions.get(id) }

// SetSession notes what the workspace has of a session.
func (h *Here) SetSession(id string, s Session) { h.sessions.set(id, s) }

// known returns what was compared of a session.
func (h *Here) known(id string) (s Session, ok bool) {
	s, ok = h.sessions.get(id)
	return s, ok && !s.Auto
}

// SetPending notes that the workspace may lack a part of the joined state of a session. If whole is
// set, it may lack messages of any run; else it can lack only messages of runs without notes.
func (h *Here) SetPending(id string, whole bool) {
	h.setPending(id, whole)
	h.touched.drop(id)
}

func (h *Here) setPending(id string, whole bool) {
	if was, ok := h.pending.get(id); !ok || whole && !was {
		h.pending.set(id, whole)
	}
}

// Begin marks sessions as pending before the caller applies changes, which have all that the
// workspace lacks of these sessions. If the process ends before they are applied, the sessions stay
// pending.
func (h *Here) Begin(c *mirror.Changes, sessions []string) {
	for _, id := range sessions {
		h.setPending(id, true)
	}
	for _, n := range c.New {
		h.touched.drop(n.ID)
	}
	for _, n := range c.Messages {
		h.touched.drop(n.Session)
	}
}

// isSeen reports whether the user had all of a session: it may be removed for all.
func (h *Here) isSeen(id string) bool {
	_, pending := h.pending.get(id)
	_, touched := h.touched.get(id)
	return !pending || touched
}

// Pending returns what SetPending noted. ok is false if the workspace lacks nothing.
func (h *Here) Pending(id string) (whole, ok bool) { return h.pending.get(id) }

// Whole returns the sessions for which SetPending noted messages of any run.
func (h *Here) Whole() (ids []string) {
	for id, whole := range h.pending.all() {
		if whole {
			ids = append(ids, id)
		}
	}
	return ids
}

// Settle notes that the workspace lacks nothing of a session.
func (h *Here) Settle(id string) {
	h.pending.drop(id)
	h.touched.drop(id)
	h.Gone = slices.DeleteFunc(h.Gone, func(o string) bool { return o == id })
}

// Fits reports whether the facts can have everything that changed: whether their number of sessions
// is the previous number, plus the new sessions, minus those that are gone.
func (h *Here) Fits(f *mirror.Facts) bool {
	n := h.Count
	for _, s := range f.Sessions {
		if _, ok := h.sessions.get(s.ID); !ok {
			n++
		}
	}
	for _, id := range f.Unread {
		if _, ok := h.sessions.get(id); !ok {
			n++
		}
	}
	for _, id := range f.Gone {
		if _, ok := h.sessions.get(id); ok {
			n--
		}
	}
	return f.Whole || n == f.Count
}

// There returns a function that reports whether a workspace with facts has a session.
func (h *Here) There(f *mirror.Facts) func(id string) bool {
	listed, gone := map[string]bool{}, map[string]bool{}
	for _, s := range f.Sessions {
		listed[s.ID] = true
	}
	for _, id := range f.Gone {
		gone[id] = true
	}
	return func(id string) bool {
		if f.Whole || listed[id] || gone[id] {
			return listed[id]
		}
		_, ok := h.sessions.get(id)
		return ok
	}
}

// An Op is an operation to record. Items is its body before that is stored.
type Op struct {
	record.Op
	Items []record.Item
}

const (
	sessionPrefix     = "session/"
	agentPrefix       = "agent/"
	explorationPrefix = "exploration/"
	attachmentPrefix  = "attachment/"
	machinePrefix     = "machine/"
	bookmarksEntity   = "bookmarks"
	learningsEntity   = "learnings"

	purged = "purged" // a register of a session
)

func set(entity, field string, value json.RawMessage) Op {
	return Op{Op: record.Op{Do: record.Set, Entity: entity, Field: field, Value: value}}
}

func add(entity, field string, value json.RawMessage) Op {
	return Op{Op: record.Op{Do: record.Add, Entity: entity, Field: field, Value: value}}
}

func addItems(entity, field string, items []record.Item) Op {
	return Op{Op: record.Op{Do: record.Add, Entity: entity, Field: field}, Items: items}
}

func drop(entity, field string, stamps []record.Stamp) Op {
	return Op{Op: record.Op{Do: record.Drop, Entity: entity, Field: field, Stamps: stamps}}
}

func remove(entity string) Op {
	return Op{Op: record.Op{Do: record.Remove, Entity: entity}}
}

// valueOf returns v in JSON. It must be of a type that has one.
func valueOf(v any) json.RawMessage {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic(err)
	}
	return json.RawMessage(strings.TrimSuffix(b.String(), "\n"))
}

// sumOf returns half of the SHA-256 of data, in hexadecimal digits.
func sumOf(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:16])
}

// SessionOf returns the id of the session that an entity names. ok reports whether the entity is a
// session.
func SessionOf(entity string) (id string, ok bool) { return strings.CutPrefix(entity, sessionPrefix) }

// Replace returns the operations that replace runs of a session by items; without items they are
// dropped.
func Replace(id string, runs []record.Stamp, items []record.Item) (ops []Op) {
	if len(items) > 0 {
		ops = append(ops, addItems(sessionPrefix+id, "messages", items))
	}
	return append(ops, drop(sessionPrefix+id, "messages", runs))
}
