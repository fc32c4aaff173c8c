package ui

import (
	"context"
	"path/filepath"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/bough-dev/bough/cmd/bough/internal/list"
	"github.com/bough-dev/bough/explore"
	"github.com/bough-dev/bough/workspace/fault"
)

// explore asks what to explore from a message, in three steps: the strategies, what tries them,
// and how the results are evaluated.
func (m *model) explore(ref string) tea.Cmd {
	return m.write("Strategies, one a line, as NAME or NAME: what to do", func(text string, _ bool) tea.Cmd {
		r := explore.Request{Ref: ref, Strategies: explore.ParseStrategies(text)}
		if err := r.Validate(); err != nil {
			m.refuse(explain(err))
			return nil
		}
		return m.chooseRunner(r)
	})
}

// The Ref of an item of the list of runners; that of a command of the settings has its name after
// the slash.
const (
	agentRunner   = "agent"
	modelRunner   = "model"
	typedRunner   = "command"
	settingRunner = "setting/"
)

// chooseRunner asks what tries the strategies. The commands are those of the settings; whether the
// user approved one is checked when it is chosen. A command that the user types is approved by that,
// as on the command line.
func (m *model) chooseRunner(r explore.Request) tea.Cmd {
	id, _, _ := strings.Cut(r.Ref, "@")
	agent := m.tree.source.Agents[id]
	e := m.env
	return e.do(func() tea.Msg {
		var items []list.Item
		if agent != "" {
			items = append(items, list.Item{Text: "The model of the agent " + line(agent), Ref: agentRunner})
		}
		items = append(items, list.Item{Text: "A model…", Ref: modelRunner})
		if e.Commands != nil {
			names, err := e.Commands()
			if err != nil {
				return failure{err}
			}
			for _, name := range names {
				items = append(items, list.Item{Text: "The command " + line(name), Ref: settingRunner + name})
			}
		}
		if e.Typed != nil {
			items = append(items, list.Item{Text: "A command that you type…", Ref: typedRunner})
		}
		return listRequest{list.Options{Prompt: "Tried by:", Items: items}, func(i list.Item) tea.Cmd { return m.setRunner(r, i.Ref) }}
	})
}

func (m *model) setRunner(r explore.Request, runner string) tea.Cmd {
	switch name, isSetting := strings.CutPrefix(runner, settingRunner); {
	case isSetting:
		command, err := m.env.Command(name)
		if err != nil {
			m.refuse(explain(err))
			return nil
		}
		r.Runner.Command = command
	case runner == modelRunner:
		return m.prompt("Model, as openai:NAME or anthropic:NAME:", "", false, func(id string) tea.Cmd {
			r.Runner.Model = id
			return m.chooseMethod(r, false)
		})
	case runner == typedRunner:
		m.input("Command, which the shell runs for each strategy:", "", func(command string, _ bool) tea.Cmd {
			r.Runner.Command = strings.TrimSpace(command)
			return m.prompt("Folder of which each gets a copy, or none:", "", true, func(dir string) tea.Cmd {
				if dir != "" {
					absolute, err := filepath.Abs(dir)
					if err != nil {
						m.refuse(explain(err))
						return nil
					}
					r.Runner.Dir = absolute
				}
				return m.chooseMethod(r, true)
			})
		})
		return nil
	}
	return m.chooseMethod(r, false)
}

// chooseMethod asks how the results are evaluated, and begins the exploration. typed says that the
// user typed its command.
func (m *model) chooseMethod(r explore.Request, typed bool) tea.Cmd {
	return m.pick(list.Options{Prompt: "Result:", Items: []list.Item{
		{Text: "The best one", Ref: string(explore.Best)},
		{Text: "What most agree on", Ref: string(explore.Consensus)},
		{Text: "A synthesis", Ref: string(explore.Synthesis)},
	}}, func(i list.Item) tea.Cmd {
		r.Method = explore.Method(i.Ref)
		return m.beginExploration(r, typed)
	})
}

// An explorationBegun says that an exploration of this page runs, an explorationEnd that it has
// ended.
type (
	explorationBegun struct{ id string }
	explorationEnd   struct{ err error }
)

// beginExploration runs an exploration, which is shown as soon as it is written. It is interrupted
// when the page ends.
func (m *model) beginExploration(r explore.Request, typed bool) tea.Cmd {
	m.say("Exploring…")
	e := m.env
	return e.do(func() tea.Msg {
		x := e.explorer()
		plan, err := x.Plan(e.ctx, r)
		if err != nil {
			return failure{err}
		}
		if !plan.Config.Enabled {
			return failure{&fault.Error{Code: fault.Refused, Message: "explorations are disabled", Hint: "explore.enabled of the settings, or of the agent, is false"}}
		}
		begun := false
		x.Progress = func(n *explore.Exploration) {
			if begun {
				return
			}
			if _, err := x.Open(context.WithoutCancel(e.ctx), n.ID); err != nil {
				return // it is not written yet
			}
			begun = true
			if typed {
				if err := e.Typed(n.Runner); err != nil {
					e.send(note{"the approval of the command is not stored: " + err.Error()})
				}
			}
			e.send(explorationBegun{n.ID})
		}
		_, err = x.Run(e.ctx, plan)
		return explorationEnd{err}
	})
}

func (m *model) endExploration(end explorationEnd) tea.Cmd {
	if end.err != nil {
		m.refuse(explain(end.err))
	} else {
		m.say("The exploration has ended; X lists it")
	}
	return tea.Batch(m.refresh(), m.reload())
}
