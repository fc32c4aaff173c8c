package workspace

import (
	"cmp"
	"time"

	"github.com/bough-dev/bough/checkpoint"
	"github.com/bough-dev/bough/internal/sessionid"
	"github.com/bough-dev/bough/session"
)

// An Entry describes one session.
type Entry struct {
	ID            string       `json:"id"`
	Kind          session.Kind `json:"kind"`
	Title         string       `json:"title"`         // its own, else the user's first words, else derived from the id
	MessageCount  int          `json:"message_count"` // messages in the file, with a repeated header
	HeaderCount   int          `json:"-"`             // messages in the file that repeat the line's header
	CreatedAt     time.Time    `json:"created_at"`
	LastActive    time.Time    `json:"last_active"`
	ContinuedFrom []string     `json:"continued_from"` // at most one
	ContinuedTo   []string     `json:"continued_to"`   // oldest first
	BranchedFrom  session.ID   `json:"branched_from"`  // the session that a snapshot was copied from
	BranchPoint   session.ID   `json:"branch_point"`   // the last message that it copied
	Lineage       []string     `json:"lineage"`        // from the root to the session itself
	Head          bool         `json:"head,omitempty"` // the head is in it; set in lists and trees only
	session.Setting
}

// A Snapshot is a new checkpoint or branch: its entry and its file.
type Snapshot struct {
	Entry
	Path  string `json:"path"`  // absolute
	Bytes int64  `json:"bytes"` // size of the file
	checkpoint.Adjustment
}

// A TreeEntry is a session in the tree of sessions, with its children.
type TreeEntry struct {
	Entry
	Children []TreeEntry `json:"children"` // oldest first
}

// An overview has what lists, searches and errors show of a session or of one
// of Penguin's checkpoints.
type overview struct {
	kind            session.Kind
	title           string // see [View.title]
	messages        int
	created, active time.Time
	setting         session.Setting
}

// overview returns the overview of a session, zero if there is none. It reads
// no file.
func (v *View) overview(id string) overview {
	switch e := v.index.Entry(id); {
	case e != nil:
		return overview{e.Kind(), v.title(e), e.MessageCount, instant(e.CreatedAt), v.lastActive(id), v.setting(id)}
	case v.isPenguin(id):
		cp := v.penguin[id]
		at := instant(cp.CreatedAt)
		return overview{session.Checkpoint, cmp.Or(cp.Name, sessionid.DefaultTitle(id)), cp.MessageCount, at, v.lastActive(id), v.setting(cp.Session)}
	}
	return overview{}
}

// lastActive returns when any of the sessions was last active.
func (v *View) lastActive(ids ...string) (last time.Time) {
	for _, id := range ids {
		var at time.Time
		if e := v.index.Entry(id); e != nil {
			at = e.LastActive
		} else if v.isPenguin(id) {
			at = v.penguin[id].CreatedAt
		}
		if at.After(last) {
			last = at
		}
	}
	return instant(last)
}

// entry returns the entry of a session or of one of Penguin's checkpoints. The
// lineage is as far as it is known.
func (v *View) entryOf(id string) Entry {
	s := v.overview(id)
	lineage, _ := v.lineage(id)
	entry := Entry{
		ID:            id,
		Kind:          s.kind,
		Title:         s.title,
		MessageCount:  s.messages,
		CreatedAt:     s.created,
		LastActive:    s.active,
		ContinuedFrom: []string{},
		ContinuedTo:   []string{},
		Lineage:       lineage,
		Setting:       s.setting,
	}
	if v.isPenguin(id) {
		cp := v.penguin[id]
		entry.BranchedFrom, entry.BranchPoint = session.ID(cp.Session), session.ID(cp.Message)
		if file, err := v.penguinCheckpoint(id); err == nil {
			entry.MessageCount = len(file.Messages)
		}
		return entry
	}
	e := v.index.Entry(id)
	branched := e.BranchedFrom
	if e.Snapshot {
		branched = cmp.Or(branched, e.Origin())
	}
	if cp, ok := v.penguin[branched]; ok && v.index.Entry(branched) == nil {
		branched = cp.Session
	}
	entry.BranchedFrom, entry.BranchPoint = session.ID(branched), session.ID(e.BranchPoint)
	entry.HeaderCount = e.HeaderCount
	entry.ContinuedFrom, entry.ContinuedTo = list(e.ContinuedFrom), list(v.index.ContinuedTo(id))
	return entry
}

// list returns s, or an empty list if s is nil, which JSON would encode as
// null.
func list(s []string) []string {
	if s == nil {
		return []string{}
	}
	return s
}
