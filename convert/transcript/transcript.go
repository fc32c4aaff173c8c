// Package transcript defines what readers and writers of all formats exchange:
// a reader passes each [Message] and [Conversation] to a [Sink], and a writer
// takes a [Transcript] and reports each [Loss].
//
// # Messages
//
// A [Message] is a prompt, an answer, the results of tools, or a summary of
// earlier messages. Everything else in a transcript (titles, snapshots of
// files, settings, counts of tokens, notices) is not a message; it is kept with
// a message as a record.
//
// The tree of messages is the one that the user made. If a program stores a
// tree, its links are followed. If its log is linear and marks where it went
// back, the messages that it discarded are a side branch. Parallel tool calls,
// and an answer that was stored in pieces, form one path, whatever links the
// program wrote. A message whose parent is missing is an orphan and keeps the
// id of that parent. A compaction keeps the messages before it, and the summary
// follows them.
//
// # Records
//
// A message has the records of the transcript that it was read from, byte for
// byte, and other records that belong to it: [Message.Records]. All records of
// a transcript are kept in order. A conversation that is written in its own
// format has the same records, except for ids and links that must differ.
// Messages of other formats are converted, and what the format cannot represent
// is a [Loss].
package transcript

import (
	"cmp"
	"encoding/json"
	"io"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/bough-dev/bough/convert/content"
	"github.com/bough-dev/bough/session"
)

// A Conversation has what a transcript states about a conversation besides its messages.
// A field is zero if the transcript does not state it.
type Conversation struct {
	ID      string // its id in its program
	Title   string
	Dir     string // working folder
	Version string // version of the program that wrote it
	Model   string // name of the model in its program
	Branch  string // the git branch of Dir when the conversation began
	Created time.Time

	// Leaf is the id of the message where its program continues. If empty, it is the last
	// message.
	Leaf string

	// Fork is the place that the conversation was copied from. If nil, it is not a copy.
	Fork *Fork

	// Parents maps ids of messages to parents that became known only after the message
	// was read; "" makes a root. They override [Message.Parent].
	Parents map[string]string

	// Anonymous reports whether the messages have no ids and no times. Their ids are
	// computed from their content and the messages before them, so another conversation
	// may have the same ids.
	Anonymous bool

	// Side reports whether an assistant, not the user, had the conversation with another
	// assistant.
	Side bool
	// BegunBy is the id of the conversation whose assistant began this one, "" if unknown.
	// The assistant may itself be another one that the same conversation began.
	BegunBy string
	// Inline reports whether the transcript of BegunBy has the conversation. Earlier versions of
	// bough read it as a part of that.
	Inline bool
	// Began maps the ids of conversations that the assistant of this one began to the ids
	// of the calls that did.
	Began map[string]string

	// Session is the transcript if that is a session file, else nil.
	Session *session.Session

	// Records are the records before the first message, byte for byte, in the format that
	// the conversation was read in.
	Records []json.RawMessage
}

// A Fork is a place in another conversation of the same program.
type Fork struct {
	ID string // of the conversation, as its program identifies it
	// Records is the number of records of that conversation that precede this
	// transcript. The messages in them begin this conversation, and are not in this
	// transcript. Zero means that this transcript is complete; [AllRecords] means
	// that it continues at the end of the other one.
	Records int
}

// AllRecords is larger than any number of records.
const AllRecords = math.MaxInt

// A Kind distinguishes summaries from other messages.
type Kind string

// The kinds of messages.
const (
	Said       Kind = ""           // a message of the user, the model or a tool
	Compaction Kind = "compaction" // a summary of the messages before it, which are kept
	Summary    Kind = "summary"    // a summary of another branch
)

// A Message is one message of a transcript.
type Message struct {
	content.Message

	ID     string    // unique in its conversation
	Parent string    // the id of the message before it, "" for a root; an orphan names a missing one
	Time   time.Time // zero if the transcript has none
	Kind   Kind
	Model  string // the model that answered, "" if unknown
	CopyOf string // the id of the original in another conversation, "" if it is not a copy

	// Joined is the id of the message to follow if Parent names a missing message;
	// "" if the order in the file does not determine it. Parent keeps what the
	// program wrote.
	Joined string
	// Guessed reports that Parent is only the message before it in the file, because
	// the transcript does not state parents. Another form of the transcript may.
	Guessed bool
	// Open reports that the transcript ends before the end mark of the message: a
	// later transcript may have more of it, with the same id or another.
	Open bool

	// Raw is the message in the form of a session file, nil if the transcript is not
	// a session file. If set, it alone is used when the message is written to a
	// session file.
	Raw json.RawMessage

	// Format is the name of the format of Records, "" if there are none.
	Format string
	// Records are the records of the transcript that the message was read from, and
	// others that belong to it, byte for byte. The records of a transcript, in
	// order, are those of the conversation, of its first message, of the second, and
	// so on.
	Records []json.RawMessage
}

// IsToolAnswer reports whether m has parts and all are results of tools.
func (m *Message) IsToolAnswer() bool {
	for i := range m.Parts {
		if m.Parts[i].Type != content.TypeToolResult {
			return false
		}
	}
	return len(m.Parts) > 0
}

// HasPart reports whether m has a part of a type.
func (m *Message) HasPart(kind string) bool {
	return slices.ContainsFunc(m.Parts, func(p content.Part) bool { return p.Type == kind })
}

// ResultIDs returns the ids of the calls whose results are in m.
func (m *Message) ResultIDs() (ids []string) {
	for i := range m.Parts {
		if p := &m.Parts[i]; p.Type == content.TypeToolResult {
			ids = append(ids, p.Call().ID)
		}
	}
	return ids
}

// IsPrompt reports whether m has anything of the user, besides results of tools.
func (m *Message) IsPrompt() bool {
	if m.Role != "user" || m.Own.Role != "" || m.Kind == Compaction {
		return false
	}
	return len(m.Parts) == 0 || slices.ContainsFunc(m.Parts, func(p content.Part) bool { return p.Type != content.TypeToolResult })
}

// Text returns the text parts of m, joined by line breaks.
func (m *Message) Text() string {
	var list []string
	for i := range m.Parts {
		if p := &m.Parts[i]; p.Type == content.TypeText && p.Text != "" {
			list = append(list, p.Text)
		}
	}
	return strings.Join(list, "\n")
}

// A Problem is a part of a transcript that could not be read. All else was read.
type Problem struct {
	Line   int    // from 1, 0 if the format has no lines
	Offset int64  // in bytes from the start
	What   string // a description for the user
	Note   bool   // harmless, nothing is missing
}

// A Sink receives the conversations of a reader. If a method returns an error, reading
// stops and returns that error.
type Sink interface {
	// Message receives the next message of the current conversation. The reader does not
	// modify it afterwards.
	Message(m *Message) error
	// End receives the properties of the current conversation, and ends it.
	End(c *Conversation) error
	// Problem receives a part that could not be read.
	Problem(p Problem)
}

// A Transcript is a conversation with its messages, to be written.
type Transcript struct {
	Conversation
	Format   string     // the name of the format of the conversation's Records, "" if there are none
	Messages []*Message // parents before their children; the leaf last, if it has no children

	// Sources is the member of the session's metadata with the transcripts it was
	// imported from, nil for none.
	Sources json.RawMessage

	// Logged are the tool calls and the requests to models that a session file logs
	// besides its messages. Only session files have them.
	Logged session.Records
}

// WorkDir returns the folder of the conversation, or "/" if it has none.
func (t *Transcript) WorkDir() string { return cmp.Or(t.Dir, "/") }

// Options are the choices for writing.
type Options struct {
	ID     string    // of the written conversation
	Now    time.Time // the time of writing
	Random io.Reader // the source of other ids
}

// A Loss counts something of a conversation that a format cannot represent.
type Loss struct {
	What  string `json:"what"`  // a description in the plural, such as: signatures of thinking
	Count int    `json:"count"` // how often it occurred
}
