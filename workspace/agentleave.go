package workspace

import (
	"fmt"
	"slices"

	"github.com/bough-dev/bough/agent"
)

// leaveAgent prepares that a tree leaves its agent because its files are removed, and
// refuses that where it must not.
func (v *view) leaveAgent(ids []string, o RemoveOptions) error {
	all, _ := v.wholeLine(ids[0]) // as far as it is there
	if len(all) == 0 {
		return nil
	}
	owner, err := v.owner(all[0])
	if err != nil || owner == nil {
		return err
	}
	if v.works(owner.Name) && owner.Head.Tree == all[0] {
		return working(owner.Name, nil)
	}
	if !slices.Contains(ids, all[0]) {
		return v.leavePart(owner, all[0], ids)
	}
	refuse := func(hint string) error {
		return &Error{Code: Refused, Message: fmt.Sprintf("%s is a tree of the agent %s", all[0], owner.Name), Hint: hint}
	}
	switch {
	case len(owner.Trees) == 1:
		return refuse("it is the only one; 'bough agent rm " + owner.Name + "' removes the agent and leaves the tree")
	case !o.Force:
		return refuse("--force removes it all the same; the tree leaves the agent then")
	}
	owner.Trees = slices.DeleteFunc(owner.Trees, func(t agent.Tree) bool { return t.ID == all[0] })
	if owner.Head.Tree == all[0] {
		last := owner.Trees[len(owner.Trees)-1]
		owner.Move(last.ID, last.Node)
	}
	_, err = v.putAgent(owner.Agent, owner.File)
	return err
}

// leavePart refuses to remove the files of a tree that hold the message where its
// agent is, or was last.
func (v *view) leavePart(owner *Agent, tree string, ids []string) error {
	node := owner.Tree(tree).Node
	for _, id := range ids {
		s, err := v.outline(id)
		if err != nil {
			continue // what cannot be read holds no message
		}
		for i := s.Header; i < s.Len(); i++ {
			if s.MessageID(i) == node {
				return &Error{
					Code:    Refused,
					Message: fmt.Sprintf("%s holds the message where the agent %s is in its tree %s", id, owner.Name, tree),
					Hint:    "'bough agent rewind' moves it to another one",
				}
			}
		}
	}
	return nil
}
