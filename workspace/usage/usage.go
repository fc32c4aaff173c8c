// Package usage has the results of measuring the disk space of a workspace, by
// kinds of files and by conversations.
package usage

import (
	"github.com/bough-dev/bough/session"
)

// A Report is the disk space of a workspace. Sizes are in bytes.
type Report struct {
	Path          string         `json:"path"` // path of the workspace
	Bytes         int64          `json:"bytes"`
	Files         int            `json:"files"`
	Kinds         []Files        `json:"kinds"`         // all kinds, in a fixed order
	StatesLimit   int64          `json:"states_limit"`  // maximum size of the states of folders, 0 for no limit
	Conversations []Conversation `json:"conversations"` // largest first
	More          int            `json:"more"`          // number of conversations that are not listed
}

// Files is the disk space of one kind of files.
type Files struct {
	Kind  Kind  `json:"kind"`
	Bytes int64 `json:"bytes"`
	Files int   `json:"files"`
}

// A Kind is a kind of files of a workspace.
type Kind string

// The kinds of files, in the order of [Report.Kinds].
const (
	Roots           Kind = "roots"
	Continuations   Kind = "continuations"
	Branches        Kind = "branches"
	Checkpoints     Kind = "checkpoints"
	AutoCheckpoints Kind = "automatic_checkpoints"
	Packed          Kind = "packed_checkpoints" // recipes and packs
	Penguin         Kind = "penguin_checkpoints"
	Damaged         Kind = "damaged_sessions"
	Index           Kind = "index"
	Attachments     Kind = "attachments"
	Agents          Kind = "agents"
	Explorations    Kind = "explorations"
	States          Kind = "states" // of folders
	Operations      Kind = "operations"
	Tasks           Kind = "tasks"
	Trash           Kind = "trash"
	Caches          Kind = "caches"
	Other           Kind = "other"
)

// A Conversation is the disk space of a session and its continuations.
type Conversation struct {
	Session  string       `json:"session_id"` // of its first file
	Kind     session.Kind `json:"kind"`
	Title    string       `json:"title"`
	Messages int          `json:"message_count"` // stored messages
	Files    int          `json:"files"`
	Bytes    int64        `json:"bytes"`
	Text     int64        `json:"text_bytes"`   // in the text of messages
	Records  int64        `json:"record_bytes"` // in the records of the transcript that it was imported from
	Damaged  bool         `json:"damaged"`      // its files cannot be read: Text and Records are unknown
}
