// Package events defines the events of a workspace.
package events

import (
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/bough-dev/bough/agent/turn"
	"github.com/bough-dev/bough/internal/rawjson"
	"github.com/bough-dev/bough/session"
)

// A Type is the kind of an event.
type Type string

// The types of events.
const (
	SessionCreated    Type = "session_created"    // a root, a continuation, or a file of another program
	SessionChanged    Type = "session_changed"    // other than by a new message; also packed or unpacked
	SessionRenamed    Type = "session_renamed"    // it has another title
	SessionRemoved    Type = "session_removed"    // moved to the trash, or deleted by another program
	CheckpointCreated Type = "checkpoint_created" // also an automatic one
	BranchCreated     Type = "branch_created"     // a session, or, with a message, an in-place branch that begins with it
	MessageAdded      Type = "message_added"
	MessageReplaced   Type = "message_replaced" // the message that completed an imported open message
	HeadMoved         Type = "head_moved"
	NodeBookmarked    Type = "node_bookmarked"  // created or moved
	BookmarkRemoved   Type = "bookmark_removed" // the message is unchanged

	// Events of agents.
	QueueChanged    Type = "queue_changed"      // the new state of a message in the queue
	ToolStarted     Type = "tool_started"       // the message that will be the tool's result
	ChatStart       Type = turn.ChatStart       // the user's message that is to be answered
	ChatContent     Type = turn.ChatContent     // a chunk of a reply in progress; only in this process, without a number
	ChatComplete    Type = turn.ChatComplete    // the last message of a turn that ended
	SteerDelivered  Type = turn.SteerDelivered  // the message that was delivered
	TurnInterrupted Type = turn.TurnInterrupted // the steer that interrupted, null if the user aborted
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

// An Event is a change in a workspace. The events of one operation share its
// number.
type Event struct {
	Seq      Seq               `json:"seq"`
	Time     time.Time         `json:"time"`
	Type     Type              `json:"type"`
	Session  session.ID        `json:"session_id"`
	Message  session.ID        `json:"message_id"`
	Parent   session.ID        `json:"parent_id"`               // if it was added or begins a branch
	Role     string            `json:"role,omitempty"`          // if it was added
	Kind     turn.Kind         `json:"kind,omitempty"`          // if it was added
	Mode     turn.DeliveryMode `json:"delivery_mode,omitempty"` // if it was added or is queued
	State    QueueState        `json:"state,omitempty"`         // if it is or was queued
	Tool     string            `json:"tool,omitempty"`          // the tool that was started
	Call     string            `json:"call_id,omitempty"`       // its call
	Label    string            `json:"label,omitempty"`         // of the bookmark
	Replaces session.ID        `json:"replaces,omitempty"`      // the message that this one replaced
	Agent    string            `json:"agent,omitempty"`         // the acting agent, or the owner of the head; null for the workspace's head
	Text     string            `json:"text,omitempty"`          // the chunk of text
	Offset   int               `json:"offset,omitempty"`        // how many characters of the reply are before the chunk
	Ended    turn.Ending       `json:"ended,omitempty"`         // how a turn ended
	Error    string            `json:"error,omitempty"`         // the failure of a turn
	Verb     string            `json:"verb"`                    // of the operation
	External bool              `json:"external"`                // changed by another program
	// Behind is how many further events were waiting when this one was returned. If
	// it keeps growing, the reader is too slow.
	Behind int `json:"behind"`

	// Log identifies the log that has the operation, and Last marks the last event of the
	// operation; see [Position]. An event without a number has neither.
	Log  string `json:"-"`
	Last bool   `json:"-"`
}

// Position returns the position after the operation of e. It is complete only after the
// last event of the operation.
func (e Event) Position() Position { return Position{e.Log, e.Seq} }

// A Piece is an event without a number, to be delivered after the operation After.
type Piece struct {
	Event
	After Seq
}

// A Position is a place in the log of a workspace: after the operation Seq, or before the
// first one if Seq is 0. Log identifies the log (docs/format.md 18.17).
type Position struct {
	Log string
	Seq Seq
}

// ErrPosition is the error for a position from which events cannot be continued: it is of
// another log, or the log no longer has all operations after it.
var ErrPosition = errors.New("the log of operations does not have all operations after this position")

// String returns p as LOG-SEQ.
func (p Position) String() string { return p.Log + "-" + strconv.FormatInt(int64(p.Seq), 10) }

// ParsePosition parses the result of [Position.String].
func ParsePosition(s string) (p Position, ok bool) {
	log, seq, _ := strings.Cut(s, "-")
	n, err := strconv.ParseInt(seq, 10, 64)
	return Position{log, Seq(n)}, err == nil && log != "" && n >= 0
}

// A QueueState is the state of a message that is or was queued for an agent.
type QueueState string

// The states of a queued message.
const (
	QueueWaiting   QueueState = QueueState(turn.Waiting) // until it can be delivered
	QueueHeld      QueueState = QueueState(turn.Held)    // until the user resumes the queue
	QueueDelivered QueueState = "delivered"              // the same operation added it to the conversation
	QueueDropped   QueueState = "dropped"                // removed by the user
)

// MarshalJSON implements [json.Marshaler].
func (e Event) MarshalJSON() ([]byte, error) { return rawjson.Answer(e), nil }
