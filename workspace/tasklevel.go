package workspace

import (
	"slices"

	"github.com/bough-dev/bough/agent/turn"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace/agents"
	"github.com/bough-dev/bough/workspace/internal/store"
	"github.com/bough-dev/bough/workspace/task"
)

// taskPoint returns what is being done at p.
func taskPoint(v *store.View, p *store.Place) (*agents.TaskPoint, error) {
	t := &agents.TaskPoint{Tasks: []agents.TaskAt{}, Queue: []turn.Entry{}}
	path := p.Path(p.Node)
	for _, node := range slices.Backward(path) {
		m, err := v.Message(p.Line, node)
		if err != nil {
			return nil, err
		}
		if m.Role() == "user" {
			t.Turn = session.ID(m.ID)
			break
		}
	}
	owner, err := v.Owner(p.Parts[0].ID)
	if err != nil {
		return nil, err
	}
	if owner != nil {
		t.Agent, t.Queue = owner.Name, append(t.Queue, owner.Queue...)
	}
	err = v.Store.Look(v.Root, func(log *task.Log) {
		for _, k := range log.Visible(p.IDsOf(path)) {
			t.Tasks = append(t.Tasks, agents.TaskAt{ID: k.ID, Order: k.Order, Data: k.Data, Status: k.Status, Planning: k.Planning, Messages: k.Messages})
		}
	})
	return t, err
}
