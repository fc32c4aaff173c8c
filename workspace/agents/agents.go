// Package agents has the arguments and results of the methods for agents: stored agents,
// their trees and heads, prompts, turns and queues. Package agent has the state machine
// below them.
package agents

import (
	"context"
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

// An Agent is a stored agent. Its JSON has all members of the file, unknown ones
// included.
type Agent struct {
	*agent.Agent
	File []byte // the file
}

// MarshalJSON implements [json.Marshaler].
func (a Agent) MarshalJSON() ([]byte, error) { return rawjson.Strict(a.File), nil }

// JSON returns the members of the file on one line.
func (a Agent) JSON() []byte { return rawjson.Dense(a.File) }

// List are agents.
type List struct {
	Agents []Agent `json:"agents"` // by name
}

// Options are the choices for a new agent.
type Options struct {
	Model  string // "" for none yet
	System string // the system prompt, "" for none

	Policy       turn.SteerPolicy // when a steer is delivered while tools run, "" for [turn.AfterCall]
	NoCheckpoint bool             // no automatic checkpoint is made before a turn
}

// A Head is where the next message of an agent goes.
type Head struct {
	Tree string     `json:"tree_id"`
	Node session.ID `json:"node_id"` // none in an empty tree
}

// A Position is where the head of an agent is.
type Position struct {
	Head Head `json:"head"`
	checkpoint.Adjustment
}

// A NewTree is a tree that an agent was given, with its head in it.
type NewTree struct {
	Tree string     `json:"tree_id"`
	Node session.ID `json:"node_id"` // none in an empty tree
	Head Head       `json:"head"`
	checkpoint.Adjustment

	Bytes int64 `json:"-"` // the size of its file
}

// DeleteTreeOptions are the choices for deleting a tree of an agent.
type DeleteTreeOptions struct {
	// Force deletes a tree although snapshots were copied from it, which hold all
	// they need.
	Force bool
}

// A Change has the new values of an agent. A nil field changes nothing.
type Change struct {
	Model        *string           // "" for none
	System       *string           // "" for nothing
	Policy       *turn.SteerPolicy // "" for [turn.AfterCall]
	NoCheckpoint *bool             // see [AgentOptions]
}

// TreesOptions are the choices for listing the trees of an agent.
type TreesOptions struct {
	All bool // those too that are archived
}

// Trees are the trees of an agent.
type Trees struct {
	Trees []Tree `json:"trees"` // oldest first

	LeftOut int `json:"left_out"` // the number of archived trees that were omitted
}

// A Tree is one of an agent's trees.
type Tree struct {
	ID           string     `json:"id"`    // of the first file of the line
	Name         session.ID `json:"name"`  // none if it has none
	Title        string     `json:"title"` // of its conversation, or the first words of its user, "" if it has neither
	CreatedAt    time.Time  `json:"created_at"`
	Root         session.ID `json:"root_node"` // the first message, none in an empty tree
	LeafCount    int        `json:"leaf_count"`
	MessageCount int        `json:"message_count"` // on all branches, each once
	Current      bool       `json:"current"`       // the head is in it
	Archived     bool       `json:"archived"`      // its user does not need it now

	Node session.ID `json:"node_id"` // where the head is, or was when it was last in it
	Err  error      `json:"-"`       // why the counts are not known, nil if they are
}

// A Snapshot is the state of an agent, for tests and other programs.
type Snapshot struct {
	Agent         string              `json:"agent_id"`
	Session       string              `json:"session_id"`       // the tree that the head is in
	ActiveBranch  session.ID          `json:"active_branch_id"` // the branch that the head is on: the id of its first message after the fork, of the original one the root's
	Head          session.ID          `json:"head_node_id"`     // none in an empty tree
	Bookmarks     []bookmark.Bookmark `json:"bookmarks"`        // those in its trees
	FollowUpQueue []turn.Entry        `json:"follow_up_queue"`
	SteerQueue    []turn.Entry        `json:"steer_queue"`
	Turn          turn.Turn           `json:"turn"`
	Decisions     []Decision          `json:"decisions"` // the adopted results of its explorations, by time
}

// A Prompt is a message of the user to an idle agent.
type Prompt struct {
	Text string
	// Fresh has it begin a new tree.
	Fresh bool
	// From puts the prompt below a copy of the whole path to a message, in a new
	// tree. The message is found as in Workspace.RewindAgent; SESSION@MESSAGE may be
	// any message, also of another agent. From is ignored if Fresh is set.
	From string
	// Tree is the name of the new tree, if there is one. Empty means none.
	Tree string
	checkpoint.CutOptions
}

// TurnOptions say how the turns of an agent are carried out.
type TurnOptions struct {
	// Models opens the model that goes by an id, such as an agent's model_id.
	Models func(ctx context.Context, id string) (model.Model, error)
	// Model is the id of the model that answers. Empty means the agent's.
	Model string
	// Fallback is the id of a model that answers after a turn failed; the turn
	// continues with it. Empty means none.
	Fallback string

	// Tools opens the tools that the model may call. Nil means none.
	Tools func(ctx context.Context) (model.Tools, error)
	// Confirm asks the user whether to run a call of a tool that may change something.
	// It returns when ctx ends. If nil, no such call runs.
	Confirm func(ctx context.Context, c model.Call) bool
	// Allow reports whether a tool may change something without the user being asked.
	// Nil means that none may.
	Allow func(t model.Tool) bool
	// Asks limits the requests to the model between two messages of the user. Zero
	// means 50.
	Asks int
	// Calls limits the tool calls in one reply of the model; a reply with more fails
	// the turn. Zero means 128.
	Calls int
	// Policy says when a steer is delivered. Empty means as the agent's file says.
	Policy turn.SteerPolicy
	// NoCheckpoint disables the automatic checkpoint before a turn, regardless of
	// the agent's file. A turn whose tools may change nothing makes none either.
	NoCheckpoint bool

	// Tell is called with the events of the turn, in order, from one goroutine: the
	// events that Workspace.Events returns. The Session of a text event is the
	// tree; the Session of an added message is its file. If nil, it is not called.
	Tell func(events.Event)
}

// A Chatted is the reply to a prompt and its place.
type Chatted struct {
	Tree  string     `json:"tree_id"`
	Node  session.ID `json:"node_id"` // the message that is the answer
	Reply string     `json:"reply"`
	Head  Head       `json:"head"`

	Held int `json:"held"` // how many messages are queued that wait for [Agent.ResumeQueue]
}

// A Decision is an adopted result of an exploration in an agent's conversation.
type Decision struct {
	Exploration string   `json:"exploration_id"`
	Question    string   `json:"question"`
	Strategies  []string `json:"strategies"` // that were tried
	Node        string   `json:"node_id"`    // the message that the head was moved to
}

// A Queue is the messages of the user that an agent has not received yet.
type Queue struct {
	Queue []turn.Entry `json:"queue"` // in the order in which it came
}

// A Saying is a message of the user to an agent that may be in a turn.
type Saying struct {
	Mode turn.DeliveryMode // Steer or FollowUp
	Text string
	Cut  bool // a steer interrupts the reply in progress instead of waiting for its end
}

// An AtWork is an agent that is in a turn.
type AtWork struct {
	Name    string     `json:"name"`
	State   turn.State `json:"state"`
	Session string     `json:"session_id"` // the tree that its head is in
	Message session.ID `json:"message_id"`
}

// MarshalJSON implements [json.Marshaler].
func (s Snapshot) MarshalJSON() ([]byte, error) { return rawjson.Answer(s), nil }

// MarshalJSON implements [json.Marshaler].
func (t Tree) MarshalJSON() ([]byte, error) { return rawjson.Answer(t), nil }
