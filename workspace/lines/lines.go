// Package lines is a conversation as a program sees it that stores messages of its own
// format: the line of its files, messages in their places, and the tasks that a program
// finds in them. A line is the chain of files of one conversation (format.md 5.4); callers
// name it by the id of its first file or by a UUID.
package lines

import (
	"cmp"
	"encoding/json"
	"io"
	"time"

	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace/task"
)

// An Entry is one line as a program sees it that knows conversations and no
// files: whatever continues a session is part of it.
type Entry struct {
	ID        string          // of its first file
	UUID      string          // see [session.UUID]
	Kind      session.Kind    // of its first file
	Title     string          // its own, else one made from the id
	User      string          // whose it is, "" if nobody said
	Configs   json.RawMessage // an object of whoever uses it, nil if nobody set any; of a checkpoint with a member bough, which says so
	Untracked bool            // nobody is to look for tasks in it
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

// ListOptions say which lines are wanted.
type ListOptions struct {
	User    string          // only this user's, "" for all
	Configs json.RawMessage // only those whose configs hold this object, nil for all
	Newest  bool            // newest first instead of oldest first
	After   *Cursor         // only those that come after this one in that order
	Limit   int             // at most so many, 0 for all
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
	More  bool // there are more than were wanted
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

// A Pending says what is waiting on the path to a message for somebody who looks for
// tasks.
type Pending struct {
	Message string // as it was asked for; of a leaf that was not, its id
	First   string // the first message on the path that is pending, "" if none is
	Count   int    // how many are
	Covered bool   // another message that was asked about lies below this one
}

// A Batch is what is to be looked at next on a path.
type Batch struct {
	Line    string      // the id of its first file
	UUID    string      // of the line, see [session.UUID]
	Branch  string      // of the last new message: the first one after the fork, of the original branch the root
	New     []string    // the messages that are pending, in order
	Path    []string    // from the root to the last of them
	Context []Node      // what is shown of the path before the first of them
	Nodes   []Node      // they, and what is shown of what stands between them
	Tasks   []task.Task // that are visible on the path, in their order
	Order   int         // the highest of any task of the line
}

// A Node is a message in its place.
type Node struct {
	session.Message
	UUID    string          // see [session.MessageUUID]
	Parent  string          // the UUID of its parent, "" for a root
	Session string          // the file that it stands in
	Stored  bool            // see [session.Outline.Stored]
	Time    time.Time       // zero if its file does not say
	Meta    json.RawMessage // what the user noted with it, nil for nothing: metadata.bough.meta
}

// A Path is the messages from a root to one message, in the line that it lies in.
type Path struct {
	Line  Entry
	Nodes []Node
}

// A Content is what a message says, as it will stand in its file.
type Content struct {
	Role  string          // user, assistant, system, tool
	Value json.RawMessage // a string, or an array of parts
	Own   []Member        // what else is known of it, for metadata.bough
}

// A Member is one member of an object.
type Member struct {
	Name  string
	Value json.RawMessage
}

// A Message is a message to be stored by a program that brings it whole.
type Message struct {
	Parent string // the message to answer, "" for the newest one
	// Content returns what the message says, given the path to its parent, which
	// costs something to ask for. It must not wait for anything, and may be called
	// more than once.
	Content func(path func() ([]Node, error)) (Content, error)
	Meta    json.RawMessage // what the user notes with it, an object; nil for nothing
	Files   []File          // what its parts refer to
}

// A Tracking says how far the looking at the messages of a line is.
type Tracking struct {
	Observed  int       // with success
	InProcess int       // somebody is looking at them
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
