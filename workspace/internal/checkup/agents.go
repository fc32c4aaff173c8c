package checkup

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/bough-dev/bough/agent"
	"github.com/bough-dev/bough/internal/durable"
	"github.com/bough-dev/bough/internal/operation"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace/agents"
	"github.com/bough-dev/bough/workspace/doctor"
	"github.com/bough-dev/bough/workspace/internal/store"
)

// agents checks the agents.
func (d *checkup) agents() error {
	owners := map[string]string{} // of trees
	err := d.v.EachAgent(func(name string, a *agents.Agent, err error) error {
		var damage *session.DamageError
		switch {
		case errors.As(err, &damage):
			return d.mendAgent(name, fmt.Sprintf("byte %d: %s", damage.Offset, damage.Problem))
		case err != nil:
			d.found(doctor.DamagedAgent, agent.Path(name), err.Error(), false)
			return nil
		}
		for _, t := range a.Trees {
			if other := owners[t.ID]; other != "" {
				d.found(doctor.SharedTree, agent.Path(name), fmt.Sprintf("the tree %s belongs to %s too", t.ID, other), false)
			}
			owners[t.ID] = name
			if _, err := d.v.TreeLine(t.ID, true); store.IsNotFound(err) {
				d.found(doctor.LostTree, agent.Path(name), err.Error(), false)
			}
		}
		if _, err := d.v.HeadPlaceOf(a.Agent); store.IsNotFound(err) {
			return d.moveLost(a, err)
		}
		return d.v.Ctx.Err()
	})
	var path *fs.PathError
	var special *durable.NotRegularError
	if errors.As(err, &path) || errors.As(err, &special) {
		d.found(doctor.DamagedAgent, agent.Dir, err.Error(), false)
		return nil
	}
	return err
}

// mendAgent replaces a damaged file of an agent with its last logged content, if the log
// has it.
func (d *checkup) mendAgent(name, detail string) error {
	path := agent.Path(name)
	data, err := d.loggedFile(path)
	if err != nil {
		return err
	}
	_, err = agent.Decode(name, data)
	mends := err == nil && d.repairs()
	d.found(doctor.DamagedAgent, path, detail, mends)
	if !mends {
		return nil
	}
	torn, err := durable.ReadFile(d.v.Root, path)
	if err != nil {
		return err
	}
	if err := d.keep(path); err != nil {
		return err
	}
	return d.tx.ReplaceSmall(path, torn, data)
}

// loggedFile returns the content of a small file after the newest operation that
// changed it, nil if the log does not have it.
func (d *checkup) loggedFile(name string) ([]byte, error) {
	log, err := operation.Open(d.v.Root)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	for op := range d.v.Operations(log, &err) {
		for i, c := range op.Changes {
			if c.File == name {
				full, _ := operation.Full(log.Operations(), op)
				return []byte(full.Changes[i].After), err
			}
		}
	}
	return nil, err
}

// moveLost moves the head of an agent that refers to nothing, if this is to be
// repaired and there is a tree for it. If the session of the head is damaged,
// the head is not lost: the session may be repaired.
func (d *checkup) moveLost(a *agents.Agent, lost error) error {
	var tree string
	var node int
	var l *store.Line
	for _, t := range a.Trees {
		if tree == a.Head.Tree {
			break
		}
		if at, err := d.v.TreeLine(t.ID, true); err == nil {
			tree, node, l = t.ID, at.Newest(0), at
		}
	}
	mends := d.repairs() && l != nil
	d.found(doctor.LostAgentHead, agent.Path(a.Name), "its head refers to nothing: "+lost.Error(), mends)
	if !mends {
		return nil
	}
	if err := d.keep(agent.Path(a.Name)); err != nil {
		return err
	}
	a.Move(tree, (&store.Place{Line: l, Node: node}).MessageID())
	_, err := d.tx.PutAgent(a.Agent, a.File)
	return err
}
