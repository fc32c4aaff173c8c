package history

import (
	"time"

	"github.com/bough-dev/bough/internal/rawjson"
	"github.com/bough-dev/bough/workspace/events"
)

// MarshalJSON implements [json.Marshaler].
func (o Operation) MarshalJSON() ([]byte, error) { return rawjson.Answer(o), nil }

// An Operation is one change of a workspace by a user or, with the verb
// "external", the changes by other programs.
type Operation struct {
	Seq      events.Seq     `json:"seq"` // increases by one; also identifies the events of the operation
	Time     time.Time      `json:"time"`
	Verb     string         `json:"verb"`
	Args     map[string]any `json:"args"`
	Sessions []string       `json:"sessions"` // whose files changed
	Undoes   events.Seq     `json:"undoes"`   // the operation that this one undoes, else null
	Undone   bool           `json:"undone"`   // it was undone

	// Original is the operation that Undo reverted or Redo repeated, in their
	// results only. It is nil if the log no longer has it.
	Original *Operation `json:"-"`

	Group events.Seq `json:"group,omitempty"` // number of the first operation of the group, 0 if there is no group; a group is undone as a whole
}

// Operations are operations, newest first.
type Operations struct {
	Operations []Operation `json:"operations"`
}

// LogOptions select operations of the log.
type LogOptions struct {
	// In selects the operations that changed the file of this session. Empty means
	// all.
	In string
	// Limit is the maximum number of operations. Zero means all.
	Limit int
	// Groups counts a group as one operation for Limit; all operations of a group
	// are returned.
	Groups bool
}

// UndoOptions select the operations to undo or redo.
type UndoOptions struct {
	// In selects the newest operation that changed the file of this session. Empty
	// means the newest operation.
	In string
	// Count is how many operations are undone; a group counts once. Zero means one.
	Count int
	// To is the number of an operation: all later operations are undone. Zero means
	// that Count applies. Redo ignores To.
	To events.Seq
	// Only limits the operations to undo or redo: if not empty, another operation than these
	// is refused. It applies to one change: Count and To must be zero. DryRun ignores it.
	Only []events.Seq
	// Conflicts says what happens to a file of a folder that was changed since, as
	// [restores.Options] has it. Empty means that the operation is refused.
	Conflicts string
	// DryRun returns the operations that would be undone, newest first, and changes
	// nothing. Redo ignores DryRun.
	DryRun bool
}
