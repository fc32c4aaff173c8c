// Package mirror defines what a workspace tells another one of itself, and what it takes in from
// it: the values that package remote carries between machines. The package opens no file.
//
// What is mirrored: sessions of every kind with their messages, titles, bookmarks, agents without
// their turns and queues, explorations, learnings, attachments, and which operations were made. The
// head of the workspace is told and not taken in. Caches, tokens and the trash are neither.
package mirror

import (
	"encoding/json"
	"time"

	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace/bookmark"
	"github.com/bough-dev/bough/workspace/events"
)

// Facts are what a workspace has.
type Facts struct {
	Sessions     []Session           // in an order in which a session follows those that it was copied from or continues
	Bookmarks    []bookmark.Bookmark // oldest first
	Agents       []Agent
	Explorations []File
	Learnings    []json.RawMessage
	Attachments  []string // SHA-256, hexadecimal digits
	Head         *Head    // nil if it is not set

	// Since is what happened after the operation that was asked for, in order.
	Since []Operation
	Last  events.Seq // the last operation
}

// A Session is a session without its messages.
type Session struct {
	ID      string
	Kind    session.Kind
	Auto    bool            // an automatic checkpoint
	Version string          // differs if any byte of the file may differ
	Shell   json.RawMessage // the file with no messages, and without the title, counts and times of its last change
	Title   string          // "" if it has none of its own
	Newest  string          // id of the message of its line that was added last; "" if there is none
}

// A Message is a message of a session.
type Message struct {
	ID     string          // in its session, unique
	Parent session.ID      // the message that it follows, in its line; none for a root
	Raw    json.RawMessage // as it is stored; how it names its parent does not matter
}

// An Agent is an agent without turns and queue.
type Agent struct {
	Name     string
	Settings json.RawMessage // model, system prompt and the like
	Trees    []json.RawMessage
	Head     *Head
	Owner    string // the machine of an agent of another machine that has the same name; else ""
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

// An Operation is what one operation of the log did that others cannot see from what is there.
type Operation struct {
	Seq      events.Seq
	Time     time.Time
	Verb     string
	Removed  []string        // sessions that were removed on purpose
	Undone   []Undone        // messages whose append was undone
	Returned []string        // sessions that came back: by undo, or out of the trash
	Line     json.RawMessage // for people: verb, arguments, sessions
}

// Undone names a message that an undo took away.
type Undone struct {
	Session string `json:"session_id"`
	Message string `json:"message_id"`
}

// Changes are what a workspace takes in, as one operation. What it has already is left as it is.
type Changes struct {
	Remote string // the name of the remote, for the log

	New      []NewSession
	Messages []NewMessages
	Undone   []Undone // removed unless a message follows them or something refers to them
	Removed  []string // moved to the trash
	Titles   map[string]string

	AddBookmarks  []bookmark.Bookmark
	DropBookmarks []bookmark.Bookmark // by label and message
	Agents        []Agent             // their new state; others stay
	DropAgents    []string
	Explorations  []File
	Learnings     []json.RawMessage
	Attachments   []Content
}

// A NewSession is a session that the workspace does not have.
type NewSession struct {
	Session
	Messages []Message
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

// Applied says what became of Changes.
type Applied struct {
	Operation events.Seq // 0 if nothing changed
	Sessions  []string   // that changed or are new
	Left      []Left
}

// Left is something that was not taken in.
type Left struct {
	What string `json:"what"` // an id
	Why  string `json:"why"`
}
