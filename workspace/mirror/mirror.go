// Package mirror defines the contents that a workspace sends to another one, and those it accepts from
// it: the values that package remote carries between machines. The package opens no file.
//
// These are mirrored: sessions of every kind with their messages, titles and projects; agents
// without their turns and queues; the owners of sessions and agents; bookmarks; explorations;
// learnings; attachments; and the list of operations. The head of the workspace is among the facts,
// and no change sets it: it follows the end of a conversation if it is there. Caches, tokens and the trash are neither facts nor changes.
package mirror

import (
	"encoding/json"
	"time"

	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace/bookmark"
	"github.com/bough-dev/bough/workspace/events"
	"github.com/bough-dev/bough/workspace/project"
	"github.com/bough-dev/bough/workspace/provenance"
)

// Known is what a caller of Facts knows already.
type Known struct {
	Since    events.Seq               // the last operation that it knows
	Versions func() map[string]string // returns versions of sessions, by id; called only if it is needed, nil for none

	// Changed asks only for the sessions that changed after Since, with those that they continue, and
	// for those in Also. That is not possible unless bough has seen all changes since; then Facts
	// returns all sessions.
	Changed bool
	Also    []string // ids of sessions

	Projects string // the value of Facts.Projects at the last call; if it has changed, Facts describes all sessions

	// Lines are ids of sessions: if it is not nil, only these and those that continue them are in the
	// facts, and the ids of all others in Facts.Others. Changed is then ignored.
	Lines  []string
	Remote string // see Facts.Brought
}

// Facts are what a workspace has.
type Facts struct {
	// Sessions are all sessions if Whole is set, else those that Known asks for, in an order in which a
	// session follows those that it was copied from or continues, as far as these are in the list.
	Sessions []Session
	Whole    bool
	Count    int64    // of all sessions that are plain files
	Gone     []string // ids of sessions that Known asks for and that do not exist, if Whole is not set
	Unread   []string // ids of sessions that are there and cannot be read; they are not in Sessions
	Others   []string // ids of sessions that Known.Lines excludes

	// If Known.Lines is not nil: the sessions that got content from elsewhere after Known.Since, by a pull
	// of another remote than Known.Remote, an import, a repair or out of the trash; and those that only
	// users of this workspace changed. Changes by other programs are in neither.
	Brought, Written []string

	Bookmarks    []bookmark.Bookmark // oldest first
	Agents       []Agent
	Explorations []File
	Learnings    []json.RawMessage
	Attachments  []string        // SHA-256, hexadecimal digits
	Head         *Head           // nil if it is not set
	Origins      provenance.List // of what came from elsewhere
	Projects     string          // differs if the user named other folders

	// Since are the operations of users after Known.Since, in order, as far as the log has them.
	// Operations that received changes are not among them, and neither are undos of these.
	Since []Operation

	// Withdrawn has the sessions that were removed, or lost messages, when an operation that
	// received changes was undone after Known.Since and not redone. If a user removed such a
	// session later, the workspace did not have all of its messages.
	Withdrawn map[string]bool
	Last      events.Seq // the last operation
}

// A Session is a session without its messages.
type Session struct {
	ID      string
	Kind    session.Kind
	Auto    bool   // an automatic checkpoint
	Line    string // the first session of its line, if Known.Lines is not nil
	Version string // differs if any byte of the file may differ

	// Shell is the file without messages, title, counts and the time of its last change, in a form
	// that is equal on all machines: on one line, with the links of bough's dialect and without
	// those that follow from other sessions. It is nil, and Title and Newest are "", if Known has
	// the version of the session and of all sessions that continue it.
	Shell  json.RawMessage
	Title  string // "" if it has none of its own
	Newest string // id of the newest leaf of its line; "" if there is none, or if the session continues another

	Origin  *provenance.Origin // nil if it was made in the workspace, or if Shell is nil
	Project *project.Project   // of its folder, as far as it is known; nil if Shell is
}

// A Message is a message of a session.
type Message struct {
	ID     string          // in its session, unique
	Parent session.ID      // the message that it follows, in its line; none for a root
	Raw    json.RawMessage // as it is stored, possibly with the tokens of numbers that Python writes
	Header bool            // it is in the header of a continuation, which is not in the tree; it has no parent
}

// An Agent is an agent without turns and queue.
type Agent struct {
	Name     string
	Settings json.RawMessage // model, system prompt and the like
	Trees    []json.RawMessage
	Head     *Head
	Origin   *provenance.Origin // nil if it was made in the workspace
}

// A Head is a position.
type Head struct {
	Session string `json:"session_id"`
	Message string `json:"message_id"` // "" before the first message
}

// A File is a named JSON document.
type File struct {
	ID   string
	Data json.RawMessage
}

// An Operation has the effects of one operation of the log that the contents alone do not show.
type Operation struct {
	Seq      events.Seq
	Time     time.Time
	Verb     string
	Removed  []string            // sessions that were removed on purpose
	Undone   []Ref               // messages whose append was undone
	Redone   []Ref               // messages whose undo was redone
	Returned []string            // sessions that came back: by undo, or out of the trash
	Unmarked []bookmark.Bookmark // bookmarks that it removed
	Agents   []string            // names of agents of which it removed the file
	Trees    []string            // ids of trees that it took from agents
	Line     json.RawMessage     // for people: verb, arguments, sessions
}

// A Ref names a message.
type Ref struct {
	Session string `json:"session_id"`
	Message string `json:"message_id"`
}

// Changes are the changes that a workspace receives. The workspace skips the changes that it
// already has.
type Changes struct {
	Remote string // the name of the remote, for the log

	New      []NewSession      // if the workspace has the session already, only its messages are added, as in Messages
	Messages []NewMessages     // added in their order to the file of their session
	Undone   []Ref             // removed unless a message follows them or something refers to them
	Removed  []Removal         // moved to the trash
	Titles   map[string]string // by session; "" removes the title
	Shells   []Shell           // of sessions that the workspace has; their links must be the same
	Metadata []Metadata        // of messages that the workspace has

	AddBookmarks  []bookmark.Bookmark
	DropBookmarks []bookmark.Bookmark // by label and message
	Agents        []Agent             // their new state; others stay
	DropAgents    []string
	Explorations  []File
	Learnings     []json.RawMessage
	Attachments   []Content
	Origins       []provenance.Origin // in place of those that the workspace has; they are not logged
}

// A NewSession is a session that the workspace does not have.
type NewSession struct {
	Session
	Messages []Message
}

// A Shell is the new shell of a session.
type Shell struct {
	Session string
	Shell   json.RawMessage
}

// Metadata is the part of a message that may change: metadata.bough, without the member continued,
// which depends on the file.
type Metadata struct {
	Session string
	Message string
	Value   json.RawMessage // an object
}

// A Removal names a session to remove. It stays if its version is another one.
type Removal struct {
	Session string
	Version string
}

// NewMessages are messages for a session that the workspace has.
type NewMessages struct {
	Session  string
	Messages []Message
}

// Content is an attachment.
type Content struct {
	SHA256 string
	Data   []byte
}

// Applied is the result of applying Changes.
type Applied struct {
	Operation events.Seq // the first of the group of operations, 0 if there is none
	Sessions  []string   // that changed or are new
	Left      []Left
}

// Left is something that was not received.
type Left struct {
	What string `json:"what"` // an id, a label, or SESSION@MESSAGE
	Why  string `json:"why"`
}
