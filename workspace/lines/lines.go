// Package lines has conversations for programs that store messages in a format of their
// own: lines, messages, and the tasks that a program finds in them. A line is the chain of
// files of one conversation (format.md 5.4); callers name it by the id of its first file
// or by a UUID.
package lines

import (
	"cmp"
	"encoding/json"
	"io"
	"time"

	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace/task"
)

// An Entry is one line, for a program that sees conversations and not files:
// all continuations of a session are part of it.
type Entry struct {
	ID        string          // of its first file
	UUID      string          // see [session.UUID]
	Kind      session.Kind    // of its first file
	Title     string          // its own, else one made from the id
	User      string          // the user that a program set, "" if none did
	Configs   json.RawMessage // an object that programs set, nil if none did; for a checkpoint it includes a member bough that marks it
	Untracked bool            // excluded from tracking
	CreatedAt time.Time
	UpdatedAt time.Time // when the last message of any of its files came
}

// Options are the choices for a new line.
type Options struct {
	UUID      string // its id, if it is to have a certain one: lower case, with hyphens
	Title     string
	User      string
	Configs   json.RawMessage // an object, nil for none
	Untracked bool
}

// ListOptions select and order lines.
type ListOptions struct {
	User    string          // only this user's, "" for all
	Configs json.RawMessage // only those whose configs hold this object, nil for all
	Newest  bool            // newest first instead of oldest first
	After   *Cursor         // only lines after this one in that order
	Limit   int             // the maximum number, 0 for no limit
}

// A Cursor is a place in a list that is ordered by time.
type Cursor struct {
	Time time.Time
	UUID string
}

// compare orders by time, then by UUID.
func (c Cursor) Compare(other Cursor) int {
	return cmp.Or(c.Time.Compare(other.Time), cmp.Compare(c.UUID, other.UUID))
}

// A Listing is some of the lines of a workspace, by the time when they began.
type Listing struct {
	Lines []Entry
	More  bool // the limit omitted some
}

// A File is an attachment. It is kept in files/ under the SHA-256 of its content,
// once, however many messages refer to it.
type File struct {
	SHA256 string // in lower-case hexadecimal
	Open   func() (io.ReadCloser, error)
}

// An Event is something that a program noted about a conversation, beside its
// messages.
type Event struct {
	ID        string          `json:"id"`
	Type      string          `json:"type"`
	Data      json.RawMessage `json:"data"`
	CreatedAt time.Time       `json:"created_at"`
}

// A Pending is the count of messages on a path that wait to be tracked.
type Pending struct {
	Message string // as it was asked for; of a leaf that was not, its id
	First   string // the first message on the path that is pending, "" if none is
	Count   int    // how many are
	Covered bool   // another requested message is below this one
}

// A Batch is the next messages to track on a path.
type Batch struct {
	Line    string      // the id of its first file
	UUID    string      // of the line, see [session.UUID]
	Branch  string      // of the last new message: the first one after the fork, of the original branch the root
	New     []string    // the messages that are pending, in order
	Path    []string    // from the root to the last of them
	Context []Node      // earlier messages on the path, for context
	Nodes   []Node      // the new messages, with context between them
	Tasks   []task.Task // that are visible on the path, in their order
	Order   int         // the highest of any task of the line
}

// A Node is a message in its place.
type Node struct {
	session.Message
	UUID    string          // see [session.MessageUUID]
	Parent  string          // the UUID of its parent, "" for a root
	Session string          // the file that has the message
	Stored  bool            // see [session.Outline.Stored]
	Time    time.Time       // zero if its file does not say
	Meta    json.RawMessage // metadata that the user set, nil for none: metadata.bough.meta
}

// A Path is the messages from a root to one message of a line.
type Path struct {
	Line  Entry
	Nodes []Node
}

// A Content is the content of a message in its stored form.
type Content struct {
	Role  string          // user, assistant, system, tool
	Value json.RawMessage // a string, or an array of parts
	Own   []Member        // further members for metadata.bough
}

// A Member is one member of an object.
type Member struct {
	Name  string
	Value json.RawMessage
}

// A Message is a message to be stored by a program that brings it whole.
type Message struct {
	Parent string // the message to answer, "" for the newest one
	// Content returns the content of the message. path returns the path to its
	// parent, at some cost. Content must not block, and may be called more than
	// once.
	Content func(path func() ([]Node, error)) (Content, error)
	Meta    json.RawMessage // metadata that the user sets, an object; nil for none
	Files   []File          // the files that its parts refer to
}

// A Tracking says how far the looking at the messages of a line is.
type Tracking struct {
	Observed  int       // with success
	InProcess int       // being tracked now
	Pending   int       // they are waiting for that
	Failed    int       // and will not be tried again
	UpdatedAt time.Time // when that changed last, or the line
}

func (t *Tracking) Count(s task.State, running bool) {
	if s.At.After(t.UpdatedAt) {
		t.UpdatedAt = s.At
	}
	switch s.Status(running) {
	case task.Success:
		t.Observed++
	case task.Running:
		t.InProcess++
	case task.Failed:
		t.Failed++
	default:
		t.Pending++
	}
}

// A Tracked says how far the looking at one message is.
type Tracked struct {
	Status task.Status
	Error  string // why it failed the last time, "" if it did not
	Task   string // the id of the newest task that is about it, "" if none is
}

// tasksOf returns for each message that any task of p is about the newest one.
func (p *Path) TasksOf(log *task.Log) map[string]string {
	ids := func(yield func(string) bool) {
		for _, n := range p.Nodes {
			if !yield(n.ID) {
				return
			}
		}
	}
	of := log.Visible
	for i, n := range p.Nodes {
		if i > 0 && n.Parent != p.Nodes[i-1].UUID {
			of = log.All // these are all messages of a line
			break
		}
	}
	about, newest := map[string]string{}, map[string]time.Time{}
	for _, t := range of(ids) {
		for _, id := range t.Messages {
			if !t.Updated.Before(newest[id]) {
				about[id], newest[id] = t.ID, t.Updated
			}
		}
	}
	return about
}
