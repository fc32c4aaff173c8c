package workspace

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/bough-dev/bough/agent"
	"github.com/bough-dev/bough/agent/turn"
	"github.com/bough-dev/bough/internal/plural"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace/agents"
	"github.com/bough-dev/bough/workspace/fault"
	"github.com/bough-dev/bough/workspace/internal/store"
)

// Chat sends a prompt to an agent, below its head, runs the turn that answers
// it, and then delivers the messages that were queued meanwhile. The prompt is
// written before the model is called, in one operation with a new tree and
// head.
//
// The lock of the workspace is not held while the model or a tool runs. If ctx
// ends, the turn is aborted; the part of the reply that was received is kept.
// While another process or call runs a turn of the agent, the error has the
// code [fault.Busy]; see [Agent.Say].
//
// If a turn fails, the error has the code [fault.Failed]. Its messages remain,
// and [Agent.Retry] asks for another answer.
func (ag Agent) Chat(ctx context.Context, p agents.Prompt, o agents.TurnOptions) (*agents.ChatResult, error) {
	if strings.TrimSpace(p.Text) == "" {
		return nil, &fault.Error{Code: fault.Usage, Message: "the prompt is empty", Next: fault.Do(fault.GiveText)}
	}
	if err := store.CheckUTF8("prompt", p.Text); err != nil {
		return nil, err
	}
	return ag.w.runTurns(ctx, ag.name, o, func(ctx context.Context, d *driver) error { return d.begin(ctx, p) })
}

// Retry asks the model again to answer the user's last message, if the last
// turn of the agent failed, was aborted or interrupted, or reached its limit.
// It is refused if the head was moved since.
func (ag Agent) Retry(ctx context.Context, o agents.TurnOptions) (*agents.ChatResult, error) {
	return ag.w.runTurns(ctx, ag.name, o, func(ctx context.Context, d *driver) error { return d.retry(ctx) })
}

// runTurns calls start, which begins a turn of an agent, and runs the agent
// until it is idle.
func (w *Workspace) runTurns(ctx context.Context, name string, o agents.TurnOptions, start func(context.Context, *driver) error) (*agents.ChatResult, error) {
	w = w.patient()
	a, err := w.Agent(name).Info(ctx)
	if err != nil {
		return nil, err
	}
	unlock, err := w.lockTurn(ctx, a.Name)
	if err != nil {
		return nil, err
	}
	defer unlock()
	if err := w.settle(ctx, a.Name, true); err != nil {
		return nil, err
	}
	d, err := w.newDriver(ctx, a.Name, o)
	if err != nil {
		return nil, err
	}
	defer d.close()
	if err := start(ctx, d); err != nil {
		return nil, err
	}
	if err := d.run(ctx, unlock); err != nil {
		return nil, err
	}
	d.snapRest(ctx)
	return d.answer()
}

// answer returns the result of the last turn.
func (d *driver) answer() (*agents.ChatResult, error) {
	switch t := &d.turn; t.Ended {
	case turn.Finished:
		return &agents.ChatResult{Tree: d.at.Tree, Node: session.ID(d.said.ID), Reply: d.said.Text, Head: agents.Head{Tree: d.at.Tree, Node: session.ID(d.at.Node)}, Held: len(d.queue)}, nil
	case turn.Aborted:
		return nil, &fault.Error{Code: fault.Failed, Message: "the turn of " + d.name + " was stopped", Hint: promptKept, Next: d.retryStep(), Err: context.Canceled}
	case turn.Limited:
		return nil, &fault.Error{Code: fault.Failed, Message: t.Error, Next: fault.Do(fault.ContinueTurn, d.name)}
	default:
		return nil, &fault.Error{Code: fault.Failed, Message: cmp.Or(t.Error, "the turn of "+d.name+" failed"), Hint: promptKept, Next: d.retryStep()}
	}
}

// promptKept is the hint for a turn that failed.
const promptKept = "the messages are kept"

// retryStep returns the step that the user can take after a failed turn.
func (d *driver) retryStep() fault.Step {
	if n := len(d.queue); n > 0 {
		return fault.Do(fault.RetryTurnOrQueue, d.name, plural.Of(n, "message"))
	}
	return fault.Do(fault.RetryTurn, d.name)
}

// begin starts a turn with a prompt.
func (d *driver) begin(ctx context.Context, p agents.Prompt) error {
	op, write := d.op("append"), writeNode
	at := d.at
	if p.Fresh || p.From != "" || p.Beside != "" {
		at = agent.Head{} // the prompt is not below the head
	}
	d.snapPrompt(ctx, at)
	switch {
	case p.Fresh:
		op.Verb, op.Args["name"] = "agent fresh", p.Tree
		write = func(tx *store.Tx, a *agents.Agent, n *turn.Node) error { return treeWith(tx, a, p.Tree, messageOf(n)) }
	case p.From != "":
		op.Verb, op.Args["node"], op.Args["name"] = "agent branch", p.From, p.Tree
		write = func(tx *store.Tx, a *agents.Agent, n *turn.Node) error {
			at, cut, err := branchPlace(tx.View, a, p.From, p.CutOptions)
			if err != nil {
				return err
			}
			if cut.SteppedBack {
				tx.View.Store.Opts.Note(fmt.Sprintf("stepped back from %s to %s: the path does not end inside a tool call", cut.Requested, at.MessageID()))
			}
			return branchWith(tx, a, at, p.Tree, messageOf(n))
		}
	case p.Beside != "":
		op.Verb, op.Args["ref"] = "edit", p.Beside
		write = func(tx *store.Tx, a *agents.Agent, n *turn.Node) error { return writeBeside(tx, a, p.Beside, n) }
	}
	writePrompt := func(tx *store.Tx, a *agents.Agent, n *turn.Node) error {
		n.Content, n.Replayed, n.Edited = p.Content, p.Replayed, p.Edited
		return write(tx, a, n)
	}
	return d.change(ctx, op, writePrompt, func(_ *store.View, _ *agents.Agent, t *turn.Turn, q *turn.Queue) ([]turn.Action, error) {
		return t.Step(q, d.rules, turn.Event{Kind: turn.OnPrompt, ID: d.rules.NewID(), Text: p.Text})
	})
}

// retry starts a turn that answers the last message of the user.
func (d *driver) retry(ctx context.Context) error {
	at, err := d.w.lastWhole(ctx, d.name)
	if err != nil {
		return err
	}
	return d.change(ctx, d.op("append"), writeNode, func(_ *store.View, a *agents.Agent, t *turn.Turn, q *turn.Queue) ([]turn.Action, error) {
		if t.Last != a.Head.Node {
			return nil, &fault.Error{
				Code:    fault.Refused,
				Message: "the head of " + a.Name + " was moved since its last turn",
				Next:    fault.Do(fault.RewindAgent, a.Name, cmp.Or(t.Last, "NODE")),
			}
		}
		acts, err := t.Step(q, d.rules, turn.Event{Kind: turn.OnRetry, ID: at})
		if errors.Is(err, turn.ErrNoRetry) {
			return nil, &fault.Error{Code: fault.Refused, Message: a.Name + " has answered the last message", Next: fault.Do(fault.ChatWithAgent, a.Name)}
		}
		return acts, err
	})
}

// deliver delivers an entry to an idle agent.
func (d *driver) deliver(ctx context.Context, e turn.Entry) error {
	d.snapPrompt(ctx, d.at)
	return d.change(ctx, d.op("append"), writeNode, func(_ *store.View, _ *agents.Agent, t *turn.Turn, q *turn.Queue) ([]turn.Action, error) {
		e := e
		e.ID = d.rules.NewID()
		if e.Mode == turn.Steer { // there is no turn to interrupt
			return t.Step(q, d.rules, turn.Event{Kind: turn.OnPrompt, ID: e.ID, Text: e.Content})
		}
		q.Add(e)
		return t.Step(q, d.rules, turn.Event{Kind: turn.OnQueue})
	})
}
