// Package agents has the arguments and results of the methods for agents of
// package workspace: stored agents, their trees and heads, prompts, turns and
// queues. Package agent has the state machine of a turn.
package agents

import (
	"context"
	"encoding/json"
	"time"

	"github.com/bough-dev/bough/agent"
	"github.com/bough-dev/bough/agent/model"
	"github.com/bough-dev/bough/agent/turn"
	"github.com/bough-dev/bough/checkpoint"
	"github.com/bough-dev/bough/internal/rawjson"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace/bookmark"
	"github.com/bough-dev/bough/workspace/events"
)

// An Agent is a stored agent. Its JSON has all members of its file, including
// unknown ones.
type Agent struct {
	*agent.Agent
	File []byte // content of the file
}

// MarshalJSON implements [json.Marshaler].
func (a Agent) MarshalJSON() ([]byte, error) { return rawjson.Strict(a.File), nil }

// JSON returns the content of the file on one line.
func (a Agent) JSON() []byte { return rawjson.Dense(a.File) }

// A List lists agents.
type List struct {
	Agents []Agent `json:"agents"` // by name
}

// Options are the choices for a new agent.
type Options struct {
	Model  string // "" for none
	System string // the system prompt, "" for none

	Policy       turn.SteerPolicy // when a steer is delivered while tools run, "" for [turn.AfterCall]
	NoCheckpoint bool             // no automatic checkpoint is made before a turn
	Memory       string           // absolute path of the agent's memory file, "" for none; see [TaskPoint]
}

// A Head is the head of an agent: the message to which the next one is added.
type Head struct {
	Tree string     `json:"tree_id"`
	Node session.ID `json:"node_id"` // null in an empty tree
}

// A Position is the head of an agent after it moved.
type Position struct {
	Head Head `json:"head"`
	checkpoint.Adjustment
}

// A NewTree is a tree that was added to an agent; the agent's head is in it.
type NewTree struct {
	Tree string     `json:"tree_id"`
	Node session.ID `json:"node_id"` // null in an empty tree
	Head Head       `json:"head"`
	checkpoint.Adjustment

	Bytes int64 `json:"-"` // size of its file
}

// DeleteTreeOptions are the choices for deleting a tree of an agent.
type DeleteTreeOptions struct {
	// Force deletes a tree although snapshots were copied from it. The snapshots do
	// not need it.
	Force bool
}

// A Change sets properties of an agent. A nil field changes nothing.
type Change struct {
	Model        *string           // "" for none
	System       *string           // "" for none
	Policy       *turn.SteerPolicy // "" for [turn.AfterCall]
	NoCheckpoint *bool             // see [Options]
	Memory       *string           // "" for none
}

// TreesOptions are the choices for listing the trees of an agent.
type TreesOptions struct {
	All bool // include archived trees
}

// Trees are the trees of an agent.
type Trees struct {
	Trees []Tree `json:"trees"` // oldest first

	Omitted int `json:"left_out"` // how many archived trees were omitted
}

// A Tree is a tree of an agent.
type Tree struct {
	ID           string     `json:"id"`    // id of the first file of the line
	Name         session.ID `json:"name"`  // null if it has no name
	Title        string     `json:"title"` // the conversation's title, else the user's first words, "" if it has neither
	CreatedAt    time.Time  `json:"created_at"`
	Root         session.ID `json:"root_node"` // the first message, null in an empty tree
	LeafCount    int        `json:"leaf_count"`
	MessageCount int        `json:"message_count"` // messages on all branches, each counted once
	Current      bool       `json:"current"`       // the head is in it
	Archived     bool       `json:"archived"`      // hidden from lists

	Node session.ID `json:"node_id"` // the current or last position of the head
	Err  error      `json:"-"`       // why the counts are unknown, nil if they are known
}

// A Snapshot is the state of an agent, for tests and other programs.
type Snapshot struct {
	Agent         string              `json:"agent_id"`
	Session       string              `json:"session_id"`       // the tree of the head
	ActiveBranch  session.ID          `json:"active_branch_id"` // the branch of the head: the first message after the fork, or the root
	Head          session.ID          `json:"head_node_id"`     // null in an empty tree
	Bookmarks     []bookmark.Bookmark `json:"bookmarks"`        // in its trees
	FollowUpQueue []turn.Entry        `json:"follow_up_queue"`
	SteerQueue    []turn.Entry        `json:"steer_queue"`
	Turn          turn.Turn           `json:"turn"`
	Decisions     []Decision          `json:"decisions"` // results of explorations that were adopted, by time
}

// A Prompt is a message of the user to an idle agent.
type Prompt struct {
	Text string
	// Fresh begins a new tree with the prompt.
	Fresh bool
	// From adds the prompt below a copy of the whole path to a message, in a new
	// tree. The message is named as for Agent.Rewind of package workspace;
	// SESSION@MESSAGE may be any message, also another agent's. From is ignored if
	// Fresh is set.
	From string
	// Beside adds the prompt beside a message of a tree of the agent, TREE/NODE, as another reply to
	// the same message. Beside is ignored if Fresh or From is set.
	Beside string
	// Tree is the name of the new tree. It may be empty.
	Tree string
	// Content is the stored content of the message, with Text as its text. If nil, it is Text.
	Content json.RawMessage
	// Replayed is the message that this one repeats, nil for none.
	Replayed *turn.Replayed
	// Edited is the message that this one is a changed copy of, nil for none.
	Edited *turn.Origin
	checkpoint.CutOptions
}

// TurnOptions are the choices for running turns of an agent.
type TurnOptions struct {
	// Models opens the model with an id, such as an agent's model_id.
	Models func(ctx context.Context, id string) (model.Model, error)
	// Model is the id of the model to use. Empty means the agent's.
	Model string
	// System is the system prompt. If nil, it is the agent's.
	System *string
	// Fallback is the id of the model that continues a turn if Model fails. Empty
	// means none.
	Fallback string

	// Tools opens the tools that the model can call. If nil, there are none.
	Tools func(ctx context.Context) (model.Tools, error)
	// Confirm asks the user whether to run a tool call that may change something. It
	// must return when ctx ends. If nil, such calls do not run.
	Confirm func(ctx context.Context, c model.Call) bool
	// Allow reports whether calls of a tool that may change something run without
	// asking the user. If nil, none do.
	Allow func(t model.Tool) bool
	// MaxRequests limits the requests to the model between two messages of the user.
	// Zero means 50.
	MaxRequests int
	// MaxCalls limits the tool calls in one reply of the model; more fail the turn.
	// Zero means 128.
	MaxCalls int
	// Policy is when a steer is delivered. Empty means the agent's policy.
	Policy turn.SteerPolicy
	// NoCheckpoint disables the automatic checkpoint before a turn. No checkpoint is
	// made either if the agent's file disables it, or if no tool of the turn can
	// change anything.
	NoCheckpoint bool
	// Files is a folder of which states are taken: before each message of the user that
	// begins a turn, and at the end of the turn. The messages name them. A turn waits at most
	// two seconds for a state. Empty means none.
	Files string

	// OnEvent is called with the events of the turn, in order and from one
	// goroutine, as Workspace.Events returns them. The Session of a text event is
	// the tree; the Session of an added message is its file. If nil, it is not
	// called.
	OnEvent func(events.Event)
}

// A ChatResult is the reply to a prompt and its place.
type ChatResult struct {
	Tree  string     `json:"tree_id"`
	Node  session.ID `json:"node_id"` // the message with the reply
	Reply string     `json:"reply"`
	Head  Head       `json:"head"`

	Held int `json:"held"` // how many queued messages wait for Agent.ResumeQueue
}

// A Decision is an adopted result of an exploration in an agent's conversation.
type Decision struct {
	Exploration string   `json:"exploration_id"`
	Question    string   `json:"question"`
	Strategies  []string `json:"strategies"` // those that were tried
	Node        string   `json:"node_id"`    // the message to which the head was moved
}

// A Queue is the user's messages that were not delivered to an agent yet.
type Queue struct {
	Queue []turn.Entry `json:"queue"` // in order of arrival
}

// A Message is a message of the user to an agent that may be running a turn.
type Message struct {
	Mode turn.DeliveryMode // [turn.Steer] or [turn.FollowUp]
	Text string
	Cut  bool // a steer interrupts the reply in progress instead of waiting for its end
}

// A RunningAgent is an agent that is running a turn.
type RunningAgent struct {
	Name    string     `json:"name"`
	State   turn.State `json:"state"`
	Session string     `json:"session_id"` // the tree of its head
	Message session.ID `json:"message_id"`
}

// MarshalJSON implements [json.Marshaler].
func (s Snapshot) MarshalJSON() ([]byte, error) { return rawjson.Answer(s), nil }

// MarshalJSON implements [json.Marshaler].
func (t Tree) MarshalJSON() ([]byte, error) { return rawjson.Answer(t), nil }
