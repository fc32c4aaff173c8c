package forget

import (
	"github.com/bough-dev/bough/session"
)

// Options are the choices for forgetting a conversation.
type Options struct {
	// Copies also forgets the other conversations with messages of this one.
	Copies bool
	// DryRun reports without changing anything.
	DryRun bool
}

// A Result lists what was forgotten with a conversation.
type Result struct {
	Session  string   `json:"session_id"` // the id of the conversation's first file
	Title    string   `json:"title"`
	Sessions []string `json:"session_ids"` // all deleted files, including copies
	Copies   []Copy   `json:"copies"`      // other sessions with messages of the conversation
	Sources  []Source `json:"sources"`     // conversations of other programs that imports will skip
	Remotes  []Holder `json:"remotes"`     // those that still have it, set by callers that know remotes
	DryRun   bool     `json:"dry_run"`
}

// A Holder is a remote that has sessions of a forgotten conversation.
type Holder struct {
	Remote   string   `json:"remote"` // its name
	Sessions []string `json:"session_ids"`
}

// A Copy is a session that shares messages with a forgotten
// conversation.
type Copy struct {
	Session   string       `json:"session_id"`
	Kind      session.Kind `json:"kind"`
	Title     string       `json:"title"`
	Messages  int          `json:"message_count"` // the shared ones
	Trashed   bool         `json:"trashed"`       // it is in the trash
	Forgotten bool         `json:"forgotten"`
}

// A Source is a conversation of another program.
type Source struct {
	Format string `json:"format"`
	ID     string `json:"id,omitempty"`              // its id in the other program
	Last   string `json:"last_message_id,omitempty"` // if it has no id
}
