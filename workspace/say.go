package workspace

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/bough-dev/bough/agent/turn"
	"github.com/bough-dev/bough/internal/lookup"
	"github.com/bough-dev/bough/internal/operation"
	"github.com/bough-dev/bough/internal/sessionid"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace/agents"
	"github.com/bough-dev/bough/workspace/fault"
	"github.com/bough-dev/bough/workspace/internal/store"
)

func queueOf(a *agents.Agent) *agents.Queue {
	return &agents.Queue{Queue: append([]turn.Entry{}, a.Queue...)}
}

// Say queues a message of the user if the agent runs a turn, and returns the
// queue. If the agent is idle, Say is [Agent.Chat], and also returns the reply.
func (ag Agent) Say(ctx context.Context, s agents.Message, o agents.TurnOptions) (*agents.Queue, *agents.ChatResult, error) {
	if strings.TrimSpace(s.Text) == "" {
		return nil, nil, &fault.Error{Code: fault.Usage, Message: "the message is empty", Next: fault.Do(fault.GiveText)}
	}
	if err := store.CheckUTF8("text", s.Text); err != nil {
		return nil, nil, err
	}
	verb := ""
	switch s.Mode {
	case turn.Steer:
		verb = "steer"
	case turn.FollowUp:
		verb = "follow-up"
	default:
		return nil, nil, &fault.Error{Code: fault.Usage, Message: fmt.Sprintf("unknown delivery mode %q", s.Mode), Hint: "modes are steer, follow_up"}
	}
	e := turn.Entry{Mode: s.Mode, Content: s.Text, Cut: s.Cut && s.Mode == turn.Steer}
	return ag.w.enqueueOrRun(ctx, operation.Operation{Verb: verb}, ag.name, o, func(tx *store.Tx, a *agents.Agent) (err error) {
		e := e
		if e.ID, err = sessionid.NewMessage(tx.View.Store.Opts.Random); err != nil {
			return err
		}
		tx.Op.Args["id"] = e.ID
		a.Queue.Add(e)
		return nil
	}, func(ctx context.Context, d *driver) error { return d.deliver(ctx, e) })
}

// ResumeQueue releases the queue of an agent, which is held after an unfinished
// turn. If the agent is idle, it delivers the queued messages, as [Agent.Chat]
// does.
func (ag Agent) ResumeQueue(ctx context.Context, o agents.TurnOptions) (*agents.Queue, *agents.ChatResult, error) {
	listed, err := ag.Queue(ctx)
	if err != nil || len(listed.Queue) == 0 {
		return listed, nil, err
	}
	return ag.w.enqueueOrRun(ctx, operation.Operation{Verb: "queue resume"}, ag.name, o, func(_ *store.Tx, a *agents.Agent) error {
		a.Queue.Resume()
		return nil
	}, func(ctx context.Context, d *driver) error { return d.resume(ctx, listed.Queue) })
}

// enqueueOrRun changes the queue of an agent that runs a turn. If the agent is idle,
// it instead runs a turn that start begins.
func (w *Workspace) enqueueOrRun(ctx context.Context, op operation.Operation, name string, o agents.TurnOptions,
	change func(*store.Tx, *agents.Agent) error, start func(context.Context, *driver) error) (*agents.Queue, *agents.ChatResult, error) {
	const tries = 3
	var busy error
	for range tries {
		q, err := w.enqueue(ctx, op, name, change)
		if !errors.Is(err, errIdle) {
			return q, nil, err
		}
		said, err := w.runTurns(ctx, name, o, start)
		if errors.Is(err, errEmpty) {
			said, err = nil, nil
		}
		if e := store.Explain(err); e != nil && e.Code == fault.Busy { // another process began a turn meanwhile
			busy = err
			continue
		}
		if err != nil {
			return nil, nil, err
		}
		q, err = w.Agent(name).Queue(ctx)
		return q, said, err
	}
	return nil, nil, busy
}

// errIdle reports that the agent runs no turn, errEmpty that the queue is
// empty.
var (
	errIdle  = errors.New("no turn is running")
	errEmpty = errors.New("nothing is queued")
)

// enqueue changes the queue of an agent that runs a turn. If the agent is idle,
// it returns errIdle.
func (w *Workspace) enqueue(ctx context.Context, op operation.Operation, name string, change func(*store.Tx, *agents.Agent) error) (*agents.Queue, error) {
	return updateAgent(ctx, w.patient().store, op, name, func(tx *store.Tx, a *agents.Agent) (*agents.Queue, error) {
		if !tx.View.Works(a.Name) {
			return nil, errIdle
		}
		if err := change(tx, a); err != nil {
			return nil, err
		}
		q := queueOf(a)
		_, err := tx.PutAgent(a.Agent, a.File)
		return q, err
	})
}

// resume begins a turn with the first entry of the queue. If the queue is empty
// because a crash interrupted the delivery of an entry of listed, the model is
// asked to answer that entry.
func (d *driver) resume(ctx context.Context, listed turn.Queue) error {
	d.snapPrompt(ctx, d.at)
	return d.change(ctx, d.op("append"), writeNode, func(_ *store.View, a *agents.Agent, t *turn.Turn, q *turn.Queue) ([]turn.Action, error) {
		if len(*q) > 0 {
			q.Resume()
			return t.Step(q, d.rules, turn.Event{Kind: turn.OnQueue})
		}
		unanswered := func(e turn.Entry) bool { return e.ID == t.Prompt && e.ID == a.Head.Node }
		if t.Ended == turn.Crashed && slices.ContainsFunc(listed, unanswered) {
			return t.Step(q, d.rules, turn.Event{Kind: turn.OnRetry})
		}
		return nil, errEmpty
	})
}

// Queue returns the queue of an agent.
func (ag Agent) Queue(ctx context.Context) (_ *agents.Queue, err error) {
	defer func() { err = store.Explained(err) }()
	root, err := ag.w.store.Open(ctx)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	v := &store.View{Store: ag.w.store, Ctx: ctx, Root: root}
	a, err := v.Agent(ag.name)
	if err != nil {
		return nil, err
	}
	recoverTurn(v, a)
	return queueOf(a), nil
}

// DropQueued removes a message from the queue of an agent, and returns the
// remaining queue. id is the message's id or a unique prefix of it. A message
// that is being delivered is no longer in the queue.
func (ag Agent) DropQueued(ctx context.Context, id string) (*agents.Queue, error) {
	w := ag.w.patient()
	if err := w.settleIdle(ctx, ag.name); err != nil {
		return nil, err
	}
	op := operation.Operation{Verb: "queue drop", Args: store.Args{"id": id}}
	return updateAgent(ctx, w.store, op, ag.name, func(tx *store.Tx, a *agents.Agent) (*agents.Queue, error) {
		queue := slices.DeleteFunc(slices.Clone(a.Queue), func(e turn.Entry) bool {
			return slices.ContainsFunc(a.Turn.Unwritten, func(n turn.Node) bool { return n.ID == e.ID })
		})
		kind := lookup.Kind[turn.Entry]{
			What: "queued message", Next: fault.Do(fault.ListQueue, a.Name),
			Names: func(e turn.Entry) []lookup.Name { return []lookup.Name{{ID: e.ID}} },
			Candidate: func(e turn.Entry) fault.Candidate {
				return fault.Candidate{Message: session.ID(e.ID), Kind: string(e.Mode), Text: store.Opening(e.Content)}
			},
		}
		dropped, err := kind.Find(id, queue)
		if err != nil {
			return nil, err
		}
		tx.Op.Args["id"] = dropped.ID
		a.Queue.Drop(dropped.ID)
		_, err = tx.PutAgent(a.Agent, a.File)
		recoverTurn(tx.View, a)
		return queueOf(a), err
	})
}
