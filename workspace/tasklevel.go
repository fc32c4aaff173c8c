package workspace

import (
	"cmp"
	"errors"
	"io"
	"io/fs"
	"os"
	"slices"
	"unicode/utf8"

	"github.com/bough-dev/bough/agent/turn"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace/agents"
	"github.com/bough-dev/bough/workspace/internal/store"
	"github.com/bough-dev/bough/workspace/task"
)

// taskPoint returns the task at p.
func taskPoint(v *store.View, p *store.Place) (*agents.TaskPoint, error) {
	t := &agents.TaskPoint{Tasks: []agents.TaskAt{}, Queue: []turn.Entry{}}
	path := p.Path(p.Node)
	for _, node := range slices.Backward(path) {
		m, err := v.Message(p.Line, node)
		if err != nil {
			return nil, err
		}
		if m.Role() == "user" && !m.IsMerge() {
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
		if owner.Memory != "" {
			t.Memory = memoryOf(owner.Memory)
		}
	}
	err = v.Store.Look(v.Root, func(log *task.Log) {
		for _, k := range log.Visible(p.IDsOf(path)) {
			t.Tasks = append(t.Tasks, agents.TaskAt{ID: k.ID, Order: k.Order, Data: k.Data, Status: k.Status, Planning: k.Planning, Messages: k.Messages})
		}
	})
	return t, err
}

// memoryOf reads the memory file of an agent. A file that cannot be read is no reason against a
// checkpoint.
func memoryOf(path string) *agents.Memory {
	m := &agents.Memory{Path: path}
	data, err := readMemory(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		m.Why = "missing"
	case err != nil:
		m.Why = "unreadable"
	case len(data) > agents.MaxMemory:
		m.Why = "large"
	case !utf8.Valid(data):
		m.Why = "not_text"
	default:
		m.Text = string(data)
	}
	return m
}

// readMemory reads a regular file, at most one byte more than [agents.MaxMemory].
func readMemory(path string) ([]byte, error) {
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		return nil, cmp.Or(err, fs.ErrInvalid)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, agents.MaxMemory+1))
}
