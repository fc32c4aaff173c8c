package ui

import (
	tea "charm.land/bubbletea/v2"
	"github.com/bough-dev/bough/agent/turn"
	"github.com/bough-dev/bough/workspace/agents"
)

// chat asks for a message to an agent. While the agent works, Enter steers it, and Alt+Enter
// queues a follow-up.
func (m *model) chat(agent string) tea.Cmd {
	return m.write("To "+line(agent)+" (alt+enter: after the turn):", func(text string, later bool) tea.Cmd {
		said := agents.Message{Mode: turn.Steer, Text: text}
		if later {
			said.Mode = turn.FollowUp
		}
		e := m.env
		return e.do(func() tea.Msg {
			// The turn is aborted when the page ends; what was received of the reply is kept.
			_, reply, err := e.w.Agent(agent).Say(e.ctx, said, agents.TurnOptions{Models: e.Models})
			switch {
			case err != nil || reply != nil:
				return turnResult{err: err}
			case later:
				return turnResult{said: "Queued until " + agent + " has finished"}
			}
			return turnResult{said: "Queued until " + agent + " has done what it does now"}
		})
	})
}

// A turnResult is the end of a turn, or of adding a message to the queue of one.
type turnResult struct {
	said string // "" for the end of a turn
	err  error
}

func (m *model) endTurn(t turnResult) tea.Cmd {
	switch {
	case t.err != nil:
		m.refuse(explain(t.err))
	case t.said != "":
		m.say(line(t.said))
	}
	return tea.Batch(m.refresh(), m.reload())
}
