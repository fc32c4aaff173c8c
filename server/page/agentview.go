package page

import (
	"cmp"
	"time"

	"github.com/bough-dev/bough/agent/turn"
	"github.com/bough-dev/bough/internal/plural"
	"github.com/bough-dev/bough/workspace/agents"
	"github.com/bough-dev/bough/workspace/bookmark"
)

// stateText returns what an agent does.
func stateText(s turn.State) string {
	switch s {
	case turn.Streaming:
		return "answering"
	case turn.InTool:
		return "running a tool"
	case turn.Confirming:
		return "waiting for a confirmation"
	}
	return "idle"
}

// An agentRow is an agent in the list.
type agentRow struct {
	Name, Href, About, State, Words string
}

// showAgents lists the agents.
func showAgents(c *request) (view, error) {
	ctx := c.r.Context()
	list, err := c.workspace.Agents(ctx)
	if err != nil {
		return view{}, err
	}
	status, err := c.workspace.Status(ctx)
	if err != nil {
		return view{}, err
	}
	rows := make([]agentRow, len(list.Agents))
	for i, a := range list.Agents {
		rows[i] = agentRow{Name: a.Name, Href: agentAddress(a.Name), About: count(len(a.Trees), "topic"), Words: clip(a.System)}
		if a.Model != "" {
			rows[i].About = clip(a.Model) + " · " + rows[i].About
		}
		for _, r := range status.Agents {
			if r.Name == a.Name {
				rows[i].State = stateText(r.State)
			}
		}
	}
	return view{Template: "agents", Title: "Agents", Data: rows}, nil
}

// An agentPage is an agent with its chat.
type agentPage struct {
	Name         string
	Here         string
	State        turn.State
	StateText    string
	Busy         bool
	Facts        []string
	Error        string // why the last turn failed
	Crumbs       []crumb
	Cards        []card
	Conversation *conversation
	Queue        []queued
	Held         bool // the queue waits for the user
	Composer     composer
}

// A crumb is a step of the way to the head of an agent.
type crumb struct {
	Title   string
	Href    string
	Current bool
}

// A card is a topic of an agent: one of its trees, with its bookmarks.
type card struct {
	ID      string
	Title   string
	Summary string // of the newest bookmark of the whole topic
	About   string
	Href    string
	Active  bool
	Marks   []markLink
}

// A markLink leads to a bookmark.
type markLink struct{ Title, Summary, Href string }

// A queued is a message in the queue of an agent.
type queued struct {
	ID, Content string
	Mode        string // steer or follow-up
	ModeText    string
	State       turn.EntryState
	Held        bool
}

// showAgent shows the chat of an agent.
func showAgent(c *request) (view, error) {
	ctx := c.r.Context()
	a := c.workspace.Agent(c.r.PathValue("name"))
	info, err := a.Info(ctx)
	if err != nil {
		return view{}, err
	}
	if c.r.PathValue("name") != info.Name {
		return view{Location: agentAddress(info.Name)}, nil
	}
	snapshot, err := a.Snapshot(ctx)
	if err != nil {
		return view{}, err
	}
	trees, err := a.Trees(ctx, agents.TreesOptions{})
	if err != nil {
		return view{}, err
	}
	q, err := c.pathQuery()
	if err != nil {
		return view{}, err
	}
	q.Session = snapshot.Session
	if q.At == "" {
		q.Leaf = string(snapshot.Head)
	}
	shown, err := c.conversation(q)
	if err != nil {
		return view{}, err
	}
	p := agentPageOf(info, snapshot, trees.Trees, c.opts.Now())
	p.Conversation = shown
	p.Crumbs = append(p.Crumbs, p.lastBookmark(shown, snapshot.Bookmarks)...)
	return view{Template: "agent", Title: info.Name, Data: p}, nil
}

// agentPageOf returns the page of an agent, without its conversation.
func agentPageOf(a *agents.Agent, s *agents.Snapshot, trees []agents.Tree, now time.Time) *agentPage {
	p := &agentPage{
		Name: a.Name, Here: agentAddress(a.Name), State: cmp.Or(s.Turn.State, turn.Idle), StateText: stateText(s.Turn.State), Error: s.Turn.Error,
		Crumbs: []crumb{{Title: "Agents", Href: "/agents"}, {Title: a.Name, Href: agentAddress(a.Name)}},
	}
	p.Busy = p.State != turn.Idle
	for _, f := range []string{a.Model, plural.Of(len(trees), "topic")} {
		if f != "" {
			p.Facts = append(p.Facts, clip(f))
		}
	}
	for _, t := range trees {
		p.Cards = append(p.Cards, cardOf(t, s.Bookmarks, now))
		if t.Current {
			p.Crumbs = append(p.Crumbs, crumb{Title: titleOf(t), Href: location{Session: t.ID}.String()})
		}
	}
	for _, list := range [][]turn.Entry{s.SteerQueue, s.FollowUpQueue} {
		for _, e := range list {
			q := queued{ID: e.ID, Content: e.Content, Mode: "follow-up", ModeText: "follow-up", State: e.State, Held: e.State == turn.Held}
			if e.Mode == turn.Steer {
				q.Mode, q.ModeText = "steer", "steer"
			}
			p.Held = p.Held || q.Held
			p.Queue = append(p.Queue, q)
		}
	}
	p.Composer = agentComposer(a.Name, p.Busy, a.Model != "")
	return p
}

func titleOf(t agents.Tree) string { return clip(cmp.Or(string(t.Name), t.Title, "Empty topic")) }

// cardOf returns the card of a tree.
func cardOf(t agents.Tree, marks []bookmark.Bookmark, now time.Time) card {
	about := count(t.MessageCount, "message")
	if t.LeafCount > 1 {
		about += " · " + count(t.LeafCount, "branch")
	}
	k := card{ID: t.ID, Title: titleOf(t), About: about + " · " + ago(t.CreatedAt, now), Active: t.Current, Href: location{Session: t.ID, Leaf: string(t.Node)}.String()}
	for _, b := range marks {
		if b.Session != t.ID {
			continue
		}
		k.Marks = append(k.Marks, markLink{b.Label, b.Summary, messageAddress(t.ID, b.Message)})
		if b.Scope != bookmark.Message && b.Summary != "" {
			k.Summary = b.Summary
		}
	}
	return k
}

// lastBookmark returns the crumb of the last bookmark on the path to the head, if there is
// one.
func (p *agentPage) lastBookmark(shown *conversation, marks []bookmark.Bookmark) []crumb {
	at := map[string]bookmark.Bookmark{}
	for _, b := range marks {
		at[b.Message] = b
	}
	for i := len(shown.Chunks) - 1; i >= 0; i-- {
		messages := shown.Chunks[i].Messages
		for j := len(messages) - 1; j >= 0; j-- {
			if b, ok := at[messages[j].ID]; ok {
				return []crumb{{Title: b.Label, Href: messages[j].Link, Current: true}}
			}
		}
	}
	if n := len(p.Crumbs); n > 0 {
		p.Crumbs[n-1].Current = true
	}
	return nil
}

// agentComposer returns the input below the chat of an agent.
func agentComposer(name string, busy, hasModel bool) composer {
	// A steer for an idle agent is a prompt: the server decides, because the agent may have
	// begun or ended a turn since.
	send := composerButton{Mode: "send", Icon: "send", Label: "Send", Title: "Send the message; the agent answers it (Enter)"}
	steer := composerButton{Action: "/do/steer", Mode: "steer", Icon: "steer", Label: "Steer", Title: "Interrupt the agent with the message (Enter)"}
	follow := composerButton{Action: "/do/follow-up", Mode: "follow-up", Icon: "follow-up", Label: "Follow up", Title: "Queue the message; the agent reads it when it has finished (Alt+Enter)"}
	in := composer{Action: "/do/steer", Agent: name, Back: agentAddress(name), Label: "Message to " + name, Buttons: []composerButton{send}}
	switch {
	case busy:
		in.Label = "Steer " + name + ", or follow up"
		in.Buttons = []composerButton{steer, follow}
		in.Note = name + " is working. Steer interrupts it; follow up waits until it has finished."
	case !hasModel:
		in.Note = "The agent has no model, so the server's default model answers if there is one."
	}
	return in
}
