package page

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"slices"
	"sync"

	"github.com/bough-dev/bough/agent/turn"
	"github.com/bough-dev/bough/internal/api"
	"github.com/bough-dev/bough/internal/spoken"
	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/events"
	"github.com/bough-dev/bough/workspace/fault"
	"github.com/bough-dev/bough/workspace/rewrite"
)

// replays are the replays that the page began, by the session that each makes.
type replays struct {
	mu   sync.Mutex
	list map[string]*replayRun
}

// A replayRun is a replay in progress, or one that ended.
type replayRun struct {
	end    context.CancelFunc // nil after its end
	tokens rewrite.ModelTokens
	failed *fault.Error
}

// begin records that a replay makes a session. Of several, the last one counts.
func (r *replays) begin(session string, run *replayRun) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.list == nil {
		r.list = map[string]*replayRun{}
	}
	r.list[session] = run
}

// ended records the end of a replay.
func (r *replays) ended(run *replayRun, result any, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	run.end()
	run.end = nil
	if done, ok := result.(*api.Replayed); ok && done != nil {
		run.tokens = done.Tokens
	}
	if err != nil {
		run.failed = workspace.Explain(err)
	}
}

// of returns the last replay that the page began for a session, the zero value if there was none.
func (r *replays) of(session string) replayRun {
	r.mu.Lock()
	defer r.mu.Unlock()
	if run := r.list[session]; run != nil {
		return *run
	}
	return replayRun{}
}

// cancel ends a replay. What is answered stays, and it can be resumed.
func (r *replays) cancel(session string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	run := r.list[session]
	if run == nil || run.end == nil {
		return &fault.Error{Code: fault.NotFound, Message: "no replay is in progress"}
	}
	run.end()
	return nil
}

// replay begins or resumes a replay, and returns the path of how far it is. It continues in the
// background.
func (p *Page) replay(ctx context.Context, a action, fields url.Values) (to string, err error) {
	v, _ := api.Find("replay")
	in := arguments(v, a, fields)
	if ref := in.Get("edit"); ref != "" {
		if was, err := p.workspace.UserText(ctx, ref); err == nil && was == in.Get("text") {
			in.Del("edit")
			in.Del("text")
		}
	}
	args, err := v.Parse(in)
	if err != nil {
		return "", err
	}
	begun, ended := make(chan string, 1), make(chan error, 1)
	if err := p.background(func(ctx context.Context) {
		ctx, end := context.WithCancel(ctx)
		run := &replayRun{end: end}
		var once sync.Once
		env := api.Env{Workspace: p.workspace, Models: p.opts.Models, OnEvent: func(e events.Event) {
			if e.Session != "" {
				once.Do(func() {
					p.replays.begin(string(e.Session), run)
					begun <- string(e.Session)
				})
			}
		}}
		result, err := v.Call(ctx, env, args)
		p.replays.ended(run, result, err)
		if err != nil {
			p.opts.Log(fmt.Sprintf("replay: %v", err))
		}
		ended <- err
	}); err != nil {
		return "", err
	}
	select {
	case err := <-ended: // or it has both begun and ended
		if len(begun) == 0 {
			return replayAddress(fields.Get("resume")), err
		}
		return replayAddress(<-begun), nil
	case made := <-begun:
		return replayAddress(made), nil
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

// replayAddress returns the address of how far the replay is that makes a session.
func replayAddress(session string) string { return (&url.URL{Path: "/replay/" + session}).String() }

// againAddress returns the address of the form that says the messages of a path again. from is the
// first one, "" for the first of the path.
func againAddress(ref, from string) string {
	q := url.Values{"ref": {ref}}
	if from != "" {
		q.Set("from", from)
	}
	return "/replay?" + q.Encode()
}

// A replayForm is the form that says messages again.
type replayForm struct {
	Ref     string // the end of the path
	Title   string
	Href    string
	Range   string // the messages that are said again, as the verb takes them
	Prompts []replayPrompt
	From    string // the first message
	Targets []choice
	Onto    string         // below which message, "" for where they were said
	Said    []replayPrompt // those from From on
	Edit    string         // the message whose text is changed, "" for none
	Text    string         // its words
	Agent   string         // who answers
	Tokens  string         // about how many it takes
	Merges  []replayTurn   // that are omitted
	Models  bool           // the server has models
	Here    string
}

// A replayPrompt is a message of a person.
type replayPrompt struct {
	ID, Words string
	Edit      string // the address of the form in which it can be changed
}

// showReplayForm shows the form that says messages of a path again.
func showReplayForm(c *request) (view, error) {
	ctx, q := c.r.Context(), c.r.URL.Query()
	f := &replayForm{Ref: cmp.Or(q.Get("ref"), "HEAD"), From: q.Get("from"), Onto: q.Get("onto"), Edit: q.Get("edit"), Models: c.opts.Models != nil}
	shown, err := c.workspace.Show(ctx, f.Ref, partial())
	if err != nil {
		return view{}, err
	}
	place, err := c.place(f.Ref)
	if err != nil {
		return view{}, err
	}
	c.session = place.session
	f.Title, f.Href = clip(shown.Entry.Title), place.link.Href
	if err := f.pick(shown); err != nil {
		return view{}, err
	}
	if _, f.Targets, err = choices(ctx, c.workspace, f.Ref); err != nil {
		return view{}, err
	}
	if f.Onto != "" && !slices.ContainsFunc(f.Targets, func(one choice) bool { return one.Ref == f.Onto }) {
		one, err := c.choiceOf(f.Onto)
		if err != nil {
			return view{}, err
		}
		f.Targets = append(f.Targets, one)
	}
	prices, err := api.Prices(c.workspace.Dir())
	if err != nil {
		return view{}, err
	}
	plan, err := c.workspace.Replay(ctx, rewrite.ReplayOptions{Ref: f.Range, Onto: f.Onto, DryRun: true, Count: api.CountMessage(), Price: prices})
	if err != nil {
		return view{}, err
	}
	f.Tokens = "about " + api.SpentText(plan.Tokens)
	f.Merges = leftOutMerges(plan, shown)
	f.Agent, f.Here = plan.Agent, c.r.URL.RequestURI()
	return view{Template: "replay", Title: "Say again: " + f.Title, Data: f}, nil
}

// leftOutMerges returns the merges that a replay of a path omits.
func leftOutMerges(r *rewrite.Replay, path *workspace.Conversation) (list []replayTurn) {
	for _, m := range path.Messages {
		if slices.ContainsFunc(r.Merges, func(o turn.Origin) bool { return o.Message == m.ID }) {
			at := location{Session: r.Of.Session, At: r.Of.Message, Anchor: m.ID}
			list = append(list, replayTurn{Href: at.String(), Words: cmp.Or(spoken.Words(m), "(no text)"), State: "omitted"})
		}
	}
	return list
}

// pick sets which messages of a path are said again.
func (f *replayForm) pick(shown *workspace.Conversation) error {
	here := url.Values{"ref": {f.Ref}}
	if f.Onto != "" {
		here.Set("onto", f.Onto)
	}
	before := "" // the message before the first one
	for i, m := range shown.Messages {
		if !spoken.ByPerson(m) {
			continue
		}
		if f.From == "" {
			f.From = m.ID
		}
		one := replayPrompt{ID: m.ID, Words: cmp.Or(spoken.Words(m), "(no text)")}
		f.Prompts = append(f.Prompts, one)
		if m.ID != f.From && len(f.Said) == 0 {
			continue
		}
		if len(f.Said) == 0 && i > 0 {
			before = refOf(shown.Entry.ID, shown.Messages[i-1].ID)
		}
		here.Set("from", f.From)
		here.Set("edit", m.ID)
		one.Edit = "/replay?" + here.Encode()
		if m.ID == f.Edit {
			f.Text = spoken.Text(m.Raw)
		}
		f.Said = append(f.Said, one)
	}
	if len(f.Said) == 0 {
		return &fault.Error{Code: fault.NotFound, Message: "there is no message of the user to say again"}
	}
	last := shown.Messages[len(shown.Messages)-1].ID
	f.Range = before + ".." + refOf(shown.Entry.ID, last)
	return nil
}

// A replayPage is how far a replay is.
type replayPage struct {
	Session  string
	Title    string
	Href     string // of the new branch
	Of       snapshotLink
	Agent    string
	Chat     string // the address of the agent
	Turns    []replayTurn
	Running  bool
	Stops    bool // the page can end it
	Asked    bool
	Done     int // how many messages are answered
	Total    int
	Left     bool         // some are not, and it does not run
	Merges   []replayTurn // of the old path, which are omitted
	Tokens   string       // of the last run that the page began, "" if they are unknown
	Failed   string
	Hint     string
	Compared *comparison // with the old path, nil while it runs
	Here     string
}

// A replayTurn is a message that is said again.
type replayTurn struct {
	Words string
	Href  string // of the answer, "" if there is none yet
	State string
}

// showReplay shows how far the replay is that makes a session.
func showReplay(c *request) (view, error) {
	ctx, name := c.r.Context(), c.r.PathValue("session")
	dry := rewrite.ReplayOptions{DryRun: true}
	r, err := c.workspace.ResumeReplay(ctx, name, dry)
	if err != nil {
		return view{}, err
	}
	made := string(r.Session)
	place, err := c.place(made)
	if err != nil {
		return view{}, err
	}
	c.session = made
	of := refOf(r.Of.Session, r.Of.Message)
	origin, err := c.place(of)
	if err != nil {
		return view{}, err
	}
	p := &replayPage{
		Session: made, Title: place.link.Title, Href: place.link.Href, Of: origin.link, Agent: r.Agent, Chat: agentAddress(r.Agent),
		Here: replayAddress(made),
	}
	run := c.replays.of(made)
	p.Stops = run.end != nil
	if p.Running, err = c.isReplaying(r.Agent, made, p.Stops); err != nil {
		return view{}, err
	}
	if !p.Running { // it may have ended after r was read
		if r, err = c.workspace.ResumeReplay(ctx, made, dry); err != nil {
			return view{}, err
		}
	}
	p.Asked, p.Total = r.Asked, len(r.Turns)
	if err := p.list(c, r); err != nil {
		return view{}, err
	}
	p.Left = p.Done < p.Total && !p.Running
	if !p.Running {
		if run.tokens != (rewrite.ModelTokens{}) {
			p.Tokens = "about " + api.SpentText(run.tokens)
		}
		if run.failed != nil {
			p.Failed, p.Hint = run.failed.Message, run.failed.Hint
		}
		if p.Compared, err = comparisonOf(ctx, c.workspace, []string{of, refOf(made, string(r.Message))}, c.opts.Now()); err != nil {
			return view{}, err
		}
	}
	return view{Template: "replaying", Title: "Replay: " + p.Title, Data: p}, nil
}

// isReplaying reports whether an agent is at work in a session.
func (c *request) isReplaying(agent, session string, begun bool) (bool, error) {
	a, err := c.workspace.Agent(agent).Info(c.r.Context())
	if err != nil {
		return false, err
	}
	return begun || a.Head.Tree == session && cmp.Or(a.Turn.State, turn.Idle) != turn.Idle, nil
}

// list adds the messages: those that were said, and those that are left.
func (p *replayPage) list(c *request, r *rewrite.Replay) error {
	old, err := c.workspace.Show(c.r.Context(), refOf(r.Of.Session, r.Of.Message), partial())
	if err != nil {
		return err
	}
	p.Merges = leftOutMerges(r, old)
	words := map[string]string{}
	for _, m := range old.Messages {
		words[m.ID] = cmp.Or(spoken.Words(m), "(no text)")
	}
	said := map[string]bool{}
	for _, t := range r.Turns {
		said[t.From.Message] = true
		one := replayTurn{Words: words[t.From.Message], State: "not answered"}
		switch {
		case t.Answer != "":
			one.State, one.Href = "answered", location{Session: string(r.Session), At: string(t.Answer), Anchor: string(t.Answer)}.String()
			p.Done++
		case p.Running:
			one.State = "being answered"
		}
		p.Turns = append(p.Turns, one)
	}
	for _, m := range r.Left {
		if !said[m.Message] {
			p.Turns = append(p.Turns, replayTurn{Words: words[m.Message], State: "to be said"})
			p.Total++
		}
	}
	return nil
}
