package workspace

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/bough-dev/bough/agent/model"
	"github.com/bough-dev/bough/agent/turn"
	"github.com/bough-dev/bough/checkpoint"
	"github.com/bough-dev/bough/internal/rawjson"
	"github.com/bough-dev/bough/internal/spoken"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace/agents"
	"github.com/bough-dev/bough/workspace/fault"
	"github.com/bough-dev/bough/workspace/internal/store"
	"github.com/bough-dev/bough/workspace/rewrite"
	"github.com/tidwall/gjson"
)

// replayAgent is the name of the agent that answers if none owns the conversation.
const replayAgent = "replay"

// A replayPlan is what is to be said again. It is stored in the first message that is.
type replayPlan struct {
	Of     rewrite.Origin `json:"of"`    // the end of the path
	First  string         `json:"first"` // the first message of the user
	Edit   string         `json:"edit,omitempty"`
	Text   string         `json:"text,omitempty"` // of Edit
	Agent  string         `json:"agent"`
	Model  string         `json:"model_id,omitempty"`
	System *string        `json:"system,omitempty"`
}

// A replaying is a replay in progress.
type replaying struct {
	replayPlan
	o       rewrite.ReplayOptions
	onto    string // the REF of the message to branch at, "" for none
	prompts []session.Message
	out     *rewrite.Replay
}

// Replay says the messages of the user of a path again, below another message: each is added to a
// new tree of an agent, which answers it as [Agent.Chat] does. The original path does not change.
// The replay stops at an answer that asks something back, unless o.GoOn is set: one that opens a
// batch of clarifications, or ends with a question mark. After that, or if a turn fails, the error
// or the result names the session with which [Workspace.ResumeReplay] continues. No lock is held
// while the model works.
func (w *Workspace) Replay(ctx context.Context, o rewrite.ReplayOptions) (*rewrite.Replay, error) {
	if err := store.CheckTitle("name", o.Name); err != nil {
		return nil, err
	}
	r, err := store.Read(ctx, w.store, func(v *store.View) (*replaying, error) { return planReplay(v, o) })
	if err != nil {
		return nil, err
	}
	if o.DryRun {
		r.out.DryRun = true
		r.left(0)
		return r.out, nil
	}
	if err := w.needAgent(ctx, r.Agent, o.Turn.Model); err != nil {
		return nil, err
	}
	return r.out, w.say(ctx, r, 0, r.onto)
}

// needAgent creates the agent for replays unless it exists.
func (w *Workspace) needAgent(ctx context.Context, name, modelID string) error {
	_, err := w.Agent(name).Info(ctx)
	if name != replayAgent || !store.IsNotFound(err) {
		return err
	}
	if modelID == "" {
		return &fault.Error{Code: fault.Usage, Message: "no agent owns the conversation, so the replay needs a model", Next: fault.Do(fault.SetModel)}
	}
	_, err = w.Agent(name).Create(ctx, agents.Options{Model: modelID})
	return err
}

func planReplay(v *store.View, o rewrite.ReplayOptions) (*replaying, error) {
	place := func(ref string) (*store.Place, error) { return v.Place(ref, false) }
	p, from, isRange, err := rangeOf(o.Ref, nil, place, v)
	if err == nil && !isRange {
		p, err = place(o.Ref)
	}
	if err != nil {
		return nil, err
	}
	path := p.Path(p.Node)
	if o.Edit != "" {
		n, err := onPath(v, p, o.Edit)
		if err != nil {
			return nil, err
		}
		if o.Edit = p.ID(n); !isRange && o.Onto == "" {
			from = slices.Index(path, n)
		}
	} else if !isRange && o.Onto == "" {
		return nil, &fault.Error{Code: fault.Usage, Message: "the replay has no beginning: give a range, a place, or a message to edit"}
	}
	var onto *store.Place
	if o.Onto != "" {
		if onto, err = place(o.Onto); err != nil {
			return nil, err
		}
		if !isRange {
			if _, from, err = parting(v, onto.Line, onto.Path(onto.Node), p.Line, path); err != nil {
				return nil, err
			}
		}
	} else if from > 0 {
		onto = &store.Place{Line: p.Line, Node: path[from-1]}
	}
	r := &replaying{o: o, out: &rewrite.Replay{Turns: []rewrite.Turn{}, Left: []rewrite.Origin{}}}
	if p.Node >= 0 {
		r.Of = rewrite.Origin{Session: p.Source().ID, Message: p.MessageID()}
	}
	if onto != nil && onto.Node >= 0 {
		if err := checkpoint.Cut(onto.Tree, onto.Node); err != nil {
			return nil, err
		}
		r.onto = onto.SessionID() + "@" + onto.MessageID()
	}
	if err := r.load(v, p, from); err != nil {
		return nil, err
	}
	r.First, r.Edit, r.Text, r.Model, r.System = r.prompts[0].ID, o.Edit, o.Text, o.Turn.Model, o.System
	if r.Agent, err = answerer(v, o.Agent, p, onto); err != nil {
		return nil, err
	}
	r.out.Of, r.out.Agent = r.Of, r.Agent
	return r, nil
}

// answerer returns the agent that answers: the named one, the owner of a line, or [replayAgent].
func answerer(v *store.View, name string, places ...*store.Place) (string, error) {
	if name != "" {
		a, err := v.Agent(name)
		if err != nil {
			return "", err
		}
		return a.Name, nil
	}
	for _, p := range places {
		if p == nil {
			continue
		}
		owner, err := v.Owner(p.Parts[0].ID)
		if err != nil || owner != nil {
			return owner.Name, err
		}
	}
	return replayAgent, nil
}

// load reads the messages of the user of the path to p from an index on.
func (r *replaying) load(v *store.View, p *store.Place, from int) error {
	edited := false
	for _, n := range p.Path(p.Node)[from:] {
		m, err := v.Message(p.Line, n)
		if err != nil {
			return err
		}
		if !spoken.ByPerson(m) {
			continue
		}
		if m.ID == cmp.Or(r.o.Edit, r.Edit) {
			edited = true
			if m.Raw, err = spoken.WithText(m.Raw, cmp.Or(r.o.Text, r.Text)); err != nil {
				return err
			}
		}
		r.prompts = append(r.prompts, m)
	}
	switch {
	case len(r.prompts) == 0:
		return &fault.Error{Code: fault.NotFound, Message: "there is no message of the user to say again"}
	case !edited && r.o.Edit != "":
		return &fault.Error{Code: fault.Refused, Message: "the message " + r.o.Edit + " is not among the messages of the user to say again"}
	}
	return nil
}

// left sets the messages that are not said again, from an index on.
func (r *replaying) left(from int) {
	r.out.Left = []rewrite.Origin{}
	for _, m := range r.prompts[from:] {
		r.out.Left = append(r.out.Left, rewrite.Origin{Session: r.Of.Session, Message: m.ID})
	}
}

// say says the messages again from an index on. The first one begins a new tree at onto if the
// index is 0, else it is said at the head of the agent.
func (w *Workspace) say(ctx context.Context, r *replaying, from int, onto string) error {
	for i := from; i < len(r.prompts); i++ {
		m := r.prompts[i]
		again := &turn.Replayed{Session: r.Of.Session, Message: m.ID}
		p := agents.Prompt{Text: spoken.Text(m.Raw), Content: []byte(gjson.GetBytes(m.Raw, "content").Raw), Replayed: again}
		if i == 0 {
			again.Plan = rawjson.Compact(r.replayPlan)
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
	t := rewrite.Turn{From: rewrite.Origin{Session: r.Of.Session, Message: r.prompts[i].ID}, Prompt: session.ID(a.Turn.Prompt), Answer: said.Node, Text: said.Reply}
	r.out.Turns = append(r.out.Turns, t)
	r.out.Session, r.out.Message = session.ID(said.Tree), said.Node
	if r.o.OnTurn != nil {
		r.o.OnTurn(t)
	}
	path, err := w.conversation(ctx, said.Tree, string(said.Node))
	if err != nil {
		return false, err
	}
	r.out.Asked = i+1 < len(r.prompts) && !r.o.GoOn && asksBack(path[len(path)-1], said.Reply)
	return r.out.Asked, nil
}

// asksBack reports whether an answer asks something: it opens a batch of clarifications, or its
// last line ends with a question mark.
func asksBack(m model.Message, text string) bool {
	if turn.Kind(gjson.GetBytes(m.Metadata, "kind").String()) == turn.KindClarificationOpened {
		return true
	}
	text = strings.TrimRightFunc(text, func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune("*_`\"'”’»)", r) })
	return strings.HasSuffix(text, "?") || strings.HasSuffix(text, "？") || strings.HasSuffix(text, "؟")
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
			return &countedModel{m, r.o.Count, &r.out.Tokens}, nil
		}
	}
	return o
}

// A countedModel counts what a model reads and writes. A turn asks its models one at a time.
type countedModel struct {
	model.Model
	count func(raw []byte) int
	total *rewrite.ModelTokens
}

func (m *countedModel) Ask(ctx context.Context, r *model.Request, stream func(string)) (*model.Reply, error) {
	said := func(role, text string) int {
		return m.count(rawjson.Compact(map[string]string{"role": role, "content": text}))
	}
	input := said("system", r.System)
	for _, message := range r.Messages {
		if raw, err := json.Marshal(message); err == nil {
			input += m.count(raw)
		}
	}
	reply, err := m.Model.Ask(ctx, r, stream)
	if err == nil {
		m.total.Input += input
		m.total.Output += said("assistant", reply.Text)
		for _, c := range reply.Calls {
			m.total.Output += said("assistant", c.Name+c.Arguments)
		}
	}
	return reply, err
}

// ResumeReplay continues the replay of a session that [Workspace.Replay] made and that was stopped
// or killed: what is answered stays. If name is empty, it is the tree of the head of the agent
// that was last used for one. Of o only Turn, Count, OnTurn and GoOn are used.
func (w *Workspace) ResumeReplay(ctx context.Context, name string, o rewrite.ReplayOptions) (*rewrite.Replay, error) {
	s, err := store.Read(ctx, w.store, func(v *store.View) (*resumed, error) { return findReplay(v, name, o) })
	if err != nil {
		return nil, err
	}
	r := s.replaying
	if err := w.settle(ctx, r.Agent, false); err != nil {
		return nil, err
	}
	// An interrupted turn may have written more.
	if s, err = store.Read(ctx, w.store, func(v *store.View) (*resumed, error) { return findReplay(v, s.tree, o) }); err != nil {
		return nil, err
	}
	r = s.replaying
	r.out.Session, r.out.Message = session.ID(s.tree), session.ID(s.tip)
	if s.answered {
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
	if a.Turn.Prompt != s.prompt || a.Head.Tree != s.tree {
		return nil, &fault.Error{
			Code: fault.Refused, Message: fmt.Sprintf("the message %s was not answered, and the agent %s has begun another turn since", s.prompt, r.Agent),
			Next: fault.Do(fault.RewindAgent, r.Agent, s.tree+"/"+s.prompt),
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

// A resumed is how far a replay is.
type resumed struct {
	*replaying
	tree, tip string
	last      int    // the index of the last message that was said again
	prompt    string // the id of that in the tree
	answered  bool
}

// findReplay returns how far the replay is that made a session.
func findReplay(v *store.View, name string, o rewrite.ReplayOptions) (*resumed, error) {
	if name == "" {
		var at int64
		err := v.EachAgent(func(_ string, a *agents.Agent, err error) error {
			if err != nil {
				return nil
			}
			if v.Index.Entry(a.Head.Tree) == nil {
				return nil
			}
			if s, err := howFar(v, a.Head.Tree, o); err == nil && (!s.answered || s.last+1 < len(s.prompts)) {
				if active := entryOf(v, a.Head.Tree).LastActive.UnixNano(); active > at {
					name, at = a.Head.Tree, active
				}
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
		if name == "" {
			return nil, &fault.Error{Code: fault.NotFound, Message: "no replay is unfinished"}
		}
	}
	return howFar(v, name, o)
}

func howFar(v *store.View, name string, o rewrite.ReplayOptions) (*resumed, error) {
	l, err := v.LineNamed(name, false)
	if err != nil {
		return nil, err
	}
	tip, err := v.End(l, false)
	if err != nil {
		return nil, err
	}
	if owner, err := v.Owner(l.Parts[0].ID); err == nil && owner != nil {
		if nodes := l.Find(owner.Tree(l.Parts[0].ID).Node); len(nodes) == 1 {
			tip = nodes[0]
		}
	}
	s := &resumed{tree: l.Parts[0].ID}
	var said []string // the messages that were said again, since the plan
	r := &replaying{o: rewrite.ReplayOptions{Turn: o.Turn, Count: o.Count, OnTurn: o.OnTurn, GoOn: o.GoOn}}
	for _, n := range l.Path(tip) {
		m, err := v.Message(l, n)
		if err != nil {
			return nil, err
		}
		again := gjson.GetBytes(m.Raw, "metadata.bough.replayed")
		if plan := again.Get("plan"); plan.IsObject() {
			said, r.replayPlan = nil, replayPlan{}
			if err := json.Unmarshal([]byte(plan.Raw), &r.replayPlan); err != nil {
				return nil, &fault.Error{Code: fault.Damaged, Message: "the plan of the replay in " + m.ID + " cannot be read: " + err.Error()}
			}
		}
		calls, _ := l.Tools(n)
		switch {
		case again.Exists():
			said, s.prompt, s.answered = append(said, again.Get("message_id").String()), m.ID, false
		case m.Role() == "assistant":
			s.answered = len(calls) == 0 && !gjson.GetBytes(m.Raw, "metadata.bough.partial").Bool()
		default:
			s.answered = false
		}
	}
	if tip >= 0 {
		s.tip = l.ID(tip)
	}
	if len(said) == 0 || r.First == "" {
		return nil, &fault.Error{Code: fault.NotFound, Message: s.tree + " is not the branch of a replay"}
	}
	p, err := v.PlaceAt(r.Of.Session, r.Of.Message, false)
	if err != nil {
		return nil, err
	}
	nodes := p.Find(r.First)
	path := p.Path(p.Node)
	if len(nodes) == 0 || !slices.Contains(path, nodes[0]) {
		return nil, store.NoSuch("message", r.First)
	}
	r.out = &rewrite.Replay{Turns: []rewrite.Turn{}, Left: []rewrite.Origin{}, Of: r.Of, Agent: r.Agent}
	if err := r.load(v, p, slices.Index(path, nodes[0])); err != nil {
		return nil, err
	}
	s.replaying = r
	s.last = slices.IndexFunc(r.prompts, func(m session.Message) bool { return m.ID == said[len(said)-1] })
	if s.last < 0 {
		return nil, store.NoSuch("message", said[len(said)-1])
	}
	return s, nil
}
