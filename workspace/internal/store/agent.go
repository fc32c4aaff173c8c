package store

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"time"

	"github.com/bough-dev/bough/agent"
	"github.com/bough-dev/bough/agent/turn"
	"github.com/bough-dev/bough/internal/durable"
	"github.com/bough-dev/bough/internal/lookup"
	"github.com/bough-dev/bough/internal/sessionid"
	"github.com/bough-dev/bough/internal/writelock"
	"github.com/bough-dev/bough/workspace/agents"
	"github.com/bough-dev/bough/workspace/fault"
)

// EachAgent calls f for each agent, in order, with its name and the agent or the
// error of its file. It stops at the first error that f returns.
func (v *View) EachAgent(f func(name string, a *agents.Agent, err error) error) error {
	entries, err := durable.ReadDir(v.Root, agent.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, e := range entries {
		name, ok := agent.NameOf(agent.Dir + "/" + e.Name())
		if !ok {
			continue
		}
		a, err := v.readAgent(name)
		if errors.Is(err, fs.ErrNotExist) {
			continue // removed meanwhile
		}
		if err := f(name, a, err); err != nil {
			return err
		}
	}
	return nil
}

// readAgent reads the agent with exactly this name.
func (v *View) readAgent(name string) (*agents.Agent, error) {
	path := agent.Path(name)
	data, err := durable.ReadFile(v.Root, path)
	if err != nil {
		return nil, err
	}
	a, err := agent.Decode(name, data)
	if err != nil {
		return nil, err
	}
	return &agents.Agent{Agent: a, File: data}, nil
}

// Agent returns the agent that name refers to: by its name, else its id, else a
// unique prefix of either.
func (v *View) Agent(name string) (*agents.Agent, error) {
	if agent.ValidName(name) && v.IsThere(agent.Path(name)) {
		return v.readAgent(name)
	}
	if sessionid.IsUUID(name) {
		name = strings.ToLower(name)
	}
	var all []*agents.Agent
	err := v.EachAgent(func(_ string, a *agents.Agent, err error) error {
		if err == nil {
			all = append(all, a)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	kind := lookup.Kind[*agents.Agent]{
		What: "agent", Next: fault.Do(fault.ListAgents),
		Names:     func(a *agents.Agent) []lookup.Name { return []lookup.Name{{ID: a.Name}, {ID: a.ID}} },
		Candidate: func(a *agents.Agent) fault.Candidate { return fault.Candidate{Kind: "agent", Title: a.Name} },
	}
	return kind.Find(name, all)
}

// Owner returns the agent that owns a line, by the id of its first file, or nil if no
// agent does.
func (v *View) Owner(tree string) (owner *agents.Agent, err error) {
	err = v.EachAgent(func(_ string, a *agents.Agent, err error) error {
		if err == nil && a.Tree(tree) != nil {
			owner = a
		}
		return nil
	})
	return owner, err
}

// PutAgent stages the new content of an agent's file and logs it as a change of
// the tree with the head. was is the previous content, nil if there was no
// file.
func (tx *Tx) PutAgent(a *agent.Agent, was []byte) (*agents.Agent, error) {
	if !slices.Contains(tx.Op.Sessions, a.Head.Tree) {
		tx.Op.Sessions = append(tx.Op.Sessions, a.Head.Tree)
	}
	return tx.WriteAgent(a, was)
}

// WriteAgent is PutAgent without the log.
func (tx *Tx) WriteAgent(a *agent.Agent, was []byte) (*agents.Agent, error) {
	if err := durable.MakeDir(tx.View.Root, agent.Dir); err != nil {
		return nil, err
	}
	tx.logQueue(a, was)
	data := a.Encode()
	return &agents.Agent{Agent: a, File: data}, tx.ReplaceSmall(agent.Path(a.Name), was, data)
}

// IsAgent reports whether file is the path of an agent's file.
func IsAgent(file string) bool {
	_, ok := agent.NameOf(file)
	return ok
}

// tempsIn returns the temporary files in a folder.
func (v *View) tempsIn(dir string) (names []string) {
	entries, err := durable.ReadDir(v.Root, dir)
	if err != nil {
		return nil // the folder cannot be read, so nothing is swept
	}
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), durable.TempSuffix) {
			names = append(names, dir+"/"+e.Name())
		}
	}
	return names
}

// HasTrees reports whether all trees of the agent in data exist. file is the
// path of data.
func (v *View) HasTrees(file string, data []byte) bool {
	name, _ := agent.NameOf(file)
	a, err := agent.Decode(name, data)
	return err == nil && !slices.ContainsFunc(a.Trees, func(t agent.Tree) bool {
		return v.Index.Entry(t.ID) == nil && v.Index.Err(t.ID) == nil
	})
}

// TreeLine opens the line of a tree.
func (v *View) TreeLine(id string, partial bool) (*Line, error) {
	if err := v.Index.Err(id); err != nil {
		return nil, err
	}
	if v.Index.Entry(id) == nil {
		return nil, &fault.Error{Code: fault.NotFound, Message: "the tree " + id + " does not exist", Next: fault.Do(fault.RestoreOrDeleteTree)}
	}
	return v.Line(id, partial)
}

// HeadPlaceOf returns the place of an agent's head.
func (v *View) HeadPlaceOf(a *agent.Agent) (*Place, error) {
	l, err := v.TreeLine(a.Head.Tree, true)
	if err != nil {
		return nil, err
	}
	p := &Place{Line: l, Node: -1}
	if a.Head.Node != "" {
		p.Node, err = l.exact(a.Head.Node)
	}
	return p, err
}

// TurnsDir has a folder for each agent, with the lock of its turns.
const TurnsDir = StateDir + "/agents"

func turnDir(name string) string { return TurnsDir + "/" + name }

// Working returns the error for an action that must wait until the agent is
// idle.
func Working(name string, held *writelock.HeldError) error {
	e := &fault.Error{
		Code:    fault.Busy,
		Message: name + " is already running a turn",
		Next:    fault.Do(fault.SpeakMeanwhile, name),
		Err:     held,
	}
	if held != nil && held.Holder.PID != 0 {
		e.Message = fmt.Sprintf("%s (process %d, since %s)", e.Message, held.Holder.PID, held.Holder.Since.Format(time.TimeOnly))
	}
	return e
}

// Works reports whether the agent runs a turn.
func (v *View) Works(name string) bool { return writelock.Held(v.Root, turnDir(name)) }

// Settled reports whether nothing remains to be done for an ended turn.
func Settled(a *agent.Agent) bool {
	return (a.Turn.State == turn.Idle || a.Turn.State == "") && len(a.Turn.Unwritten) == 0
}
