package transcript

import (
	"cmp"
	"encoding/json"
	"io"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/bough-dev/bough/internal/content"
	"github.com/bough-dev/bough/session"
)

// A Conversation is what a transcript says of a conversation beside its messages.
type Conversation struct {
	ID      string    // what its program calls it, "" if it has no id
	Title   string    // "" if it has none
	Dir     string    // the folder that it is about, "" if nobody says
	Version string    // of the program that wrote it, "" if nobody says
	Model   string    // that answers, as its program calls it, "" if nobody says
	Branch  string    // the git branch of Dir when the conversation began, "" if the transcript does not say
	Created time.Time // zero if nobody says

	// Leaf is the id of the message where its program goes on. Empty means the last
	// one.
	Leaf string

	// Fork says what it began as a copy of. Nil means nothing.
	Fork *Fork

	// Parents are the parents of messages that became known only after them, by the
	// ids of the messages; "" makes a root. They take the place of [Message.Parent].
	Parents map[string]string

	// Anonymous reports that its messages have no ids and no times: each has an id that is
	// made of what it says and what comes before it, which another conversation may have
	// too.
	Anonymous bool

	// Side says that it is no conversation of the user's, but one that an assistant
	// had with another.
	Side bool

	// Session is the transcript, where that is a session file.
	Session *session.Session

	// Records are what its transcript says before its messages, each record of it as
	// it stands there, byte for byte. They are of the format that it was read in.
	Records []json.RawMessage
}

// A Fork is a place in another conversation of the same program.
type Fork struct {
	ID string // of the conversation, as its program calls it
	// Records is how many records of that conversation come before: the messages that
	// are made of those are not in this transcript, and are its beginning. 0 means that
	// this transcript has them all, [AllRecords] that it goes on after the other's end.
	Records int
}

// AllRecords is more records than there are.
const AllRecords = math.MaxInt

// A Kind is what a message is beyond who says it.
type Kind string

// The kinds of messages.
const (
	Said       Kind = ""           // somebody said it, or a tool did
	Compaction Kind = "compaction" // a summary that stands for what came before it, which is kept
	Summary    Kind = "summary"    // a summary of another branch
)

// A Message is one message of a transcript.
type Message struct {
	content.Message

	ID     string    // unique in its conversation
	Parent string    // the message before it, "" for a root; it may name one that is not there
	Time   time.Time // zero if the transcript does not say
	Kind   Kind
	Model  string // that said it, "" if nobody says
	CopyOf string // the message of another conversation that it is a copy of, under the id that it has there; "" for none

	// Joined is the id of the message that it follows as long as Parent names no message
	// of the conversation; "" if file order leaves that open. Parent keeps what the
	// program wrote.
	Joined string
	// Guessed reports that the transcript does not say what it follows: Parent is the
	// message before it there. Another form of the transcript may say it.
	Guessed bool
	// Open reports that the transcript ends in the message before its end mark: a later
	// transcript may have more of it, under this id or another.
	Open bool

	// Raw is the message as it is to stand in a session file, where its transcript is
	// one: nothing else of it counts there.
	Raw json.RawMessage

	// Format is the name of the format that Records are of, "" if there are none.
	Format string
	// Records are what the transcript has of it, each record as it stands there, byte
	// for byte: those that say it, and those beside it that say nothing of their own to
	// a reader. All records of a conversation are its own, those of its first message,
	// those of the second, and so on.
	Records []json.RawMessage
}

// IsToolAnswer reports whether m is what tools said, and nothing else.
func (m *Message) IsToolAnswer() bool {
	for i := range m.Parts {
		if m.Parts[i].Type != content.TypeToolResult {
			return false
		}
	}
	return len(m.Parts) > 0
}

// has reports whether m has a part of a type.
func (m *Message) HasPart(kind string) bool {
	return slices.ContainsFunc(m.Parts, func(p content.Part) bool { return p.Type == kind })
}

// results returns the ids of the calls that m holds results of.
func (m *Message) ResultIDs() (ids []string) {
	for i := range m.Parts {
		if p := &m.Parts[i]; p.Type == content.TypeToolResult {
			ids = append(ids, p.Call().ID)
		}
	}
	return ids
}

// prompts reports whether m is what the user said, beside any results of tools.
func (m *Message) IsPrompt() bool {
	if m.Role != "user" || m.Own.Role != "" || m.Kind == Compaction {
		return false
	}
	return len(m.Parts) == 0 || slices.ContainsFunc(m.Parts, func(p content.Part) bool { return p.Type != content.TypeToolResult })
}

// texts returns all that a message says as text.
func (m *Message) Text() string {
	var list []string
	for i := range m.Parts {
		if p := &m.Parts[i]; p.Type == content.TypeText && p.Text != "" {
			list = append(list, p.Text)
		}
	}
	return strings.Join(list, "\n")
}

// A Problem is something in a transcript that could not be read. The rest was.
type Problem struct {
	Line   int    // from 1, 0 if it is no line
	Offset int64  // in bytes from the start
	What   string // for a person
	Note   bool   // everything was read; this is only worth knowing
}

// A Sink takes what is read of a file. Its errors stop the reading, and are returned
// by it.
type Sink interface {
	// Message takes the next message of the conversation that is being read. The reader
	// does not change it any more.
	Message(m *Message) error
	// End takes what there is to say of the conversation, and ends it.
	End(c *Conversation) error
	// Problem is told of what could not be read.
	Problem(p Problem)
}

// A Transcript is a conversation to be written.
type Transcript struct {
	Conversation
	Format   string     // that Records of the conversation are of, "" for none
	Messages []*Message // parents before their children; the last one is the leaf where that can be

	// Sources is what the session says of where it was imported from, nil for nothing.
	Sources json.RawMessage

	// Logged is what a session file says of calls to tools and of requests to models
	// beside its messages, each record alone. Only session files have it.
	Logged session.Records
}

// Options are the choices for writing.
type Options struct {
	ID     string    // what the conversation will be called by its program
	Now    time.Time // when that is
	Random io.Reader // where other ids come from
}

// dir returns the folder for a program that wants one: what the conversation is about, or
// the root.
func (t *Transcript) WorkDir() string { return cmp.Or(t.Dir, "/") }

// A Loss is something of a conversation that a format has no place for.
type Loss struct {
	What  string `json:"what"`  // for a person, in the plural: signatures of thinking
	Count int    `json:"count"` // how often
}
