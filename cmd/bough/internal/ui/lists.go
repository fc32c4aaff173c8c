package ui

import (
	"context"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/bough-dev/bough/agent/turn"
	"github.com/bough-dev/bough/checkpoint"
	"github.com/bough-dev/bough/cmd/bough/internal/list"
	"github.com/bough-dev/bough/internal/plural"
	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/agents"
)

// A listRequest is a list to show, and what to do with the item that is chosen.
type listRequest struct {
	options list.Options
	choose  func(list.Item) tea.Cmd
}

// showPlaces returns the request for a list of places, by the Ref of their items. what names the
// items, for a list without any.
func (m *model) showPlaces(prompt, what string, items []list.Item, places map[string]place) tea.Msg {
	if len(items) == 0 {
		return refusal{"No " + what}
	}
	return listRequest{list.Options{Prompt: prompt, Items: items}, func(i list.Item) tea.Cmd {
		to := places[i.Ref]
		m.focus = conversationSide
		m.tree.show(to.session)
		return m.open(to)
	}}
}

// bookmarks lists the bookmarks, the newest first.
func (m *model) bookmarks() tea.Cmd {
	var items []list.Item
	places := map[string]place{}
	for _, b := range slices.Backward(m.tree.source.Bookmarks) {
		ref := b.Session + "@" + b.Message + "/" + b.Label
		row, _ := m.row(b.Session)
		detail := line(row.Title)
		if b.Summary != "" {
			detail += " · " + line(b.Summary)
		}
		items = append(items, list.Item{Text: "★ " + line(b.Label), Detail: detail, Ref: ref})
		places[ref] = place{session: b.Session, leaf: m.leafAbove(b.Session, b.Message), message: b.Message}
	}
	msg := m.showPlaces("Bookmark:", "bookmarks; m sets one", items, places)
	return func() tea.Msg { return msg }
}

// agents lists the agents with what they do.
func (m *model) agents() tea.Cmd {
	e := m.env
	return e.do(func() tea.Msg {
		all, err := e.w.Agents(e.ctx)
		if err != nil {
			return failure{err}
		}
		status, err := e.w.Status(e.ctx)
		if err != nil {
			return failure{err}
		}
		states := map[string]turn.State{}
		for _, a := range status.Agents {
			states[a.Name] = a.State
		}
		var items []list.Item
		places := map[string]place{}
		for _, a := range all.Agents {
			state := "idle"
			switch states[a.Name] {
			case turn.Streaming:
				state = "writes"
			case turn.InTool:
				state = "runs a tool"
			case turn.Confirming:
				state = "asks whether to run a tool"
			}
			detail := state + " · " + plural.Of(len(a.Trees), "conversation")
			if a.Model != "" {
				detail = line(a.Model) + " · " + detail
			}
			if n := len(a.Queue); n > 0 {
				detail += " · " + plural.Of(n, "queued message")
			}
			items = append(items, list.Item{Text: line(a.Name), Detail: detail, Ref: a.Name})
			places[a.Name] = place{session: a.Head.Tree, leaf: a.Head.Node, follow: true}
		}
		return m.showPlaces("Agent:", "agents; a creates one", items, places)
	})
}

// createAgent asks for the name and the model of a new agent.
func (m *model) createAgent() tea.Cmd {
	return m.prompt("Name of the agent:", "", false, func(name string) tea.Cmd {
		return m.prompt("Model of "+line(name)+", as openai:NAME or anthropic:NAME, or none:", "", true, func(id string) tea.Cmd {
			return m.run(func(ctx context.Context, w *workspace.Workspace) (place, error) {
				a, err := w.Agent(name).Create(ctx, agents.Options{Model: id})
				if err != nil {
					return place{}, err
				}
				return place{session: a.Head.Tree}, nil
			})
		})
	})
}

// newConversation begins a conversation or, in a tree of an agent, another tree of the agent.
func (m *model) newConversation() tea.Cmd {
	_, id := m.target()
	agent := m.tree.source.Agents[id]
	if agent == "" {
		return m.prompt("Title of the conversation, or none:", "", true, func(title string) tea.Cmd {
			return m.run(func(ctx context.Context, w *workspace.Workspace) (place, error) {
				e, err := w.New(ctx, title)
				if err != nil {
					return place{}, err
				}
				return place{session: e.ID}, nil
			})
		})
	}
	return m.prompt("Name of another tree of "+line(agent)+", or none:", "", true, func(name string) tea.Cmd {
		return m.run(func(ctx context.Context, w *workspace.Workspace) (place, error) {
			t, err := w.Agent(agent).NewTree(ctx, name)
			if err != nil {
				return place{}, err
			}
			return place{session: t.Tree}, nil
		})
	})
}

// continueAgent moves the head of an agent to a message or, for a tree, to where it was in it.
func continueAgent(ctx context.Context, a workspace.Agent, ref string) error {
	tree, node, isMessage := strings.Cut(ref, "@")
	if isMessage {
		_, err := a.Rewind(ctx, tree+"/"+node, checkpoint.CutOptions{})
		return err
	}
	_, err := a.Switch(ctx, tree, checkpoint.CutOptions{})
	return err
}
