package workspace

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/bough-dev/bough/agent"
	"github.com/bough-dev/bough/agent/model"
	"github.com/bough-dev/bough/agent/turn"
	"github.com/bough-dev/bough/internal/operation"
	"github.com/bough-dev/bough/internal/sessionid"
	"github.com/bough-dev/bough/internal/watch"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace/agents"
	"github.com/bough-dev/bough/workspace/events"
	"github.com/bough-dev/bough/workspace/fault"
	"github.com/bough-dev/bough/workspace/internal/folders"
	"github.com/bough-dev/bough/workspace/internal/store"
)

// A driver runs turns of an agent: it passes events to the state machine,
// stores the new state, and performs the actions. It holds the lock of the
// turn, so its state of the turn is current. The queue is read from the file,
// because other processes add to it.
type driver struct {
	w       *Workspace
	name    string
	opts    agents.TurnOptions
	modelID string
	model   model.Model
	second  model.Model // the fallback, nil if there is none or it is in use
	system  string
	tools   model.Tools
	list    []model.Tool
	rules   turn.Rules
	noID    error // the error of generating an id
	files   turnFiles

	turn  turn.Turn
	queue turn.Queue // when it was last read
	at    agent.Head
	seq   operation.Seq // of the last change
	said  turn.Node     // the last complete message of the model

	todo    []turn.Event    // to be processed before those of actions
	results chan turn.Event // of running actions
	stop    context.CancelFunc
	running sync.WaitGroup
}

// newDriver opens what the turns of an agent need. It writes nothing.
func (w *Workspace) newDriver(ctx context.Context, name string, o agents.TurnOptions) (*driver, error) {
	a, err := w.Agent(name).Info(ctx)
	if err != nil {
		return nil, err
	}
	d := &driver{
		w: w, name: name, opts: o, system: a.System,
		modelID: cmp.Or(o.Model, a.Model),
		turn:    a.Turn, at: a.Head,
		results: make(chan turn.Event), stop: func() {},
	}
	if o.System != nil {
		d.system = *o.System
	}
	if d.opts.OnEvent == nil {
		d.opts.OnEvent = func(events.Event) {}
	}
	d.opts.NoCheckpoint = o.NoCheckpoint || a.NoCheckpoint
	d.rules = turn.Rules{NewID: d.newID, Policy: cmp.Or(o.Policy, a.Policy), MaxAsks: o.MaxRequests, MaxCalls: o.MaxCalls, Again: o.Fallback != ""}
	if _, ok := turn.ParseSteerPolicy(string(o.Policy)); !ok && o.Policy != "" {
		return nil, &fault.Error{Code: fault.Usage, Message: fmt.Sprintf("unknown steer policy %q", o.Policy)}
	}
	if d.model, err = d.open(ctx, d.modelID); err != nil {
		return nil, err
	}
	if o.Files != "" {
		if err := folders.Check(ctx, w.store, o.Files); err != nil {
			return nil, store.Explained(err)
		}
	}
	if o.Fallback != "" {
		if d.second, err = d.open(ctx, o.Fallback); err != nil {
			return nil, err
		}
	}
	if o.Tools == nil {
		return d, nil
	}
	if d.tools, err = o.Tools(ctx); err != nil {
		return nil, err
	}
	if d.tools != nil {
		d.list, err = d.tools.List(ctx)
	}
	return d, err
}

// open opens a model.
func (d *driver) open(ctx context.Context, id string) (model.Model, error) {
	if id == "" {
		return nil, &fault.Error{Code: fault.Usage, Message: d.name + " has no model", Next: fault.Do(fault.SetModel)}
	}
	if d.opts.Models == nil {
		return nil, &fault.Error{Code: fault.Usage, Message: fmt.Sprintf("unknown model %q", id)}
	}
	return d.opts.Models(ctx, id)
}

// newID returns a new id for the state machine, which is called under the lock.
func (d *driver) newID() string {
	id, err := sessionid.NewMessage(d.w.store.Opts.Random)
	d.noID = cmp.Or(d.noID, err)
	return id
}

// close stops running actions and waits for them.
func (d *driver) close() {
	d.stop()
	d.running.Wait()
	d.w.store.Live.Await(d.name, "")
}

// op returns an operation of the driver.
func (d *driver) op(verb string) operation.Operation {
	return operation.Operation{Verb: verb, Args: store.Args{"agent": d.name}}
}

// run runs the agent until it is idle. It calls unlock when the queue is empty.
func (d *driver) run(ctx context.Context, unlock func()) error {
	storing := context.WithoutCancel(ctx)
	looking, done := context.WithCancel(storing)
	defer done()
	wakes := watch.Paths(looking, &watch.Options{Interval: time.Second, Settle: 5 * time.Millisecond, Latest: 50 * time.Millisecond},
		filepath.Join(d.w.store.Dir, filepath.FromSlash(agent.Path(d.name))))
	aborted := ctx.Done()
	for {
		for d.turn.State != turn.Idle {
			e, ok := turn.Event{}, true
			switch {
			case len(d.todo) > 0:
				e, d.todo = d.todo[0], d.todo[1:]
			default:
				select {
				case e = <-d.results:
				case <-wakes:
					e.Kind, ok = turn.OnQueue, d.queueChanged(storing)
				case <-aborted:
					aborted, e.Kind = nil, turn.OnAbort
				}
			}
			if !ok {
				continue
			}
			if e.Kind == turn.OnReply && len(e.Calls) == 0 {
				d.snapEnd(ctx)
			}
			if err := d.step(storing, e); err != nil {
				return err
			}
		}
		if d.turn.Ended == turn.Failed && d.second != nil {
			if err := d.fallBack(storing); err != nil {
				return err
			}
			continue
		}
		more, err := d.finish(storing, unlock)
		if err != nil || !more {
			return err
		}
		d.snapPrompt(ctx, d.at)
		if err := d.step(storing, turn.Event{Kind: turn.OnQueue}); err != nil {
			return err
		}
	}
}

// queueChanged reports whether the queue differs from the last one read.
func (d *driver) queueChanged(ctx context.Context) bool {
	a, err := d.w.Agent(d.name).Info(ctx)
	return err == nil && !slices.Equal(a.Queue, d.queue)
}

// finish releases the lock of the turn unless the queue has an entry to
// deliver.
func (d *driver) finish(ctx context.Context, unlock func()) (more bool, err error) {
	return updateAgent(ctx, d.w.store, d.op("agent chat"), d.name, func(_ *store.Tx, a *agents.Agent) (more bool, err error) {
		waits := slices.ContainsFunc(a.Queue, func(e turn.Entry) bool { return e.State == turn.Waiting })
		if more = waits && d.turn.Ended == turn.Finished; !more {
			unlock()
		}
		return more, nil
	})
}

// fallBack switches to the fallback model and retries, after the model failed.
func (d *driver) fallBack(ctx context.Context) error {
	d.w.store.Opts.Note(d.turn.Error + "; " + d.opts.Fallback + " is used instead")
	d.model, d.modelID, d.second, d.rules.Again = d.second, d.opts.Fallback, nil, false
	return d.retry(ctx)
}

// step passes an event to the turn.
func (d *driver) step(ctx context.Context, e turn.Event) error {
	if e.Kind == turn.OnText { // too frequent to be stored
		acts, err := d.turn.Step(&turn.Queue{}, d.rules, e)
		for _, act := range acts {
			d.opts.OnEvent(d.w.store.Live.Content(d.w.store, d.name, d.at.Tree, d.seq, act))
		}
		return err
	}
	return d.change(ctx, d.op("append"), writeNode, func(_ *store.View, _ *agents.Agent, t *turn.Turn, q *turn.Queue) ([]turn.Action, error) {
		return t.Step(q, d.rules, e)
	})
}

// A writer stages a message of a turn and moves the head of its agent there.
type writer func(v *store.Tx, a *agents.Agent, n *turn.Node) error

// A storedStep is a transition of a turn with its actions.
type storedStep struct {
	op    *operation.Operation // nil if nothing changed
	turn  turn.Turn
	queue turn.Queue
	at    agent.Head
	said  turn.Node     // the message that was written, zero if there is none
	acts  []turn.Action // the actions of the turn
	steps [][]turnEvent // the events of this step and the following ones
}

// change applies the step that decide returns to the turn, stores its messages,
// and performs its actions. write writes the first message, as op. Each message
// is a separate operation, which also stores the state of the turn and the
// head.
func (d *driver) change(ctx context.Context, op operation.Operation, write writer, decide func(*store.View, *agents.Agent, *turn.Turn, *turn.Queue) ([]turn.Action, error)) error {
	var acts []turn.Action
	var steps [][]turnEvent
	for n := 0; n == 0 || n < len(steps); n++ {
		stored, err := updateAgent(ctx, d.w.store, op, d.name, func(tx *store.Tx, a *agents.Agent) (s storedStep, err error) {
			s.acts, s.steps, s.turn = acts, steps, d.turn
			next := &s.turn
			next.Calls, next.Unwritten = slices.Clone(next.Calls), slices.Clone(next.Unwritten)
			if n == 0 {
				was := slices.Clone(a.Queue)
				if s.acts, err = decide(tx.View, a, next, &a.Queue); err != nil {
					return s, err
				}
				if d.noID != nil {
					return s, d.noID
				}
				a.Queue.Restore(was, next.Unwritten)
				if a.Turn = *next; len(s.acts) == 0 && bytes.Equal(a.Encode(), a.File) {
					return s, nil
				}
				s.steps = turnEvents(s.acts, next.Error, d.runs)
			}
			if len(s.steps[n]) > 0 {
				tx.Op.Args["chat"] = s.steps[n]
			}
			tx.Op.Auto = len(next.Unwritten) == 0
			if tx.Op.Auto {
				tx.Op.Verb = "agent chat"
			} else {
				s.said = next.Unwritten[0]
				if s.said.Kind == turn.KindAssistant {
					s.said.Model = d.modelID
				}
				s.said.Files = d.files.of(&s.said)
				tx.Op.Args["message"], tx.Op.Args["role"] = s.said.ID, s.said.Message().Role
				if err := write(tx, a, &s.said); err != nil {
					return s, err
				}
				next.Unwritten = next.Unwritten[1:]
				a.Queue.Drop(s.said.ID)
			}
			a.Turn = *next
			if len(next.Unwritten) == 0 {
				a.Turn.Unwritten = nil
			}
			s.op, s.queue, s.at = tx.Op, slices.Clone(a.Queue), a.Head
			_, err = tx.PutAgent(a.Agent, a.File)
			return s, err
		})
		if err != nil {
			return err
		}
		if stored.op == nil {
			return nil
		}
		acts, steps = stored.acts, stored.steps
		d.turn, d.queue, d.at, d.seq = stored.turn, stored.queue, stored.at, stored.op.Seq
		d.files.written(&stored.said)
		d.w.store.Live.Await(d.name, d.turn.Reply)
		if stored.said.Kind == turn.KindAssistant && !stored.said.Partial {
			d.said = stored.said
		}
		for _, e := range eventsOf(stored.op) {
			d.opts.OnEvent(e)
		}
		op, write = d.op("append"), writeNode
	}
	d.do(ctx, acts)
	return nil
}

// do performs the actions of a stored step.
func (d *driver) do(ctx context.Context, acts []turn.Action) {
	for _, act := range acts {
		switch act.Kind {
		case turn.DoEmit:
			if act.Event == turn.ChatStart {
				d.checkpoint(ctx, act.ID)
			}
		case turn.DoStop:
			d.stop()
		case turn.DoAsk:
			d.start(ctx, func(ctx context.Context) turn.Event { return d.ask(ctx, act) })
		case turn.DoRun:
			d.runTool(ctx, act)
		case turn.DoConfirm:
			d.start(ctx, func(ctx context.Context) turn.Event {
				return turn.Event{Kind: turn.OnAnswer, ID: act.ID, Yes: d.opts.Confirm(ctx, act.Call)}
			})
		}
	}
}

// start runs f in a goroutine and sends the event that it returns, unless ctx
// ends.
func (d *driver) start(ctx context.Context, f func(context.Context) turn.Event) {
	d.stop()
	ctx, d.stop = context.WithCancel(ctx)
	d.running.Go(func() { d.send(ctx, f(ctx)) })
}

// send sends the event of a running action, unless ctx ends.
func (d *driver) send(ctx context.Context, e turn.Event) {
	select {
	case d.results <- e:
	case <-ctx.Done():
	}
}

// ask calls the model.
func (d *driver) ask(ctx context.Context, act turn.Action) turn.Event {
	failed := func(err error) turn.Event {
		return turn.Event{Kind: turn.OnFailure, ID: act.ID, Text: strings.ToValidUTF8(err.Error(), "\uFFFD")}
	}
	path, err := d.w.conversation(ctx, d.at.Tree, act.Leaf)
	if err != nil {
		return failed(err)
	}
	r := &model.Request{Agent: d.name, ModelID: d.modelID, System: d.system, Messages: turn.Context(path), Tools: d.list}
	reply, err := d.model.Ask(ctx, r, func(text string) {
		d.send(ctx, turn.Event{Kind: turn.OnText, ID: act.ID, Text: strings.ToValidUTF8(text, "\uFFFD")})
	})
	if err != nil {
		return failed(err)
	}
	return turn.Event{Kind: turn.OnReply, ID: act.ID, Text: strings.ToValidUTF8(reply.Text, "\uFFFD"), Calls: reply.Calls}
}

// tool returns the tool of a call, nil if there is none.
func (d *driver) tool(c model.Call) *model.Tool {
	i := slices.IndexFunc(d.list, func(t model.Tool) bool { return t.Name == c.Name })
	if i < 0 {
		return nil
	}
	return &d.list[i]
}

// runs reports whether the call of an action runs at once: the tool exists and
// the user need not approve it.
func (d *driver) runs(act turn.Action) bool {
	t := d.tool(act.Call)
	return t != nil && (act.Confirmed || !t.Writes || d.opts.Allow != nil && d.opts.Allow(*t))
}

// runTool runs a tool, or requests the approval of the user if it needs one.
func (d *driver) runTool(ctx context.Context, act turn.Action) {
	failed := func(text string) {
		d.todo = append(d.todo, turn.Event{Kind: turn.OnResult, ID: act.ID, Text: text, Failed: true})
	}
	switch {
	case d.tool(act.Call) == nil:
		failed("There is no tool with this name.")
	case d.runs(act):
		d.start(ctx, func(ctx context.Context) turn.Event {
			result, err := d.tools.Call(ctx, act.Call)
			if err != nil {
				result = model.Result{Text: err.Error(), Failed: true}
			}
			return turn.Event{Kind: turn.OnResult, ID: act.ID, Text: strings.ToValidUTF8(result.Text, "\uFFFD"), Failed: result.Failed}
		})
	case d.opts.Confirm == nil:
		failed("This call needs the approval of the user, who cannot be asked now.")
	default:
		d.todo = append(d.todo, turn.Event{Kind: turn.OnConfirm, ID: act.ID})
	}
}

// checkpoint makes an automatic checkpoint before a prompt, unless the options
// disable it or no tool of the turn may change anything. If that fails, the turn
// continues without it.
func (d *driver) checkpoint(ctx context.Context, prompt string) {
	writes := slices.ContainsFunc(d.list, func(t model.Tool) bool { return t.Writes })
	if d.opts.NoCheckpoint || !writes {
		return
	}
	path, err := d.w.Line(d.at.Tree).Path(ctx, prompt, session.ReadOptions{})
	if err == nil && len(path.Nodes) > 1 {
		before := d.at.Tree + "@" + path.Nodes[len(path.Nodes)-2].ID
		_, err = d.w.Checkpoint(ctx, before, SnapshotOptions{Auto: true})
	}
	if err != nil && !errors.Is(err, context.Canceled) {
		d.w.store.Opts.Note("no automatic checkpoint was made before this turn: " + err.Error())
	}
}
