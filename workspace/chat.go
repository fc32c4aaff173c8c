package workspace

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/bough-dev/bough/agent"
)

// A Prompt is what a user says to an agent that has nothing else to do.
type Prompt struct {
	Text string
	// Fresh has it begin a new tree.
	Fresh bool
	// From has it go below a copy of the whole path to a message, in a new tree. The
	// message is sought as [Workspace.RewindAgent] does; as SESSION@MESSAGE it may be
	// any, also one of another agent. With Fresh it means nothing.
	From string
	// Tree is the name of the new tree, if there is one. Empty means none.
	Tree string
	CutOptions
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
	// [Workspace.Events] tells others of it. The session of text that comes in is the
	// tree; of a message that was added, the file. Nil means that nobody is told.
	Tell func(Event)
}

// A Chatted is the answer to what a user said, and where it stands.
type Chatted struct {
	Tree  string    `json:"tree_id"`
	Node  ID        `json:"node_id"` // the message that is the answer
	Reply string    `json:"reply"`
	Head  AgentHead `json:"head"`

	Held int `json:"held"` // how many messages are queued that wait for [Workspace.ResumeQueue]
}

// Chat says something to an agent, below its head, and carries out the turn that
// answers it, and those that answer what is queued meanwhile. The message is written
// before the model is asked; a new tree and the head in it come with it, as one change.
//
// The lock of the workspace is not held while the model or a tool runs. When ctx ends
// the turn is aborted; what came of it until then is kept. While another process, or
// another call, carries out a turn of the agent the error has the code [Busy]: see
// [Workspace.Say].
//
// A turn that fails is an error with the code [Failed]. Its messages stay, and
// [Workspace.Retry] asks for an answer to the same one.
func (w *Workspace) Chat(ctx context.Context, name string, p Prompt, o TurnOptions) (*Chatted, error) {
	if strings.TrimSpace(p.Text) == "" {
		return nil, &Error{Code: Usage, Message: "there is no prompt", Hint: "give it as an argument or on standard input"}
	}
	if err := checkUTF8("prompt", p.Text); err != nil {
		return nil, err
	}
	return w.carryOut(ctx, name, o, func(ctx context.Context, d *driver) error { return d.begin(ctx, p) })
}

// Retry asks the model once more for an answer to the message of the user that the last
// turn of an agent left without one: it failed, was aborted or interrupted, or came to
// its limit. It is refused if the head was moved since.
func (w *Workspace) Retry(ctx context.Context, name string, o TurnOptions) (*Chatted, error) {
	return w.carryOut(ctx, name, o, func(ctx context.Context, d *driver) error { return d.retry(ctx) })
}

// carryOut has start begin a turn of an agent, and carries it out.
func (w *Workspace) carryOut(ctx context.Context, name string, o TurnOptions, start func(context.Context, *driver) error) (*Chatted, error) {
	w = w.patient()
	a, err := w.Agent(ctx, name)
	if err != nil {
		return nil, err
	}
	unlock, err := w.takeTurn(ctx, a.Name)
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
	return d.answer()
}

// answer says what came of the last turn.
func (d *driver) answer() (*Chatted, error) {
	switch t := &d.turn; t.Ended {
	case agent.Finished:
		return &Chatted{Tree: d.at.Tree, Node: ID(d.said.ID), Reply: d.said.Text, Head: AgentHead{Tree: d.at.Tree, Node: ID(d.at.Node)}, Held: len(d.queue)}, nil
	case agent.Aborted:
		return nil, &Error{Code: Failed, Message: "the turn of " + d.name + " was stopped", Hint: d.retryHint(), Err: context.Canceled}
	case agent.Limited:
		return nil, &Error{Code: Failed, Message: t.Error, Hint: "'bough agent chat " + d.name + " --retry' has it go on"}
	default:
		return nil, &Error{Code: Failed, Message: cmp.Or(t.Error, "the turn of "+d.name+" failed"), Hint: d.retryHint()}
	}
}

func (d *driver) retryHint() string {
	hint := "what was said is kept; 'bough agent chat " + d.name + " --retry' asks again"
	if n := len(d.queue); n > 0 {
		hint += fmt.Sprintf("; %s held for 'bough queue %s --resume'", plural(n, "message")+" "+are(n), d.name)
	}
	return hint
}

// are is the verb for a number of things.
func are(n int) string {
	if n == 1 {
		return "is"
	}
	return "are"
}

// begin says something to the agent.
func (d *driver) begin(ctx context.Context, p Prompt) error {
	op, write := d.op("append"), (*Tx).writeNode
	switch {
	case p.Fresh:
		op.Verb, op.Args["name"] = "agent fresh", p.Tree
		write = func(tx *Tx, a *Agent, n *agent.Node) error { return tx.treeWith(a, p.Tree, messageOf(n)) }
	case p.From != "":
		op.Verb, op.Args["node"], op.Args["name"] = "agent branch", p.From, p.Tree
		write = func(tx *Tx, a *Agent, n *agent.Node) error {
			at, cut, err := tx.View.branchPlace(a, p.From, p.CutOptions)
			if err != nil {
				return err
			}
			if cut.SteppedBack {
				tx.View.w.opts.Note(fmt.Sprintf("stepped back from %s to %s: the path does not end inside a tool call", cut.Requested, at.messageID()))
			}
			return tx.branchWith(a, at, p.Tree, messageOf(n))
		}
	}
	return d.change(ctx, op, write, func(_ *View, _ *Agent, t *agent.Turn, q *agent.Queue) ([]agent.Action, error) {
		return t.Step(q, d.rules, agent.Event{Kind: agent.OnPrompt, ID: d.rules.NewID(), Text: p.Text})
	})
}

// retry asks for an answer after all.
func (d *driver) retry(ctx context.Context) error {
	at, err := d.w.lastWhole(ctx, d.name)
	if err != nil {
		return err
	}
	return d.change(ctx, d.op("append"), (*Tx).writeNode, func(_ *View, a *Agent, t *agent.Turn, q *agent.Queue) ([]agent.Action, error) {
		if t.Last != a.Head.Node {
			return nil, &Error{
				Code:    Refused,
				Message: "the head of " + a.Name + " was moved since its last turn",
				Hint:    fmt.Sprintf("'bough agent rewind %s %s' moves it back", a.Name, cmp.Or(t.Last, "NODE")),
			}
		}
		acts, err := t.Step(q, d.rules, agent.Event{Kind: agent.OnRetry, ID: at})
		if errors.Is(err, agent.ErrNoRetry) {
			return nil, &Error{Code: Refused, Message: a.Name + " left nothing without an answer", Hint: "'bough agent chat' says something to it"}
		}
		return acts, err
	})
}

// deliver delivers an entry that nothing has to wait for.
func (d *driver) deliver(ctx context.Context, e agent.Entry) error {
	return d.change(ctx, d.op("append"), (*Tx).writeNode, func(_ *View, _ *Agent, t *agent.Turn, q *agent.Queue) ([]agent.Action, error) {
		e := e
		e.ID = d.rules.NewID()
		if e.Mode == agent.Steer { // it has nothing to stop
			return t.Step(q, d.rules, agent.Event{Kind: agent.OnPrompt, ID: e.ID, Text: e.Content})
		}
		q.Add(e)
		return t.Step(q, d.rules, agent.Event{Kind: agent.OnQueue})
	})
}
