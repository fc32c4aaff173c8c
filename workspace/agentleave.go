package workspace

import (
	"context"
	"fmt"
	"slices"

	"github.com/bough-dev/bough/agent"
	"github.com/bough-dev/bough/internal/operation"
	"github.com/bough-dev/bough/workspace/agents"
	"github.com/bough-dev/bough/workspace/fault"
	"github.com/bough-dev/bough/workspace/internal/store"
)

// leaveAgent stages the removal of a tree from its agent, because the tree's
// files are removed. It returns an error if the tree must stay.
func leaveAgent(tx *store.Tx, ids []string, o RemoveOptions) error {
	all, _ := tx.View.WholeLine(ids[0]) // the files that can be read
	if len(all) == 0 {
		return nil
	}
	owner, err := tx.View.Owner(all[0])
	if err != nil || owner == nil {
		return err
	}
	if tx.View.Works(owner.Name) {
		return store.Working(owner.Name, nil)
	}
	if !slices.Contains(ids, all[0]) {
		return leavePart(tx.View, owner, all[0], ids)
	}
	refuse := func(hint string, next fault.Step) error {
		return &fault.Error{Code: fault.Refused, Message: fmt.Sprintf("%s is a tree of the agent %s", all[0], owner.Name), Hint: hint, Next: next}
	}
	switch {
	case len(owner.Trees) == 1:
		return refuse("it is the agent's only tree", fault.Do(fault.RemoveAgent, owner.Name))
	case !o.Force:
		return refuse("", fault.Do(fault.ForceRemoval))
	}
	return leave(tx, owner, all[0])
}

// leave stages the removal of a tree from owner. If the head is in the tree, it
// moves to the newest remaining tree that is not archived, if there is one.
func leave(tx *store.Tx, owner *agents.Agent, tree string) error {
	owner.Trees = slices.DeleteFunc(owner.Trees, func(t agent.Tree) bool { return t.ID == tree })
	if owner.Head.Tree != tree {
		_, err := tx.WriteAgent(owner.Agent, owner.File)
		return err
	}
	to := owner.Trees[len(owner.Trees)-1]
	for _, t := range owner.Trees {
		if !t.Archived {
			to = t
		}
	}
	owner.Move(to.ID, to.Node)
	_, err := tx.PutAgent(owner.Agent, owner.File)
	return err
}

// leavePart returns an error if ids, some of the files of a tree, hold the
// message of the agent's head, or of its last position in the tree.
func leavePart(v *store.View, owner *agents.Agent, tree string, ids []string) error {
	node := owner.Tree(tree).Node
	for _, id := range ids {
		s, err := v.Outline(id)
		if err != nil {
			continue // an unreadable file has no messages
		}
		for i := s.Header; i < s.Len(); i++ {
			if s.MessageID(i) == node {
				return &fault.Error{
					Code:    fault.Refused,
					Message: fmt.Sprintf("%s has the message at which the agent %s is in its tree %s", id, owner.Name, tree),
					Next:    fault.Do(fault.MoveAgent, owner.Name),
				}
			}
		}
	}
	return nil
}

// DeleteTree moves the files of a tree to the trash, removes it from its agent,
// and returns its last state. [Agent.Switch] describes tree. The tree of the
// head is refused, and so is a tree that other sessions were copied from.
func (ag Agent) DeleteTree(ctx context.Context, tree string, o agents.DeleteTreeOptions) (*agents.Tree, error) {
	op := operation.Operation{Verb: "agent delete", Args: store.Args{"tree": tree, "force": o.Force}}
	return updateIdleAgent(ctx, ag.w, op, ag.name, func(tx *store.Tx, a *agents.Agent) (*agents.Tree, error) {
		t, err := treeOf(tx.View, a, tree)
		if err != nil {
			return nil, err
		}
		if t.ID == a.Head.Tree {
			return nil, headIn(a, t)
		}
		if err := onlyOwner(tx.View, a, t.ID); err != nil {
			return nil, err
		}
		if _, err := tx.View.TreeLine(t.ID, false); store.IsNotFound(err) && o.Force {
			return aboutTree(tx.View, a, t), leave(tx, a, t.ID)
		} else if err != nil {
			return nil, err
		}
		ids, err := tx.View.WholeLine(t.ID)
		if err != nil {
			return nil, err
		}
		if err := tx.View.MayRemove(ids, o.Force); err != nil {
			return nil, err
		}
		was := aboutTree(tx.View, a, t)
		tx.Op.Args["tree"], tx.Op.Args["name"] = t.ID, t.Name
		if err := leave(tx, a, t.ID); err != nil {
			return nil, err
		}
		return was, removeAll(tx, ids)
	})
}

// onlyOwner returns an error if the file of another agent also lists the tree.
func onlyOwner(v *store.View, a *agents.Agent, tree string) error {
	return v.EachAgent(func(name string, other *agents.Agent, err error) error {
		if err != nil || name == a.Name || other.Tree(tree) == nil {
			return nil
		}
		return &fault.Error{
			Code:    fault.Refused,
			Message: fmt.Sprintf("%s is a tree of %s too", tree, name),
			Hint:    "remove it from the file of one of them", Next: fault.Do(fault.Examine),
		}
	})
}
