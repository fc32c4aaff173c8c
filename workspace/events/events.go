// Package events has the events of a workspace. One operation may produce several
// events.
package events

import (
	"strconv"
	"time"

	"github.com/bough-dev/bough/agent/turn"
	"github.com/bough-dev/bough/internal/rawjson"
	"github.com/bough-dev/bough/session"
)

// A Type is the kind of an event.
type Type string

// The types of events.
const (
	SessionCreated    Type = "session_created"    // a root, a continuation, or a file that another program made
	SessionChanged    Type = "session_changed"    // other than by a new message
	SessionRenamed    Type = "session_renamed"    // it has another title
	SessionRemoved    Type = "session_removed"    // it is gone, or in the trash
	CheckpointCreated Type = "checkpoint_created" // also an automatic one
	BranchCreated     Type = "branch_created"     // a session, or, with a message, an in-place branch that begins with it
	MessageAdded      Type = "message_added"
	MessageReplaced   Type = "message_replaced" // an open imported message is complete; the message that replaced it
	HeadMoved         Type = "head_moved"
	NodeBookmarked    Type = "node_bookmarked"  // also where a bookmark was moved to
	BookmarkRemoved   Type = "bookmark_removed" // its message is as it was

	// Events of agents.
	QueueChanged    Type = "queue_changed"      // the new state of a message in the queue
	ToolStarted     Type = "tool_started"       // a tool runs: the message that will be its result
	ChatStart       Type = turn.ChatStart       // a message of its user is going to be answered
	ChatContent     Type = turn.ChatContent     // a chunk of a reply in progress; only in this process, without a number
	ChatComplete    Type = turn.ChatComplete    // the turn is over: the last message
	SteerDelivered  Type = turn.SteerDelivered  // the message that was
	TurnInterrupted Type = turn.TurnInterrupted // the steer for which, none if the user aborted
)

// A Seq is the number of an operation. Zero means none and is null in JSON.
type Seq int64

// MarshalJSON implements [json.Marshaler].
func (s Seq) MarshalJSON() ([]byte, error) {
	if s == 0 {
		return []byte("null"), nil
	}
	return strconv.AppendInt(nil, int64(s), 10), nil
}

// An Event is something that happened in a workspace. One operation may be several
// events, which have its number.
type Event struct {
	Seq      Seq               `json:"seq"`
	Time     time.Time         `json:"time"`
	Type     Type              `json:"type"`
	Session  session.ID        `json:"session_id"`
	Message  session.ID        `json:"message_id"`
	Parent   session.ID        `json:"parent_id"`               // of a message that was added, or begins a branch
	Role     string            `json:"role,omitempty"`          // of a message that was added
	Kind     turn.Kind         `json:"kind,omitempty"`          // of a message that was added
	Mode     turn.DeliveryMode `json:"delivery_mode,omitempty"` // of a message that was added, or is queued
	State    QueueState        `json:"state,omitempty"`         // of a message that is queued, or was
	Tool     string            `json:"tool,omitempty"`          // that was started
	Call     string            `json:"call_id,omitempty"`       // of the tool
	Label    string            `json:"label,omitempty"`         // of a bookmark
	Replaces session.ID        `json:"replaces,omitempty"`      // the message that was in this one's place
	Agent    string            `json:"agent,omitempty"`         // the acting agent, or the owner of the head, none for the workspace's head
	Text     string            `json:"text,omitempty"`          // the chunk of text
	Ended    turn.Ending       `json:"ended,omitempty"`         // why a turn is over
	Error    string            `json:"error,omitempty"`         // why it failed
	Verb     string            `json:"verb"`                    // of the operation
	External bool              `json:"external"`                // another program did it
	// Behind is how many events were waiting behind this one when it was handed
	// out: ever more of them mean that the reader is too slow.
	Behind int `json:"behind"`
}

// A QueueState is the state of a message that is or was queued for an agent.
type QueueState string

// The states of a queued message.
const (
	QueueWaiting   QueueState = QueueState(turn.Waiting) // for its time
	QueueHeld      QueueState = QueueState(turn.Held)    // until the user resumes the queue
	QueueDelivered QueueState = "delivered"              // the same change wrote it as a message of the conversation
	QueueDropped   QueueState = "dropped"                // taken out by the user
)

// MarshalJSON implements [json.Marshaler].
func (e Event) MarshalJSON() ([]byte, error) { return rawjson.Answer(e), nil }
