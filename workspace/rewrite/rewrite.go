// Package rewrite has the arguments and results of the methods of package workspace that make
// new messages of old ones: pick, edit, prune-context and replay. The old ones stay as they are.
package rewrite

import (
	"github.com/bough-dev/bough/agent/turn"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace/agents"
)

// A Copy is a message that was copied.
type Copy struct {
	Message session.ID  `json:"message_id"` // of the copy, null in a dry run
	From    turn.Origin `json:"from"`
	Role    string      `json:"role"`
	Text    string      `json:"text"` // its first words

	// Call is the tool call because of which the message was taken along. It is null if the
	// message was chosen.
	Call session.ID `json:"call"`
	// Unpaired reports that the message has a tool call without a result, or a result without
	// its call, as the original has.
	Unpaired bool `json:"unpaired,omitempty"`
}

// PickOptions are the choices for copying messages to another place.
type PickOptions struct {
	// Refs are the messages, in the order in which they are copied: REFs, or ranges A..B, the
	// messages of the path to B that are not on the path to A. If A is empty, the range is the
	// whole path to B; if B is empty, B is the head.
	Refs []string
	// Onto is the REF of the message below which they are copied. Empty means the head.
	Onto string
	// Turn copies the whole turn of each message of Refs that is not a range: from the message of
	// the user to the last one before the next message of the user.
	Turn     bool
	KeepHead bool // the head does not move
	DryRun   bool // nothing is written
}

// A Pick is the result of copying messages to another place.
type Pick struct {
	Session  string     `json:"session_id"` // the file with the copies, or which would get them
	Parent   session.ID `json:"parent_id"`  // the message that the first one follows, null if it is a root
	Messages []Copy     `json:"messages"`   // in order
	// ForkedFrom is the checkpoint that was branched first, because its messages never change.
	// It is null otherwise.
	ForkedFrom session.ID `json:"forked_from"`
	DryRun     bool       `json:"dry_run,omitempty"`

	// Mixed reports that the copies begin a branch inside a session in Penguin's dialect.
	// Penguin shows all its messages as one path.
	Mixed bool `json:"mixed,omitempty"`
}

// EditOptions are the choices for editing a message of the user.
type EditOptions struct {
	Text     string // the new text
	KeepHead bool   // the head does not move
	// Answer lets an agent answer the new message. If nil, the message is not answered.
	Answer *AnswerOptions
}

// AnswerOptions are the choices for the answer of an agent.
type AnswerOptions struct {
	Agent string // who answers; "" for the owner of the conversation, else the agent named replay
	// Turn are the choices for the turn. A model is needed if the agent has none.
	Turn agents.TurnOptions
}

// An Edited is the result of editing a message of the user.
type Edited struct {
	Session    string      `json:"session_id"` // the file with the new message
	Message    session.ID  `json:"message_id"` // the new message, null if the text is the same
	Parent     session.ID  `json:"parent_id"`  // of both messages, null if they are roots
	From       turn.Origin `json:"from"`
	ForkedFrom session.ID  `json:"forked_from"` // as of a [Pick]
	Unchanged  bool        `json:"unchanged"`   // the text is the same, so nothing was written
	Answer     *Answer     `json:"answer"`      // null if no agent was asked

	Mixed bool `json:"mixed,omitempty"` // as of a [Pick]
}

// An Answer is what an agent replied to a message.
type Answer struct {
	Agent   string     `json:"agent"`
	Message session.ID `json:"message_id"`
	Text    string     `json:"text"`
}

// PruneContextOptions are the choices for omitting messages from a path. Exactly one of Drop
// and Squash is set.
type PruneContextOptions struct {
	// Drop lists the messages to omit: messages of the path, or ranges as in [PickOptions]; a range
	// without B ends at the end of the path.
	Drop []string
	// Squash is a range of messages in whose place a summary is put.
	Squash string
	// Summary is the text of that.
	Summary string
	// Summarize returns the summary of a conversation. It is called without any lock if Summary
	// is empty, unless it is a dry run.
	Summarize func(prompt string) (summary string, err error)
	Model     string // the model that Summarize asks, to be recorded
	Name      string // the title, "" for one made from that of the conversation
	KeepHead  bool
	DryRun    bool
	Count     func(raw []byte) int // returns the number of tokens of a message; nil counts none
}

// A Pruned is the result of omitting messages from a path.
type Pruned struct {
	Session session.ID `json:"session_id"` // the branch, null in a dry run
	Title   string     `json:"title"`
	// Last is the last message of the shorter path, null if it is new in a dry run.
	Last     session.ID `json:"message_id"`
	Shared   int        `json:"shared"`   // messages before the first that is omitted, which the branch has as they are
	Messages []Copy     `json:"messages"` // the copies of those after it
	Dropped  []Copy     `json:"dropped"`  // the messages that are omitted; the Message of each is null
	Summary  *Summary   `json:"summary"`  // null without a squash
	Tokens   Tokens     `json:"tokens"`   // estimates, of the messages
	DryRun   bool       `json:"dry_run,omitempty"`
}

// A Summary stands for messages that were omitted.
type Summary struct {
	Message session.ID `json:"message_id"` // null in a dry run
	Text    string     `json:"text"`       // "" in a dry run without a given summary
	Model   string     `json:"model_id"`   // "" if the text was given
	Prompt  string     `json:"prompt,omitempty"`
}

// Tokens are the tokens of a path before and after.
type Tokens struct {
	Before int `json:"before"`
	After  int `json:"after"`
	Saved  int `json:"saved"`
}
