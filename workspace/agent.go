package workspace

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/bough-dev/bough/agent"
	"github.com/bough-dev/bough/internal/operation"
	"github.com/bough-dev/bough/internal/sessionid"
	"github.com/bough-dev/bough/workspace/agents"
	"github.com/bough-dev/bough/workspace/fault"
	"github.com/bough-dev/bough/workspace/internal/store"
)

// Create creates an agent with an empty tree and moves its head there. The head
// of the workspace does not move.
func (ag Agent) Create(ctx context.Context, o agents.Options) (*agents.Agent, error) {
	if !agent.ValidName(ag.name) {
		return nil, &fault.Error{
			Code:    fault.Usage,
			Message: fmt.Sprintf("invalid agent name %q", ag.name),
			Hint:    "a name has up to 63 characters: letters a to z and digits and, after the first, '.', '_' and '-'",
		}
	}
	if err := checkAgentOptions(o); err != nil {
		return nil, err
	}
	op := operation.Operation{Verb: "agent create", Args: store.Args{"agent": ag.name}}
	return store.Create(ctx, ag.w.store, op, func(tx *store.Tx) (*agents.Agent, error) {
		if tx.View.IsThere(agent.Path(ag.name)) {
			return nil, &fault.Error{Code: fault.Refused, Message: fmt.Sprintf("agent %q already exists", ag.name), Next: fault.Do(fault.ListAgents)}
		}
		id, err := sessionid.NewMessage(tx.View.Store.Opts.Random)
		if err != nil {
			return nil, err
		}
		a := &agent.Agent{ID: id, Name: ag.name, Model: o.Model, System: o.System, Policy: o.Policy, NoCheckpoint: o.NoCheckpoint, Memory: o.Memory, Created: tx.View.Now(nil)}
		if err := beginTree(tx, a, ""); err != nil {
			return nil, err
		}
		return tx.PutAgent(a, nil)
	})
}

// Agents returns all agents. It skips an agent whose file is damaged, with a
// note. It reads no session.
func (w *Workspace) Agents(ctx context.Context) (_ *agents.List, err error) {
	defer func() { err = store.Explained(err) }()
	root, err := w.store.Open(ctx)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	v := &store.View{Store: w.store, Ctx: ctx, Root: root}
	all := &agents.List{Agents: []agents.Agent{}}
	err = v.EachAgent(func(name string, a *agents.Agent, err error) error {
		if err != nil {
			v.Store.Opts.Note(err.Error() + "; the other agents can be used")
			return nil
		}
		all.Agents = append(all.Agents, *a)
		return nil
	})
	return all, err
}

// Info returns the agent. It reads no session.
func (ag Agent) Info(ctx context.Context) (_ *agents.Agent, err error) {
	defer func() { err = store.Explained(err) }()
	root, err := ag.w.store.Open(ctx)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	return (&store.View{Store: ag.w.store, Ctx: ctx, Root: root}).Agent(ag.name)
}

// Remove moves an agent to the trash and returns its last state. Its trees
// remain as sessions without an agent.
func (ag Agent) Remove(ctx context.Context) (*agents.Agent, error) {
	return updateIdleAgent(ctx, ag.w, operation.Operation{Verb: "agent rm"}, ag.name, func(tx *store.Tx, a *agents.Agent) (*agents.Agent, error) {
		for _, t := range a.Trees {
			tx.Op.Sessions = append(tx.Op.Sessions, t.ID)
		}
		return a, tx.Discard(agent.Path(a.Name))
	})
}

// updateIdleAgent is updateAgent for an agent without a turn. It first ends an
// interrupted turn. If the agent is in a turn, the error has the code [Busy].
func updateIdleAgent[T any](ctx context.Context, w *Workspace, op operation.Operation, name string, f func(*store.Tx, *agents.Agent) (T, error)) (none T, err error) {
	if err := w.settleIdle(ctx, name); err != nil {
		return none, err
	}
	return updateAgent(ctx, w.store, op, name, func(tx *store.Tx, a *agents.Agent) (T, error) {
		if tx.View.Works(a.Name) {
			return none, store.Working(a.Name, nil)
		}
		return f(tx, a)
	})
}

// updateAgent is update for an operation on one agent, which it passes to f.
func updateAgent[T any](ctx context.Context, b *store.Store, op operation.Operation, name string, f func(*store.Tx, *agents.Agent) (T, error)) (T, error) {
	if op.Args == nil {
		op.Args = store.Args{}
	}
	return store.Update(ctx, b, op, func(tx *store.Tx) (none T, err error) {
		a, err := tx.View.Agent(name)
		if err != nil {
			return none, err
		}
		tx.Op.Args["agent"] = a.Name
		return f(tx, a)
	})
}

// beginTree stages an empty tree for an agent and moves the agent's head there.
func beginTree(tx *store.Tx, a *agent.Agent, name string) error {
	id, err := tx.NewSession("", name)
	if err != nil {
		return err
	}
	return addTree(tx.View, a, name, id, "")
}

// addTree adds a tree to an agent and moves the agent's head to a message of
// the tree.
func addTree(v *store.View, a *agent.Agent, name, id, node string) error {
	if err := checkTreeName(a, name); err != nil {
		return err
	}
	a.Trees = append(a.Trees, agent.Tree{ID: id, Name: name, Created: v.Now(nil)})
	a.Move(id, node)
	return nil
}

// checkTreeName returns an error if no new tree of an agent can have this name.
func checkTreeName(a *agent.Agent, name string) error {
	if err := store.CheckTitle("name", name); err != nil {
		return err
	}
	if strings.Contains(name, "/") || name != strings.TrimSpace(name) {
		return &fault.Error{Code: fault.Usage, Message: fmt.Sprintf("invalid tree name %q", name), Hint: "a name has no '/', and no space at its ends"}
	}
	if name != "" && slices.ContainsFunc(a.Trees, func(t agent.Tree) bool { return t.Name == name }) {
		return &fault.Error{Code: fault.Refused, Message: fmt.Sprintf("%s already has a tree %q", a.Name, name), Next: fault.Do(fault.ListTrees, a.Name)}
	}
	return nil
}

// agentMove returns the name of the agent whose file c changes, and its head
// before and after. A head that c does not have is zero.
func agentMove(c operation.Change) (name string, was, is agent.Head) {
	name, _ = agent.NameOf(c.File)
	if a, err := agent.Decode(name, []byte(c.Before)); err == nil {
		was = a.Head
	}
	if a, err := agent.Decode(name, []byte(c.After)); err == nil {
		is = a.Head
	}
	return name, was, is
}
