// Package lines has the arguments and results of the methods of package
// workspace for programs that store messages in a format of their own: lines,
// messages, and tasks that are found in them. A line is a session with its
// continuations, one conversation for users. It is identified by the id of its
// first file, or by a UUID.
package lines

import (
	"cmp"
	"encoding/json"
	"io"
	"time"

	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace/task"
)

// An Entry describes one line.
type Entry struct {
	ID        string          // of its first file
	UUID      string          // see docs/format.md 19.1
	Kind      session.Kind    // of its first file
	Title     string          // its own, else derived from the id
	User      string          // "" if it was not set
	Configs   json.RawMessage // an object that programs set, nil if they did not; for a checkpoint it has a member bough that marks it
	Untracked bool            // excluded from tracking
	CreatedAt time.Time
	UpdatedAt time.Time // time of the last message in any of its files
}

// Options are the choices for a new line.
type Options struct {
	UUID      string // the id to use, in lower case and with hyphens; "" to generate one
	Title     string
	User      string
	Configs   json.RawMessage // an object, nil for none
	Untracked bool
}

// ListOptions select and order lines.
type ListOptions struct {
	User    string          // only lines of this user, "" for all
	Configs json.RawMessage // only lines whose configs contain this object, nil for all
	Newest  bool            // newest first instead of oldest first
	After   *Cursor         // only lines after this one
	Limit   int             // maximum number of lines, 0 for no limit
}

// A Cursor is a position in a list of lines, which is ordered by creation time.
type Cursor struct {
	Time time.Time
	UUID string
}

// Compare orders by time, then by UUID.
func (c Cursor) Compare(other Cursor) int {
	return cmp.Or(c.Time.Compare(other.Time), cmp.Compare(c.UUID, other.UUID))
}

// A Listing is a list of lines, ordered by creation time.
type Listing struct {
	Lines []Entry
	More  bool // the limit omitted some lines
}

// A File is an attachment. It is stored once, in files/, under the SHA-256 of
// its content.
type File struct {
	SHA256 string // in lower-case hexadecimal
	Open   func() (io.ReadCloser, error)
}

// An Event is something that a program records about a conversation, apart from
// its messages.
type Event struct {
	ID        string          `json:"id"`
	Type      string          `json:"type"`
	Data      json.RawMessage `json:"data"`
	CreatedAt time.Time       `json:"created_at"`
}

// A Pending is the number of messages on a path that are to be tracked.
type Pending struct {
	Message string // as requested; for a leaf that was not requested, its id
	First   string // the first pending message on the path, "" if there is none
	Count   int    // number of pending messages
	Covered bool   // another requested message is below this one
}

// A Batch is the next messages of a path to track.
type Batch struct {
	Line    string      // id of its first file
	UUID    string      // of the line, see docs/format.md 19.1
	Branch  string      // of the last new message: the first message after the fork, or the root
	New     []string    // the pending messages, in order
	Path    []string    // from the root to the last new message
	Context []Node      // earlier messages on the path, for context
	Nodes   []Node      // the new messages, with context between them
	Tasks   []task.Task // visible on the path, in their order
	Order   int         // the highest of any task of the line
}

// A Node is a message with its place.
type Node struct {
	session.Message
	UUID    string          // see docs/format.md 19.1
	Parent  string          // UUID of the parent, "" for a root
	Session string          // the file that has the message
	Stored  bool            // see [session.Outline.Stored]
	Time    time.Time       // zero if the file has none
	Meta    json.RawMessage // the user's metadata, nil if there is none: metadata.bough.meta
}

// A Path is the messages from a root to one message of a line.
type Path struct {
	Line  Entry
	Nodes []Node
}

// A Content is the content of a message in its stored form.
type Content struct {
	Role  string          // user, assistant, system or tool
	Value json.RawMessage // a string or an array of parts
	Own   []Member        // further members of metadata.bough
}

// A Member is a member of an object.
type Member struct {
	Name  string
	Value json.RawMessage
}

// A Message is a message to store.
type Message struct {
	Parent string // the message to reply to, "" for the newest one
	// Content returns the content of the message. path returns the path to its
	// parent, which takes time. Content must not block, and may be called more than
	// once.
	Content func(path func() ([]Node, error)) (Content, error)
	Meta    json.RawMessage // the user's metadata, an object; nil for none
	Files   []File          // files that its parts refer to
}

// A Tracking is the progress of tracking the messages of a line, in numbers of
// messages.
type Tracking struct {
	Observed  int       // tracked successfully
	InProcess int       // being tracked now
	Pending   int       // to be tracked
	Failed    int       // failed, and not tried again
	UpdatedAt time.Time // when this, or the line, changed last
}

// Count adds a message with the state s; running means that it is being tracked. It advances
// UpdatedAt to the time of s.
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

// A MessageTracking is the progress of tracking one message.
type MessageTracking struct {
	Status task.Status
	Error  string // of the last failure, "" if there was none
	Task   string // id of the newest task about it, "" if there is none
}

// TasksOf returns the id of the newest task about each message that has one, by
// message.
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
