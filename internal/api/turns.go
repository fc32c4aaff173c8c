package api

import (
	"context"
	"strings"

	"github.com/bough-dev/bough/agent/model"
	"github.com/bough-dev/bough/convert/content"
	"github.com/bough-dev/bough/internal/tokens"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/agents"
	"github.com/bough-dev/bough/workspace/events"
	"github.com/bough-dev/bough/workspace/fault"
)

// models are the models of a turn.
type models struct {
	Model    string `json:"model,omitempty" jsonschema:"the model that answers, instead of the agent's"`
	Fallback string `json:"fallback,omitempty" jsonschema:"the model that continues the turn if the first one fails"`
}

type chatIn struct {
	anAgent
	Prompt string `json:"prompt,omitempty" jsonschema:"the message; only retry goes without"`
	Fresh  bool   `json:"fresh,omitempty" jsonschema:"begin a new tree with the message"`
	Name   string `json:"name,omitempty" jsonschema:"the name of the new tree, with fresh"`
	Retry  bool   `json:"retry,omitempty" jsonschema:"ask the model to answer the last message again, if the last turn did not finish"`
	models
}

type agentBranchIn struct {
	anAgent
	From   string `json:"from_node,omitempty" jsonschema:"branch at this message: a message of a tree of the agent, TREE/NODE, or SESSION@MESSAGE"`
	Fresh  bool   `json:"fresh,omitempty" jsonschema:"begin an empty tree, instead of from_node"`
	Prompt string `json:"prompt" jsonschema:"the message"`
	Name   string `json:"name,omitempty" jsonschema:"the name of the new tree"`
	cut
	models
}

// A Branched is the answer of an agent in a new tree. Copied is nil if the tree began
// empty.
type Branched struct {
	agents.ChatResult
	Copied *Copied `json:"copied,omitempty"`
}

// A Copied is the size of the path that was copied into a new tree.
type Copied struct {
	Messages int   `json:"messages"`
	Bytes    int64 `json:"bytes"`
	Tokens   int   `json:"tokens"`
}

// CopiedBy returns what the creation of a tree copied, and nil for any other event. It must
// be called when the last message of the tree is still the prompt.
func CopiedBy(ctx context.Context, w *workspace.Workspace, e events.Event) *Copied {
	if e.Type != events.BranchCreated || e.Message != "" { // an in-place branch has a message
		return nil
	}
	path, err := w.Line(string(e.Session)).Path(ctx, "", session.ReadOptions{})
	if err != nil || len(path.Nodes) == 0 {
		return nil
	}
	c := &Copied{}
	var counter tokens.Counter
	for _, n := range path.Nodes[:len(path.Nodes)-1] {
		c.Messages++
		c.Bytes += int64(len(n.Raw))
		c.Tokens += content.Read(n.Raw).Tokens(counter.Count)
	}
	return c
}

// turns returns the options of turns with models, and without tools.
func (e Env) turns(m models) agents.TurnOptions {
	if e.Models == nil {
		return agents.TurnOptions{Model: "none", Models: refuse, OnEvent: e.OnEvent}
	}
	return agents.TurnOptions{Model: m.Model, Fallback: m.Fallback, Models: e.Models, OnEvent: e.OnEvent}
}

func refuse(context.Context, string) (model.Model, error) {
	return nil, &fault.Error{Code: fault.Refused, Message: "the agent is idle, and no model is available to answer"}
}

func chat(ctx context.Context, env Env, in chatIn) (*agents.ChatResult, error) {
	a := env.Workspace.Agent(in.Agent)
	switch {
	case in.Name != "" && !in.Fresh:
		return nil, badArgument("name requires fresh")
	case in.Retry && (in.Prompt != "" || in.Fresh):
		return nil, badArgument("retry repeats the last turn; it excludes prompt and fresh")
	case in.Retry:
		return a.Retry(ctx, env.turns(in.models))
	}
	if err := checkPrompt(in.Prompt); err != nil {
		return nil, err
	}
	return a.Chat(ctx, agents.Prompt{Text: in.Prompt, Fresh: in.Fresh, Tree: in.Name}, env.turns(in.models))
}

func checkPrompt(text string) error {
	if strings.TrimSpace(text) == "" {
		return badArgument("the prompt is empty")
	}
	return nil
}

func branchAgent(ctx context.Context, env Env, in agentBranchIn) (*Branched, error) {
	if in.Fresh == (in.From != "") {
		return nil, badArgument("one of from_node and fresh is needed")
	}
	if err := checkPrompt(in.Prompt); err != nil {
		return nil, err
	}
	out := &Branched{}
	o := env.turns(in.models)
	o.OnEvent = func(e events.Event) {
		if c := CopiedBy(context.WithoutCancel(ctx), env.Workspace, e); c != nil {
			out.Copied = c
		}
		if env.OnEvent != nil {
			env.OnEvent(e)
		}
	}
	prompt := agents.Prompt{Text: in.Prompt, Fresh: in.Fresh, From: in.From, Tree: in.Name, CutOptions: in.cut.options()}
	result, err := env.Workspace.Agent(in.Agent).Chat(ctx, prompt, o)
	if err != nil {
		return nil, err
	}
	out.ChatResult = *result
	return out, nil
}

// say sends a message to an agent: it is queued if the agent is running, else a prompt.
func say(ctx context.Context, env Env, name string, m agents.Message) (Queued, error) {
	if strings.TrimSpace(m.Text) == "" {
		return Queued{}, badArgument("the message is empty")
	}
	q, result, err := env.Workspace.Agent(name).Say(ctx, m, env.turns(models{}))
	return Queued{q, result}, err
}
