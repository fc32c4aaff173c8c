// Package agents is what the verbs of agents take and return: agents as they are stored,
// their trees and heads, prompts, turns and queues. Package agent has what these are made
// of.
package agents

import (
	"context"
	"time"

	"github.com/bough-dev/bough/agent"
	"github.com/bough-dev/bough/checkpoint"
	"github.com/bough-dev/bough/internal/rawjson"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace/bookmark"
	"github.com/bough-dev/bough/workspace/events"
)

// An Agent is an agent as its file has it. Its JSON is the members of the file, those
// too that nobody here knows.
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
	System string // what the model is told before anything else, "" for nothing

	Policy       agent.SteerPolicy // when a steer is delivered while tools run, "" for [agent.AfterCall]
	NoCheckpoint bool              // no automatic checkpoint is made before a turn
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

// A Change is what is to be said of an agent from now on. What is nil stays.
type Change struct {
	Model        *string            // "" for none
	System       *string            // "" for nothing
	Policy       *agent.SteerPolicy // "" for [agent.AfterCall]
	NoCheckpoint *bool              // see [AgentOptions]
}

// TreesOptions are the choices for listing the trees of an agent.
type TreesOptions struct {
	All bool // those too that are archived
}

// Trees are the trees of an agent.
type Trees struct {
	Trees []Tree `json:"trees"` // oldest first

	LeftOut int `json:"left_out"` // how many are left out because they are archived
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
	FollowUpQueue []agent.Entry       `json:"follow_up_queue"`
	SteerQueue    []agent.Entry       `json:"steer_queue"`
	Turn          agent.Turn          `json:"turn"`
	Decisions     []Decision          `json:"decisions"` // what it adopted of explorations, by the time of these
}

// A Prompt is what a user says to an agent that has nothing else to do.
type Prompt struct {
	Text string
	// Fresh has it begin a new tree.
	Fresh bool
	// From has it go below a copy of the whole path to a message, in a new tree. The
	// message is sought as Workspace.RewindAgent does; as SESSION@MESSAGE it may be
	// any, also one of another agent. With Fresh it means nothing.
	From string
	// Tree is the name of the new tree, if there is one. Empty means none.
	Tree string
	checkpoint.CutOptions
}

// TurnOptions say how the turns of an agent are carried out.
type TurnOptions struct {
	// Models opens the model that goes by an id, such as an agent's model_id.
	Models func(ctx context.Context, id string) (agent.Model, error)
	// Model is the id of the model that answers. Empty means the agent's.
	Model string
	// Fallback is the id of a model that is asked in its place when a turn failed,
	// below the message that was to be answered; the turn goes on with it. Empty means
	// none.
	Fallback string

	// Tools opens the tools that the model may call. Nil means none.
	Tools func(ctx context.Context) (agent.Tools, error)
	// Confirm asks the user whether a call may be made whose tool may change
	// something. It returns when ctx ends. Nil means that nobody can be asked, and that
	// no such call is made.
	Confirm func(ctx context.Context, c agent.Call) bool
	// Allow reports whether a tool may change something without the user being asked.
	// Nil means that none may.
	Allow func(t agent.Tool) bool
	// Asks is how often the model is asked before the user says something again. Zero
	// means 50.
	Asks int
	// Calls is how many calls one reply of the model may make; the turn fails with one
	// that makes more. Zero means 128.
	Calls int
	// Policy says when a steer is delivered. Empty means as the agent's file says.
	Policy agent.SteerPolicy
	// NoCheckpoint has no automatic checkpoint be made before a turn, whatever the
	// agent's file says. None is made either where no tool may change anything.
	NoCheckpoint bool

	// Tell is told what happens in the turn, from one goroutine, in order: what
	// Workspace.Events tells others of it. The session of text that comes in is the
	// tree; of a message that was added, the file. Nil means that nobody is told.
	Tell func(events.Event)
}

// A Chatted is the answer to what a user said, and where it stands.
type Chatted struct {
	Tree  string     `json:"tree_id"`
	Node  session.ID `json:"node_id"` // the message that is the answer
	Reply string     `json:"reply"`
	Head  Head       `json:"head"`

	Held int `json:"held"` // how many messages are queued that wait for [Agent.ResumeQueue]
}

// A Decision is what was adopted of an exploration of an agent's conversation.
type Decision struct {
	Exploration string   `json:"exploration_id"`
	Question    string   `json:"question"`
	Strategies  []string `json:"strategies"` // that were tried
	Node        string   `json:"node_id"`    // the message that the head was moved to
}

// A Queue is what the user of an agent said that is not delivered yet.
type Queue struct {
	Queue []agent.Entry `json:"queue"` // in the order in which it came
}

// A Saying is what a user says to an agent that may be at work.
type Saying struct {
	Mode agent.DeliveryMode // Steer or FollowUp
	Text string
	Cut  bool // a steer stops the message that comes in, instead of waiting for its end
}

// An AtWork is an agent that is in a turn.
type AtWork struct {
	Name    string      `json:"name"`
	State   agent.State `json:"state"`
	Session string      `json:"session_id"` // the tree that its head is in
	Message session.ID  `json:"message_id"`
}

// MarshalJSON implements [json.Marshaler].
func (s Snapshot) MarshalJSON() ([]byte, error) { return rawjson.Answer(s), nil }

// MarshalJSON implements [json.Marshaler].
func (t Tree) MarshalJSON() ([]byte, error) { return rawjson.Answer(t), nil }
