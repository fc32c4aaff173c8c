package workspace

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/bough-dev/bough/agent"
	"github.com/bough-dev/bough/internal/durable"
	"github.com/bough-dev/bough/internal/lookup"
	"github.com/bough-dev/bough/internal/operation"
	"github.com/bough-dev/bough/internal/sessionid"
	"github.com/bough-dev/bough/workspace/agents"
	"github.com/bough-dev/bough/workspace/fault"
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
	op := operation.Operation{Verb: "agent create", Args: args{"agent": ag.name}}
	return create(ctx, ag.w.store, op, func(tx *Tx) (*agents.Agent, error) {
		if tx.View.isThere(agent.Path(ag.name)) {
			return nil, &fault.Error{Code: fault.Refused, Message: fmt.Sprintf("agent %q already exists", ag.name), Next: fault.Do(fault.ListAgents)}
		}
		id, err := sessionid.NewMessage(tx.View.store.opts.Random)
		if err != nil {
			return nil, err
		}
		a := &agent.Agent{ID: id, Name: ag.name, Model: o.Model, System: o.System, Policy: o.Policy, NoCheckpoint: o.NoCheckpoint, Created: tx.View.now(nil)}
		if err := tx.beginTree(a, ""); err != nil {
			return nil, err
		}
		return tx.putAgent(a, nil)
	})
}

// Agents returns all agents. It skips an agent whose file is damaged, with a
// note. It reads no session.
func (w *Workspace) Agents(ctx context.Context) (_ *agents.List, err error) {
	defer func() { err = explained(err) }()
	root, err := w.store.open(ctx)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	v := &View{store: w.store, ctx: ctx, root: root}
	all := &agents.List{Agents: []agents.Agent{}}
	err = v.eachAgent(func(name string, a *agents.Agent, err error) error {
		if err != nil {
			v.store.opts.Note(err.Error() + "; the other agents can be used")
			return nil
		}
		all.Agents = append(all.Agents, *a)
		return nil
	})
	return all, err
}

// Info returns the agent. It reads no session.
func (ag Agent) Info(ctx context.Context) (_ *agents.Agent, err error) {
	defer func() { err = explained(err) }()
	root, err := ag.w.store.open(ctx)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	return (&View{store: ag.w.store, ctx: ctx, root: root}).agent(ag.name)
}

// Remove moves an agent to the trash and returns its last state. Its trees
// remain as sessions without an agent.
func (ag Agent) Remove(ctx context.Context) (*agents.Agent, error) {
	return updateIdleAgent(ctx, ag.w, operation.Operation{Verb: "agent rm"}, ag.name, func(tx *Tx, a *agents.Agent) (*agents.Agent, error) {
		for _, t := range a.Trees {
			tx.op.Sessions = append(tx.op.Sessions, t.ID)
		}
		return a, tx.discard(agent.Path(a.Name))
	})
}

// updateIdleAgent is updateAgent for an agent without a turn. It first ends an
// interrupted turn. If the agent is in a turn, the error has the code [Busy].
func updateIdleAgent[T any](ctx context.Context, w *Workspace, op operation.Operation, name string, f func(*Tx, *agents.Agent) (T, error)) (none T, err error) {
	if err := w.settleIdle(ctx, name); err != nil {
		return none, err
	}
	return updateAgent(ctx, w.store, op, name, func(tx *Tx, a *agents.Agent) (T, error) {
		if tx.View.works(a.Name) {
			return none, working(a.Name, nil)
		}
		return f(tx, a)
	})
}

// updateAgent is update for an operation on one agent, which it passes to f.
func updateAgent[T any](ctx context.Context, b *base, op operation.Operation, name string, f func(*Tx, *agents.Agent) (T, error)) (T, error) {
	if op.Args == nil {
		op.Args = args{}
	}
	return update(ctx, b, op, func(tx *Tx) (none T, err error) {
		a, err := tx.View.agent(name)
		if err != nil {
			return none, err
		}
		tx.op.Args["agent"] = a.Name
		return f(tx, a)
	})
}

// eachAgent calls f for each agent, in order, with its name and the agent or the
// error of its file. It stops at the first error that f returns.
func (v *View) eachAgent(f func(name string, a *agents.Agent, err error) error) error {
	entries, err := durable.ReadDir(v.root, agent.Dir)
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
	data, err := durable.ReadFile(v.root, path)
	if err != nil {
		return nil, err
	}
	a, err := agent.Decode(name, data)
	if err != nil {
		return nil, err
	}
	return &agents.Agent{Agent: a, File: data}, nil
}

// agent returns the agent that name refers to: by its name, else its id, else a
// unique part of either.
func (v *View) agent(name string) (*agents.Agent, error) {
	if agent.ValidName(name) && v.isThere(agent.Path(name)) {
		return v.readAgent(name)
	}
	if sessionid.IsUUID(name) {
		name = strings.ToLower(name)
	}
	var all []*agents.Agent
	err := v.eachAgent(func(_ string, a *agents.Agent, err error) error {
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

// owner returns the agent that owns a line, by the id of its first file, or nil if no
// agent does.
func (v *View) owner(tree string) (owner *agents.Agent, err error) {
	err = v.eachAgent(func(_ string, a *agents.Agent, err error) error {
		if err == nil && a.Tree(tree) != nil {
			owner = a
		}
		return nil
	})
	return owner, err
}

// putAgent stages the new content of an agent's file and logs it as a change of
// the tree with the head. was is the previous content, nil if there was no
// file.
func (tx *Tx) putAgent(a *agent.Agent, was []byte) (*agents.Agent, error) {
	if !slices.Contains(tx.op.Sessions, a.Head.Tree) {
		tx.op.Sessions = append(tx.op.Sessions, a.Head.Tree)
	}
	return tx.writeAgent(a, was)
}

// writeAgent is putAgent without the log.
func (tx *Tx) writeAgent(a *agent.Agent, was []byte) (*agents.Agent, error) {
	if err := durable.MakeDir(tx.View.root, agent.Dir); err != nil {
		return nil, err
	}
	tx.logQueue(a, was)
	data := a.Encode()
	return &agents.Agent{Agent: a, File: data}, tx.replaceSmall(agent.Path(a.Name), was, data)
}

// beginTree stages an empty tree for an agent and moves the agent's head there.
func (tx *Tx) beginTree(a *agent.Agent, name string) error {
	id, err := tx.newSession("", name)
	if err != nil {
		return err
	}
	return tx.View.addTree(a, name, id, "")
}

// addTree adds a tree to an agent and moves the agent's head to a message of
// the tree.
func (v *View) addTree(a *agent.Agent, name, id, node string) error {
	if err := checkTreeName(a, name); err != nil {
		return err
	}
	a.Trees = append(a.Trees, agent.Tree{ID: id, Name: name, Created: v.now(nil)})
	a.Move(id, node)
	return nil
}

// checkTreeName returns an error if no new tree of an agent can have this name.
func checkTreeName(a *agent.Agent, name string) error {
	if err := checkUTF8("name", name); err != nil {
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

// isAgent reports whether file is the path of an agent's file.
func isAgent(file string) bool {
	_, ok := agent.NameOf(file)
	return ok
}

// tempsIn returns the temporary files in a folder.
func (v *View) tempsIn(dir string) (names []string) {
	entries, err := durable.ReadDir(v.root, dir)
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

// hasTrees reports whether all trees of the agent in data exist. file is the
// path of data.
func (v *View) hasTrees(file string, data []byte) bool {
	name, _ := agent.NameOf(file)
	a, err := agent.Decode(name, data)
	return err == nil && !slices.ContainsFunc(a.Trees, func(t agent.Tree) bool {
		return v.index.Entry(t.ID) == nil && v.index.Err(t.ID) == nil
	})
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
