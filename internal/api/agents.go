package api

import (
	"context"

	"github.com/bough-dev/bough/agent/turn"
	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/agents"
)

type anAgent struct {
	Agent string `json:"agent" jsonschema:"the name or id of an agent, or a unique prefix of either"`
}

type agentSettings struct {
	Model          *string `json:"model,omitempty" jsonschema:"the model that answers; an empty text removes it"`
	System         *string `json:"system,omitempty" jsonschema:"the system prompt; an empty text removes it"`
	SteerPolicy    *string `json:"steer_policy,omitempty" jsonschema:"for a steer while tools run: after_call (the default) skips the remaining calls, finish_batch waits for them"`
	AutoCheckpoint *bool   `json:"auto_checkpoint,omitempty" jsonschema:"make an automatic checkpoint before each turn with a tool that may change something; by default true"`
}

type agentCreateIn struct {
	Name string `json:"name" jsonschema:"up to 63 characters: letters a to z and digits and, after the first, also '.', '_' and '-'"`
	agentSettings
}

type agentSetIn struct {
	anAgent
	agentSettings
}

type agentTreesIn struct {
	anAgent
	All bool `json:"all,omitempty" jsonschema:"list archived trees too"`
}

type agentTreeIn struct {
	anAgent
	Tree string `json:"tree_id" jsonschema:"the name or id of a tree, or a unique prefix of the id"`
}

type agentSwitchIn struct {
	anAgent
	Tree string `json:"tree_id" jsonschema:"a tree as in agent/archive, or TREE/NODE for a message of it"`
	cut
}

type agentRewindIn struct {
	anAgent
	Node string `json:"node_id" jsonschema:"a message of a tree of the agent, or TREE/NODE"`
	cut
}

type agentDeleteIn struct {
	agentTreeIn
	Force bool `json:"force,omitempty" jsonschema:"delete the tree even if checkpoints or branches were made from it"`
}

type sayIn struct {
	anAgent
	Text string `json:"text" jsonschema:"the message"`
}

type steerIn struct {
	sayIn
	Cut bool `json:"cut,omitempty" jsonschema:"cut off the message that is being written"`
}

type dropIn struct {
	anAgent
	ID string `json:"id" jsonschema:"the id of a queued message, or a unique prefix of it"`
}

type resumeIn struct {
	anAgent
	models
}

// A Queued is the queue of an agent after a verb and, if the verb ran turns, the reply.
type Queued struct {
	*agents.Queue
	*agents.ChatResult
}

func agentVerbs() []*Verb {
	return []*Verb{
		verb("agent/create", Changes, "Create an agent", "Creates an agent with one empty tree.", createAgent),
		verb("agent/ls", Reads, "List agents", "Lists the agents by name.",
			func(ctx context.Context, w *workspace.Workspace, _ none) (*agents.List, error) { return w.Agents(ctx) }),
		verb("agent/show", Reads, "Show an agent", "Returns the settings, the trees, the head and the queue of an agent.",
			func(ctx context.Context, w *workspace.Workspace, in anAgent) (*agents.Agent, error) {
				return w.Agent(in.Agent).Info(ctx)
			}),
		verb("agent/set", Changes, "Change an agent", "Changes the settings of an agent that are given.", setAgent),
		verb("agent/rm", Destroys, "Remove an agent", "Moves an agent to the trash and keeps its trees as conversations.",
			func(ctx context.Context, w *workspace.Workspace, in anAgent) (*agents.Agent, error) {
				return w.Agent(in.Agent).Remove(ctx)
			}),
		verb("agent/trees", Reads, "Trees of an agent", "Lists the trees of an agent, oldest first.",
			func(ctx context.Context, w *workspace.Workspace, in agentTreesIn) (*agents.Trees, error) {
				return w.Agent(in.Agent).Trees(ctx, agents.TreesOptions{All: in.All})
			}),
		verb("agent/switch", Changes, "Switch to another tree", "Moves the head of an agent to another of its trees.",
			func(ctx context.Context, w *workspace.Workspace, in agentSwitchIn) (*agents.Position, error) {
				return w.Agent(in.Agent).Switch(ctx, in.Tree, in.cut.options())
			}),
		verb("agent/rewind", Changes, "Move the head of an agent", "Moves the head of an agent to any message of its trees.",
			func(ctx context.Context, w *workspace.Workspace, in agentRewindIn) (*agents.Position, error) {
				return w.Agent(in.Agent).Rewind(ctx, in.Node, in.cut.options())
			}),
		verb("agent/archive", Changes, "Archive a tree", "Hides a tree of an agent.",
			func(ctx context.Context, w *workspace.Workspace, in agentTreeIn) (*agents.Tree, error) {
				return w.Agent(in.Agent).ArchiveTree(ctx, in.Tree)
			}),
		verb("agent/restore", Changes, "Restore an archived tree", "Shows an archived tree of an agent again.",
			func(ctx context.Context, w *workspace.Workspace, in agentTreeIn) (*agents.Tree, error) {
				return w.Agent(in.Agent).RestoreTree(ctx, in.Tree)
			}),
		verb("agent/delete", Destroys, "Delete a tree", "Moves all files of a tree of an agent to the trash.",
			func(ctx context.Context, w *workspace.Workspace, in agentDeleteIn) (*agents.Tree, error) {
				return w.Agent(in.Agent).DeleteTree(ctx, in.Tree, agents.DeleteTreeOptions{Force: in.Force})
			}),
		verb("agent/snapshot", Reads, "State of an agent", "Returns the active branch, the head, the bookmarks, the queues and the turn of an agent.",
			func(ctx context.Context, w *workspace.Workspace, in anAgent) (*agents.Snapshot, error) {
				return w.Agent(in.Agent).Snapshot(ctx)
			}),
		turnVerb("agent/chat", Changes, "Send a message to an agent", "Adds a message below the head of an idle agent, runs the turn that answers it, and returns the answer.", chat),
		turnVerb("agent/branch", Changes, "Send a message in a new tree", "Copies the path to a message into a new tree of an agent, adds a message there, and runs the turn that answers it.", branchAgent),
		turnVerb("steer", Changes, "Steer a running agent", "Interrupts a running agent with a message. For an idle agent it is a prompt, which needs a model.",
			func(ctx context.Context, env Env, in steerIn) (Queued, error) {
				return say(ctx, env, in.Agent, agents.Message{Mode: turn.Steer, Text: in.Text, Cut: in.Cut})
			}),
		turnVerb("follow-up", Changes, "Queue a message", "Queues a message for a running agent, to be read after its turn. For an idle agent it is a prompt, which needs a model.",
			func(ctx context.Context, env Env, in sayIn) (Queued, error) {
				return say(ctx, env, in.Agent, agents.Message{Mode: turn.FollowUp, Text: in.Text})
			}),
		verb("queue", Reads, "Queue of an agent", "Lists the queued messages of an agent.",
			func(ctx context.Context, w *workspace.Workspace, in anAgent) (Queued, error) {
				q, err := w.Agent(in.Agent).Queue(ctx)
				return Queued{Queue: q}, err
			}),
		verb("queue/drop", Destroys, "Drop a queued message", "Removes a message from the queue of an agent.",
			func(ctx context.Context, w *workspace.Workspace, in dropIn) (Queued, error) {
				q, err := w.Agent(in.Agent).DropQueued(ctx, in.ID)
				return Queued{Queue: q}, err
			}),
		turnVerb("queue/resume", Changes, "Deliver held messages", "Releases the queue of an agent, and delivers its messages if the agent is idle.",
			func(ctx context.Context, env Env, in resumeIn) (Queued, error) {
				q, result, err := env.Workspace.Agent(in.Agent).ResumeQueue(ctx, env.turns(in.models))
				return Queued{q, result}, err
			}),
	}
}

func createAgent(ctx context.Context, w *workspace.Workspace, in agentCreateIn) (*agents.Agent, error) {
	return w.Agent(in.Name).Create(ctx, agents.Options{
		Model: orElse(in.Model, ""), System: orElse(in.System, ""),
		Policy: turn.SteerPolicy(orElse(in.SteerPolicy, "")), NoCheckpoint: !orElse(in.AutoCheckpoint, true),
	})
}

func setAgent(ctx context.Context, w *workspace.Workspace, in agentSetIn) (*agents.Agent, error) {
	if in.agentSettings == (agentSettings{}) {
		return nil, badArgument("no setting is given")
	}
	c := agents.Change{Model: in.Model, System: in.System}
	if in.SteerPolicy != nil {
		policy := turn.SteerPolicy(*in.SteerPolicy)
		c.Policy = &policy
	}
	if in.AutoCheckpoint != nil {
		off := !*in.AutoCheckpoint
		c.NoCheckpoint = &off
	}
	return w.Agent(in.Agent).Set(ctx, c)
}
