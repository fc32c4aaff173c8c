package workspace

import (
	"cmp"
	"slices"

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

// A replaying is a replay in progress.
type replaying struct {
	replay.Plan
	o       rewrite.ReplayOptions
	onto    string            // the REF of the message to branch at, "" for none
	prompts []session.Message // the messages that are said again
	out     *rewrite.Replay
}

// planReplay plans a replay. If it is a dry run, the result has the estimate.
func planReplay(v *store.View, o rewrite.ReplayOptions) (*replaying, error) {
	p, from, err := replayedPath(v, &o)
	if err != nil {
		return nil, err
	}
	onto, from, err := replayPlace(v, p, from, o)
	if err != nil {
		return nil, err
	}
	r := &replaying{o: o, out: &rewrite.Replay{Turns: []rewrite.Turn{}, Left: []turn.Origin{}, Merges: []turn.Origin{}, DryRun: o.DryRun}}
	if p.Node >= 0 {
		r.Of = turn.Origin{Session: p.Source().ID, Message: p.MessageID()}
	}
	if onto != nil && onto.Node >= 0 {
		if err := checkpoint.Cut(onto.Tree, onto.Node); err != nil {
			return nil, err
		}
		r.onto = onto.SessionID() + "@" + onto.MessageID()
	}
	r.Edit, r.Text, r.Model, r.System = o.Edit, o.Text, o.Turn.Model, o.System
	if err := r.load(v, p, from); err != nil {
		return nil, err
	}
	r.First = r.prompts[0].ID
	if r.Agent, err = answerer(v, o.Agent, p, onto); err != nil {
		return nil, err
	}
	r.out.Of, r.out.Agent = r.Of, r.Agent
	if o.DryRun {
		r.left(0)
		return r, r.estimate(v, p, from, onto)
	}
	return r, nil
}

// replayedPath returns the path that is said again and the index of its first message, -1 if it is
// the first one that the place of the replay has not. It replaces o.Edit by the id of the message.
func replayedPath(v *store.View, o *rewrite.ReplayOptions) (p *store.Place, from int, err error) {
	place := func(ref string) (*store.Place, error) { return v.Place(ref, false) }
	p, from, isRange, err := rangeOf(o.Ref, nil, place, v)
	if err == nil && !isRange {
		from = -1
		p, err = place(o.Ref)
	}
	if err != nil {
		return nil, 0, err
	}
	if o.Edit != "" {
		n, err := onPath(v, p, o.Edit)
		if err != nil {
			return nil, 0, err
		}
		if o.Edit = p.ID(n); !isRange && o.Onto == "" {
			from = slices.Index(p.Path(p.Node), n)
		}
	}
	if from < 0 && o.Onto == "" {
		return nil, 0, &fault.Error{Code: fault.Usage, Message: "the replay has no beginning: give a range, a place, or a message to edit"}
	}
	return p, from, nil
}

// replayPlace returns the place below which the path to p is said again from an index on, nil for
// none, and that index.
func replayPlace(v *store.View, p *store.Place, from int, o rewrite.ReplayOptions) (*store.Place, int, error) {
	path := p.Path(p.Node)
	if o.Onto == "" {
		if from == 0 {
			return nil, 0, nil
		}
		return &store.Place{Line: p.Line, Node: path[from-1]}, from, nil
	}
	onto, err := v.Place(o.Onto, false)
	if err == nil && from < 0 {
		_, from, err = parting(v, onto.Line, onto.Path(onto.Node), p.Line, path)
	}
	return onto, from, err
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
		if err != nil {
			return "", err
		}
		if owner != nil {
			return owner.Name, nil
		}
	}
	return replayAgent, nil
}

// load reads the messages of the user of the path to p from an index on, without merges.
func (r *replaying) load(v *store.View, p *store.Place, from int) error {
	edited := false
	messages, err := v.Messages(p.Line, p.Path(p.Node)[from:])
	if err != nil {
		return err
	}
	for _, m := range messages {
		if m.IsMerge() {
			r.out.Merges = append(r.out.Merges, turn.Origin{Session: r.Of.Session, Message: m.ID})
		}
		if !spoken.Asks(m) {
			continue
		}
		if m.ID == r.Edit {
			edited = true
			if m.Raw, err = spoken.WithText(m.Raw, r.Text); err != nil {
				return err
			}
		}
		r.prompts = append(r.prompts, m)
	}
	switch {
	case len(r.prompts) == 0:
		return &fault.Error{Code: fault.NotFound, Message: "there is no message of the user to say again"}
	case !edited && r.o.Edit != "":
		return &fault.Error{Code: fault.Refused, Message: "the message " + r.Edit + " is not among the messages of the user to say again"}
	}
	return nil
}

// left sets the messages that are not said again, from an index on.
func (r *replaying) left(from int) {
	r.out.Left = []turn.Origin{}
	for _, m := range r.prompts[from:] {
		r.out.Left = append(r.out.Left, turn.Origin{Session: r.Of.Session, Message: m.ID})
	}
}

// estimate sets about how many tokens the replay of the path to p from an index on takes.
func (r *replaying) estimate(v *store.View, p *store.Place, from int, onto *store.Place) error {
	count := r.o.Count
	if count == nil {
		return nil
	}
	modelID, before, err := r.answering(v)
	if err != nil {
		return err
	}
	if onto != nil {
		messages, err := v.Messages(onto.Line, onto.Path(onto.Node))
		if err != nil {
			return err
		}
		for _, m := range messages {
			before += count(m.Raw)
		}
	}
	messages, err := v.Messages(p.Line, p.Path(p.Node)[from:])
	if err != nil {
		return err
	}
	var path []replay.Size
	for _, m := range messages {
		if m.IsMerge() {
			continue
		}
		s := replay.Size{Again: spoken.Asks(m), Answer: m.Role() == "assistant"}
		if i := slices.IndexFunc(r.prompts, func(again session.Message) bool { return again.ID == m.ID }); i >= 0 {
			m = r.prompts[i] // in other words
		}
		s.Tokens = count(m.Raw)
		path = append(path, s)
	}
	r.out.Tokens = replay.Estimate(before, path)
	r.out.Tokens.Cost = r.costOf(modelID, r.out.Tokens)
	return nil
}

// answering returns the model that answers and the number of tokens of its system prompt.
func (r *replaying) answering(v *store.View) (modelID string, prompt int, err error) {
	a, err := v.Agent(r.Agent)
	if err != nil && !store.IsNotFound(err) {
		return "", 0, err
	}
	system := ""
	if err == nil {
		modelID, system = a.Model, a.System
	}
	if r.System != nil {
		system = *r.System
	}
	if system != "" {
		prompt = r.o.Count(saidBy("system", system))
	}
	return cmp.Or(r.Model, modelID), prompt, nil
}

// saidBy returns the stored form of a message with a text, to be counted.
func saidBy(role, text string) []byte {
	return rawjson.Compact(map[string]string{"role": role, "content": text})
}

// A resumed is a replay that is to be continued.
type resumed struct {
	*replaying
	far       replay.Progress
	tree, tip string
	last      int            // the index of the last message that was said again
	turns     []rewrite.Turn // so far; the answer of the last one can be missing
	asked     bool           // the last answer asks something back
}

// soFar returns how far the replay is.
func (s *resumed) soFar() *rewrite.Replay {
	r := s.out
	r.DryRun, r.Session, r.Message, r.Turns = true, session.ID(s.tree), session.ID(s.tip), s.turns
	next := s.last
	if s.far.Answered {
		next++
	}
	s.left(next)
	r.Asked = s.asked && len(r.Left) > 0
	return r
}

// finished reports whether each message was said again and answered.
func (s *resumed) finished() bool { return s.far.Answered && s.last+1 == len(s.prompts) }

// findReplay returns the replay that made a session. If name is empty, it is the unfinished one at
// the head of an agent that was last active.
func findReplay(v *store.View, name string, o rewrite.ReplayOptions) (*resumed, error) {
	if name != "" {
		return readReplay(v, name, o)
	}
	var at int64
	err := v.EachAgent(func(_ string, a *agents.Agent, err error) error {
		if err != nil || v.Index.Entry(a.Head.Tree) == nil {
			return nil
		}
		if s, err := readReplay(v, a.Head.Tree, o); err == nil && !s.finished() {
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
	return readReplay(v, name, o)
}

// readReplay reads how far the replay is that made a session.
func readReplay(v *store.View, name string, o rewrite.ReplayOptions) (*resumed, error) {
	l, tip, err := replayTip(v, name)
	if err != nil {
		return nil, err
	}
	s := &resumed{tree: l.Parts[0].ID}
	if tip >= 0 {
		s.tip = l.ID(tip)
	}
	nodes := l.Path(tip)
	messages, err := v.Messages(l, nodes)
	if err != nil {
		return nil, err
	}
	steps := make([]replay.Step, len(messages))
	for i, m := range messages {
		calls, _ := l.Tools(nodes[i])
		if steps[i], err = replay.StepOf(m, len(calls) > 0); err != nil {
			return nil, &fault.Error{Code: fault.Damaged, Message: "the plan of the replay in " + m.ID + " cannot be read: " + err.Error()}
		}
	}
	var ok bool
	if s.far, ok = replay.Far(steps); !ok {
		return nil, &fault.Error{Code: fault.NotFound, Message: s.tree + " is not the branch of a replay"}
	}
	s.replaying, err = reopenReplay(v, s.far.Plan, o)
	if err != nil {
		return nil, err
	}
	s.last = slices.IndexFunc(s.prompts, func(m session.Message) bool { return m.ID == s.far.Of })
	if s.last < 0 {
		return nil, store.NoSuch("message", s.far.Of)
	}
	s.tell(messages)
	return s, nil
}

// tell sets the turns so far, given the messages of the path.
func (s *resumed) tell(messages []session.Message) {
	s.turns = []rewrite.Turn{}
	for _, said := range s.far.Said {
		t := rewrite.Turn{From: turn.Origin{Session: s.Of.Session, Message: said.Of}, Prompt: session.ID(said.Prompt), Answer: session.ID(said.Answer)}
		if i := slices.IndexFunc(messages, func(m session.Message) bool { return m.ID == said.Answer }); i >= 0 {
			t.Text = spoken.Text(messages[i].Raw)
		}
		s.turns = append(s.turns, t)
	}
	if s.far.Answered {
		last := messages[len(messages)-1]
		s.asked = replay.Asks(turn.Kind(gjson.GetBytes(last.Raw, "metadata.kind").Str), spoken.Text(last.Raw))
	}
}

// replayTip returns a line and its end: where the head of the agent that owns it was last, else
// its newest leaf.
func replayTip(v *store.View, name string) (l *store.Line, tip int, err error) {
	if l, err = v.LineNamed(name, false); err != nil {
		return nil, 0, err
	}
	if tip, err = v.End(l, false); err != nil {
		return nil, 0, err
	}
	if owner, err := v.Owner(l.Parts[0].ID); err == nil && owner != nil {
		if nodes := l.Find(owner.Tree(l.Parts[0].ID).Node); len(nodes) == 1 {
			tip = nodes[0]
		}
	}
	return l, tip, nil
}

// reopenReplay reads the messages that a stored plan says again.
func reopenReplay(v *store.View, plan replay.Plan, o rewrite.ReplayOptions) (*replaying, error) {
	r := &replaying{
		Plan: plan,
		o:    rewrite.ReplayOptions{Turn: o.Turn, Count: o.Count, Price: o.Price, OnTurn: o.OnTurn, GoOn: o.GoOn},
		out:  &rewrite.Replay{Turns: []rewrite.Turn{}, Left: []turn.Origin{}, Merges: []turn.Origin{}, Of: plan.Of, Agent: plan.Agent},
	}
	p, err := v.PlaceAt(plan.Of.Session, plan.Of.Message, false)
	if err != nil {
		return nil, err
	}
	path := p.Path(p.Node)
	first := slices.IndexFunc(path, func(n int) bool { return p.ID(n) == plan.First })
	if first < 0 {
		return nil, store.NoSuch("message", plan.First)
	}
	return r, r.load(v, p, first)
}
