package workspace

import (
	"cmp"
	"time"

	"github.com/bough-dev/bough/checkpoint"
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

// entry returns the entry of a session or of one of Penguin's checkpoints. If
// an origin is missing, the lineage begins after it.
func (v *View) entry(id string) Entry {
	lineage, _ := v.lineage(id)
	if v.isPenguin(id) {
		return v.penguinEntry(id, lineage)
	}
	e := v.index.Entry(id)
	branched := e.BranchedFrom
	if e.Snapshot {
		branched = cmp.Or(branched, e.Origin())
	}
	if cp, ok := v.penguin[branched]; ok && v.index.Entry(branched) == nil {
		branched = cp.Session
	}
	return Entry{
		ID:            id,
		Kind:          e.Kind(),
		Title:         v.title(e),
		MessageCount:  e.MessageCount,
		HeaderCount:   e.HeaderCount,
		CreatedAt:     instant(e.CreatedAt),
		LastActive:    instant(e.LastActive),
		ContinuedFrom: list(e.ContinuedFrom),
		ContinuedTo:   list(v.index.ContinuedTo(id)),
		BranchedFrom:  session.ID(branched),
		BranchPoint:   session.ID(e.BranchPoint),
		Lineage:       lineage,
		Setting:       v.setting(id),
	}
}

func (v *View) penguinEntry(id string, lineage []string) Entry {
	cp := v.penguin[id]
	messages := cp.MessageCount
	if s, err := v.penguinCheckpoint(id); err == nil {
		messages = len(s.Messages)
	}
	at := instant(cp.CreatedAt)
	return Entry{
		ID:            id,
		Kind:          session.Checkpoint,
		Title:         cmp.Or(cp.Name, session.DefaultTitle(id)),
		MessageCount:  messages,
		CreatedAt:     at,
		LastActive:    at,
		ContinuedFrom: []string{},
		ContinuedTo:   []string{},
		BranchedFrom:  session.ID(cp.Session),
		BranchPoint:   session.ID(cp.Message),
		Lineage:       lineage,
		Setting:       v.setting(cp.Session),
	}
}

// list returns s, or an empty list if s is nil, which JSON would encode as
// null.
func list(s []string) []string {
	if s == nil {
		return []string{}
	}
	return s
}
