// Package treerows lists the rows of a tree of conversations, as a sidebar or a terminal
// shows it.
//
// The tree has a row for each conversation: a session with its continuations. Below it are
// the places where it forks, its checkpoints and bookmarks, and the conversations that were
// copied from it. What belongs to a message is in the order of the messages, as far as the
// caller has read them: at a fork, the branch with the most messages continues on the same
// level, below the fork, and the other branches are rows below the fork's row. Only branches
// of branches are indented further.
//
// All functions but Read are pure.
package treerows

import (
	"time"

	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/bookmark"
	"github.com/bough-dev/bough/workspace/lines"
)

// A Source is what the rows are about.
type Source struct {
	Forest    *workspace.Forest
	Head      *lines.Position     // nil if it is not set
	Bookmarks []bookmark.Bookmark // of all conversations
	// Messages has the messages of conversations, by their first file. Without them, what
	// belongs to a message of a conversation is directly below the conversation.
	Messages map[string]*workspace.MessageTree
	// Agents has the agent that owns a conversation, by its first file.
	Agents map[string]string
}

// Options select rows.
type Options struct {
	Filter Filter
	// Text limits the rows to those with the text, ignoring case, and the rows above them.
	// These are expanded.
	Text string
	// Open says which rows are expanded, by id. A row that is missing is expanded if it is a
	// fork or a branch, or if the head is below it.
	Open map[string]bool
	// Root is the id of a row: only this row, expanded, and those below it are listed. If
	// empty, all rows are.
	Root string
}

// A Filter selects kinds of rows.
type Filter string

// The filters.
const (
	Outline   Filter = ""          // everything but messages and automatic checkpoints
	All       Filter = "all"       // with all messages and automatic checkpoints
	NoTools   Filter = "no-tools"  // with messages that are not only about tools
	People    Filter = "people"    // with the messages of people
	Bookmarks Filter = "bookmarks" // bookmarks and the rows above them
	Forks     Filter = "forks"     // where conversations fork, and their copies
)

// Filters are all filters.
var Filters = [...]Filter{Outline, All, NoTools, People, Bookmarks, Forks}

// Text returns the name of the filter for a person.
func (f Filter) Text() string {
	return map[Filter]string{
		Outline: "Outline", All: "All messages", NoTools: "Without tools", People: "People's words", Bookmarks: "Bookmarks", Forks: "Forks",
	}[f]
}

// A Kind is the kind of a row.
type Kind string

// The kinds.
const (
	Session    Kind = "session"    // a conversation
	Copy       Kind = "copy"       // a conversation that was copied from another one
	Checkpoint Kind = "checkpoint" // a read-only copy
	Fork       Kind = "fork"       // a message with several replies
	Branch     Kind = "branch"     // one of these, with the messages after it
	Bookmark   Kind = "bookmark"
	Message    Kind = "message"
)

// A Row is one row.
type Row struct {
	ID       string // the same for the same row of a later listing
	Kind     Kind
	Level    int // 1 for a row without a parent
	Parent   int // index of the parent row, -1 for none
	Position int // among the rows of the parent, from 1
	Siblings int // number of rows of the parent

	Session string // the first file of the conversation that the row leads to
	Message string // the message that the row leads to, "" for the end of the conversation
	Leaf    string // the last message of the branch with Message, "" if unknown

	Title  string    // a title, a label, or the first words of a message
	Role   string    // of Message, if Kind is Fork, Branch or Message
	Labels []string  // bookmarks of Message, if Kind is Fork, Branch or Message
	Count  int       // number of messages; of a fork, number of its branches
	Time   time.Time // of the last change, zero if unknown

	Expandable bool
	Expanded   bool
	Head       bool // the head is here
	AboveHead  bool // the head is below this row
	Auto       bool // it is an automatic checkpoint
	Joined     bool // the parent of Message is missing, and it is joined to another message
	Orphaned   bool // the origin of the conversation does not exist
	Match      bool // it has Options.Text

	// Delete says whether the session can be deleted, for Session, Copy and Checkpoint.
	Delete Deletion
}

// A Deletion says whether a session and its continuations can be deleted.
type Deletion struct {
	Refused Reason
	By      []Origin // the sessions that depend on it
	Agent   string   // the agent that owns it
}

// A Reason is why a session cannot be deleted.
type Reason string

// The reasons.
const (
	Allowed      Reason = ""
	HasCopies    Reason = "has_children" // branches or checkpoints were copied from it; a deletion can be forced
	OwnedByAgent Reason = "agent"        // it is a tree of an agent
	ReadOnly     Reason = "read_only"    // Penguin wrote it, and bough only reads it
)

// An Origin is a session that was copied from another one.
type Origin struct {
	ID    string
	Title string
}

// Rows returns the rows of the trees, those of the last active tree first.
func Rows(s Source, o Options) []Row {
	b := &builder{Source: s, filter: o.Filter, labels: labelsOf(s.Bookmarks)}
	items := b.forest()
	markAbove(items)
	if o.Root != "" {
		root := find(items, o.Root)
		if root == nil {
			return nil
		}
		items = []*item{root}
	}
	items = b.filtered(items, o)
	l := &lister{Options: o}
	l.list(items, 1, -1)
	return l.rows
}
