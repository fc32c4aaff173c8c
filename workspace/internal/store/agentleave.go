package store

import (
	"fmt"
	"slices"

	"github.com/bough-dev/bough/agent"
	"github.com/bough-dev/bough/workspace/agents"
	"github.com/bough-dev/bough/workspace/fault"
)

// LeaveAgent stages the removal of a tree from its agent, because the tree's
// files are removed. It returns an error if the tree must stay.
func (tx *Tx) LeaveAgent(ids []string, force bool) error {
	all, _ := tx.View.WholeLine(ids[0]) // the files that can be read
	if len(all) == 0 {
		return nil
	}
	owner, err := tx.View.Owner(all[0])
	if err != nil || owner == nil {
		return err
	}
	if tx.View.Works(owner.Name) {
		return Working(owner.Name, nil)
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
	case !force:
		return refuse("", fault.Do(fault.ForceRemoval))
	}
	return tx.Leave(owner, all[0])
}

// Leave stages the removal of a tree from owner. If the head is in the tree, it
// moves to the newest remaining tree that is not archived, if there is one.
func (tx *Tx) Leave(owner *agents.Agent, tree string) error {
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
func leavePart(v *View, owner *agents.Agent, tree string, ids []string) error {
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
