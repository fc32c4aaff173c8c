package workspace

import (
	"cmp"
	"time"

	"github.com/bough-dev/bough/checkpoint"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace/agents"
	"github.com/bough-dev/bough/workspace/files"
	"github.com/bough-dev/bough/workspace/internal/store"
	"github.com/bough-dev/bough/workspace/lines"
	"github.com/bough-dev/bough/workspace/merge"
)

// An Entry describes one session.
type Entry struct {
	ID            string       `json:"id"`
	Kind          session.Kind `json:"kind"`
	Title         string       `json:"title"`         // its own, else the user's first words, else derived from the id
	MessageCount  int          `json:"message_count"` // messages in the file, with a repeated header
	HeaderCount   int          `json:"-"`             // messages in the file that repeat the line's header
	Auto          bool         `json:"-"`             // it is an automatic checkpoint
	Penguin       bool         `json:"-"`             // it is a checkpoint of Penguin, which bough only reads
	CreatedAt     time.Time    `json:"created_at"`
	LastActive    time.Time    `json:"last_active"`
	ContinuedFrom []string     `json:"continued_from"` // at most one
	ContinuedTo   []string     `json:"continued_to"`   // oldest first
	BranchedFrom  session.ID   `json:"branched_from"`  // the session that a snapshot was copied from
	BranchPoint   session.ID   `json:"branch_point"`   // the last message that it copied
	Lineage       []string     `json:"lineage"`        // from the root to the session itself
	Head          bool         `json:"head,omitempty"` // the head is in it; set in lists and trees only
	Packed        bool         `json:"packed,omitempty"`
	BegunBy       *lines.Begun `json:"begun_by,omitempty"` // of the conversation of a sub-agent
	Owner         string       `json:"owner,omitempty"`    // who made it elsewhere; "" if it was made here, or if that is unknown
	session.Setting
}

// subAgentsOf returns the conversations of sub-agents that began in the line of a session.
func subAgentsOf(v *store.View, id string) []lines.SubAgent {
	list := []lines.SubAgent{}
	for _, a := range v.SubAgents(id) {
		about := v.Overview(a.Session)
		agent := lines.SubAgent{Session: a.Session, Title: about.Title, Message: session.ID(a.Message), Call: session.ID(a.Call)}
		ids, _ := v.LineIDs(a.Session)
		for _, id := range ids {
			if e := v.Index.Entry(id); e != nil {
				agent.MessageCount += e.MessageCount - e.HeaderCount
			}
		}
		list = append(list, agent)
	}
	return list
}

// A Snapshot is a new checkpoint or branch: its entry and its file.
type Snapshot struct {
	Entry
	Path   string `json:"path"`             // absolute; of a packed checkpoint that of its recipe
	Bytes  int64  `json:"bytes"`            // size of the file, of a packed checkpoint that of its plain file
	Stored int64  `json:"stored,omitempty"` // bytes that a new packed checkpoint takes on the disk
	checkpoint.Adjustment
	Files  *files.State      `json:"files,omitempty"`  // set if files were kept too
	Folder *files.Checkout   `json:"folder,omitempty"` // of a branch with files
	Task   *agents.TaskPoint `json:"task,omitempty"`   // what was being done, if the checkpoint was to store it

	// PruneDue reports whether the caller should call [Workspace.Prune], because
	// [SnapshotOptions.KeepOld] postponed a prune that has enough to do.
	PruneDue bool `json:"-"`
}

// A TreeEntry is a session in the tree of sessions, with its children.
type TreeEntry struct {
	Entry
	// Merges are the messages of the file that merged a branch, none of a checkpoint.
	Merges   []merge.Mark `json:"merges,omitempty"`
	Children []TreeEntry  `json:"children"` // oldest first; the conversations of sub-agents are below the one with the call
}

// entryOf returns the entry of a session or of one of Penguin's checkpoints. The
// lineage is as far as it is known.
func entryOf(v *store.View, id string) Entry {
	s := v.Overview(id)
	lineage, _ := v.Lineage(id)
	entry := Entry{
		ID:            id,
		Kind:          s.Kind,
		Title:         s.Title,
		MessageCount:  s.Messages,
		CreatedAt:     s.Created,
		LastActive:    s.Active,
		ContinuedFrom: []string{},
		ContinuedTo:   []string{},
		Lineage:       lineage,
		Setting:       s.Setting,
	}
	if v.IsPenguin(id) {
		cp := v.Penguin[id]
		entry.BranchedFrom, entry.BranchPoint, entry.Penguin = session.ID(cp.Session), session.ID(cp.Message), true
		entry.Auto = cp.Type == "auto"
		if file, err := v.PenguinCheckpoint(id); err == nil {
			entry.MessageCount = len(file.Messages)
		}
		return entry
	}
	if b, ok := v.BegunBy(id); ok {
		entry.BegunBy = &lines.Begun{Conversation: b.Conversation, Session: session.ID(b.Session), Message: session.ID(b.Message), Call: session.ID(b.Call)}
	}
	if o, ok := v.Origins().Session(id); ok {
		entry.Owner = o.Owner
	}
	e := v.Index.Entry(id)
	branched := e.BranchedFrom
	if e.Snapshot {
		branched = cmp.Or(branched, e.Origin())
	}
	if cp, ok := v.Penguin[branched]; ok && v.Index.Entry(branched) == nil {
		branched = cp.Session
	}
	entry.BranchedFrom, entry.BranchPoint = session.ID(branched), session.ID(e.BranchPoint)
	entry.HeaderCount, entry.Auto, entry.Packed = e.HeaderCount, s.Kind == session.Checkpoint && e.Auto, e.Packed != nil
	entry.ContinuedFrom, entry.ContinuedTo = store.List(e.ContinuedFrom), store.List(v.Index.ContinuedTo(id))
	return entry
}
