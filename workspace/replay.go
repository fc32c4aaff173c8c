package workspace

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"

	"github.com/bough-dev/bough/agent/model"
	"github.com/bough-dev/bough/agent/turn"
	"github.com/bough-dev/bough/checkpoint"
	"github.com/bough-dev/bough/internal/rawjson"
	"github.com/bough-dev/bough/internal/spoken"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace/agents"
	"github.com/bough-dev/bough/workspace/fault"
	"github.com/bough-dev/bough/workspace/internal/replay"
	"github.com/bough-dev/bough/workspace/internal/store"
	"github.com/bough-dev/bough/workspace/rewrite"
	"github.com/tidwall/gjson"
)

// replayAgent is the name of the agent that answers if none owns the conversation.
const replayAgent = "replay"

// Replay repeats the user's messages of a path below another message: it adds each to a new tree of
// an agent, which answers it as in [Agent.Chat]. The original path does not change. The replay
// stops at an answer that asks something back, unless o.GoOn is set: one that opens a batch of
// clarifications, or ends with a question mark. After that, or if a turn fails, the error or the
// result names the session with which [Workspace.ResumeReplay] continues. No lock is held while the
// model works.
func (w *Workspace) Replay(ctx context.Context, o rewrite.ReplayOptions) (*rewrite.Replay, error) {
	if err := store.CheckTitle("name", o.Name); err != nil {
		return nil, err
	}
	r, err := store.Read(ctx, w.store, func(v *store.View) (*replaying, error) { return planReplay(v, o) })
	if err != nil {
		return nil, err
	}
	if o.DryRun {
		return r.out, nil
	}
	if err := w.needAgent(ctx, r.Agent, o.Turn.Model); err != nil {
		return nil, err
	}
	return r.out, w.say(ctx, r, 0, r.onto)
}

// needAgent creates the agent for conversations that no agent owns, unless it exists.
func (w *Workspace) needAgent(ctx context.Context, name, modelID string) error {
	_, err := w.Agent(name).Info(ctx)
	if name != replayAgent || !store.IsNotFound(err) {
		return err
	}
	if modelID == "" {
		return &fault.Error{Code: fault.Usage, Message: "no agent owns the conversation, so a model is needed", Next: fault.Do(fault.SetModel)}
	}
	_, err = w.Agent(name).Create(ctx, agents.Options{Model: modelID})
	return err
}

// say says the messages again from an index on. The first one begins a new tree at onto if the
// index is 0, else it is said at the head of the agent.
func (w *Workspace) say(ctx context.Context, r *replaying, from int, onto string) error {
	for i := from; i < len(r.prompts); i++ {
		m := r.prompts[i]
		again := &turn.Replayed{Origin: turn.Origin{Session: r.Of.Session, Message: m.ID}}
		p := agents.Prompt{Text: spoken.Text(m.Raw), Content: []byte(gjson.GetBytes(m.Raw, "content").Raw), Replayed: again}
		if i == 0 {
			again.Plan = rawjson.Compact(r.Plan)
			p.From, p.Fresh, p.Tree = onto, onto == "", r.o.Name
		}
		said, err := w.Agent(r.Agent).Chat(ctx, p, r.turnOptions())
		if asked, err := w.after(ctx, r, i, said, err); asked || err != nil {
			return err
		}
	}
	return nil
}

// after records the turn of a message, and reports whether the replay stops because of a question.
func (w *Workspace) after(ctx context.Context, r *replaying, i int, said *agents.ChatResult, err error) (asked bool, _ error) {
	r.left(i + 1)
	if err != nil {
		e := *store.Explain(err)
		if at, failed := w.Agent(r.Agent).Info(context.WithoutCancel(ctx)); failed == nil {
			e.Next = fault.Do(fault.ResumeReplay, at.Head.Tree)
		}
		return false, &e
	}
	a, err := w.Agent(r.Agent).Info(ctx)
	if err != nil {
		return false, err
	}
	t := rewrite.Turn{From: turn.Origin{Session: r.Of.Session, Message: r.prompts[i].ID}, Prompt: session.ID(a.Turn.Prompt), Answer: said.Node, Text: said.Reply}
	r.out.Turns = append(r.out.Turns, t)
	r.out.Session, r.out.Message = session.ID(said.Tree), said.Node
	if r.o.OnTurn != nil {
		r.o.OnTurn(t)
	}
	path, err := w.conversation(ctx, said.Tree, string(said.Node))
	if err != nil {
		return false, err
	}
	r.out.Asked = i+1 < len(r.prompts) && !r.o.GoOn && replay.Asks(turn.Kind(gjson.GetBytes(path[len(path)-1].Metadata, "kind").Str), said.Reply)
	return r.out.Asked, nil
}

// turnOptions returns the options of a turn, which counts its tokens.
func (r *replaying) turnOptions() agents.TurnOptions {
	o := r.o.Turn
	o.Model, o.System = cmp.Or(o.Model, r.Model), r.System
	open := o.Models
	if open != nil && r.o.Count != nil {
		o.Models = func(ctx context.Context, id string) (model.Model, error) {
			m, err := open(ctx, id)
			if err != nil {
				return nil, err
			}
			return &countedModel{m, r.o.Count, func(t rewrite.ModelTokens) { r.spend(id, t) }}, nil
		}
	}
	return o
}

// spend adds the tokens of a request to a model.
func (r *replaying) spend(id string, t rewrite.ModelTokens) {
	total := &r.out.Tokens
	first := total.Input+total.Output == 0
	cost := r.costOf(id, t)
	switch {
	case first:
		total.Cost = cost
	case cost == nil || total.Cost == nil:
		total.Cost = nil
	default:
		*total.Cost += *cost
	}
	total.Input += t.Input
	total.Output += t.Output
}

// costOf returns what tokens of a model cost, nil if that is unknown.
func (r *replaying) costOf(id string, t rewrite.ModelTokens) *float64 {
	if r.o.Price == nil {
		return nil
	}
	p, ok := r.o.Price(id)
	if !ok {
		return nil
	}
	cost := p.Of(t)
	return &cost
}

// A countedModel counts what a model reads and writes. A turn asks its models one at a time.
type countedModel struct {
	model.Model
	count func(raw []byte) int
	spend func(rewrite.ModelTokens)
}

func (m *countedModel) Ask(ctx context.Context, r *model.Request, stream func(string)) (*model.Reply, error) {
	t := rewrite.ModelTokens{Input: m.count(saidBy("system", r.System))}
	for _, message := range r.Messages {
		if raw, err := json.Marshal(message); err == nil {
			t.Input += m.count(raw)
		}
	}
	reply, err := m.Model.Ask(ctx, r, stream)
	if err == nil {
		t.Output = m.count(saidBy("assistant", reply.Text))
		for _, c := range reply.Calls {
			t.Output += m.count(saidBy("assistant", c.Name+c.Arguments))
		}
		m.spend(t)
	}
	return reply, err
}

// ResumeReplay continues the replay of a session that [Workspace.Replay] made and that was stopped
// or killed: the answers so far stay. If name is empty, it is the tree of the head of the agent
// that was last used for one. It uses only the fields Turn, Count, OnTurn, GoOn and DryRun of o.
// A dry run returns the finished and the remaining turns, also while the replay runs.
func (w *Workspace) ResumeReplay(ctx context.Context, name string, o rewrite.ReplayOptions) (*rewrite.Replay, error) {
	s, err := store.Read(ctx, w.store, func(v *store.View) (*resumed, error) { return findReplay(v, name, o) })
	if err != nil {
		return nil, err
	}
	r := s.replaying
	if o.DryRun {
		return s.soFar(), nil
	}
	if err := w.settle(ctx, r.Agent, false); err != nil {
		return nil, err
	}
	// An interrupted turn may have written more.
	if s, err = store.Read(ctx, w.store, func(v *store.View) (*resumed, error) { return findReplay(v, s.tree, o) }); err != nil {
		return nil, err
	}
	r = s.replaying
	r.out.Session, r.out.Message = session.ID(s.tree), session.ID(s.tip)
	if s.far.Answered {
		r.left(s.last + 1)
		if s.last+1 == len(r.prompts) {
			return r.out, nil
		}
		if err := w.moveTo(ctx, r.Agent, s.tree, s.tip); err != nil {
			return nil, err
		}
		return r.out, w.say(ctx, r, s.last+1, "")
	}
	a, err := w.Agent(r.Agent).Info(ctx)
	if err != nil {
		return nil, err
	}
	if a.Turn.Prompt != s.far.Prompt || a.Head.Tree != s.tree {
		return nil, &fault.Error{
			Code: fault.Refused, Message: fmt.Sprintf("the message %s was not answered, and the agent %s has begun another turn since", s.far.Prompt, r.Agent),
			Next: fault.Do(fault.RewindAgent, r.Agent, s.tree+"/"+s.far.Prompt),
		}
	}
	said, err := w.Agent(r.Agent).Retry(ctx, r.turnOptions())
	if asked, err := w.after(ctx, r, s.last, said, err); asked || err != nil {
		return r.out, err
	}
	return r.out, w.say(ctx, r, s.last+1, "")
}

// moveTo moves the head of an agent to a message, unless it is there.
func (w *Workspace) moveTo(ctx context.Context, name, tree, node string) error {
	a, err := w.Agent(name).Info(ctx)
	if err != nil || a.Head.Tree == tree && a.Head.Node == node {
		return err
	}
	_, err = w.Agent(name).Rewind(ctx, tree+"/"+node, checkpoint.CutOptions{})
	return err
}
