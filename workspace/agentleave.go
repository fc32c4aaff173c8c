package workspace

import (
	"context"
	"fmt"

	"github.com/bough-dev/bough/internal/operation"
	"github.com/bough-dev/bough/workspace/agents"
	"github.com/bough-dev/bough/workspace/fault"
	"github.com/bough-dev/bough/workspace/internal/store"
)

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
			return aboutTree(tx.View, a, t), tx.Leave(a, t.ID)
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
		if err := tx.Leave(a, t.ID); err != nil {
			return nil, err
		}
		return was, tx.RemoveAll(ids)
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
