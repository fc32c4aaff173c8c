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
			_, _, err := e.w.Agent(agent).Say(e.ctx, said, agents.TurnOptions{Models: e.Models})
			return turnEnded{err}
		})
	})
}

// A turnEnded is the end of a turn, or of adding a message to the queue of one.
type turnEnded struct{ err error }

func (m *model) turnEnded(t turnEnded) tea.Cmd {
	if t.err != nil {
		m.refuse(explain(t.err))
	}
	return tea.Batch(m.refresh(), m.reload())
}
