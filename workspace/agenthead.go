package workspace

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/bough-dev/bough/agent"
	"github.com/bough-dev/bough/checkpoint"
	"github.com/bough-dev/bough/internal/lookup"
	"github.com/bough-dev/bough/internal/operation"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace/agents"
	"github.com/bough-dev/bough/workspace/fault"
)

func positionOf(a *agent.Agent) *agents.Position {
	return &agents.Position{Head: agents.Head{Tree: a.Head.Tree, Node: session.ID(a.Head.Node)}}
}

// Switch moves the head of an agent to another of its trees. TREE/NODE selects
// a message; TREE selects the last position of the head in that tree, or the
// newest leaf if there is no such position. A tree is selected by its name,
// else its id, else a unique part of its id. An archived tree is restored.
func (ag Agent) Switch(ctx context.Context, to string, o checkpoint.CutOptions) (*agents.Position, error) {
	op := operation.Operation{Verb: "agent switch", Args: args{"to": to}}
	return updateIdleAgent(ctx, ag.w, op, ag.name, func(tx *Tx, a *agents.Agent) (*agents.Position, error) {
		tree, message, exact := strings.Cut(to, "/")
		t, err := tx.View.treeOf(a, tree)
		if err != nil {
			return nil, err
		}
		if exact && message == "" {
			return nil, &fault.Error{Code: fault.Usage, Message: fmt.Sprintf("%q has no message after the /", to)}
		}
		p, cut, err := tx.View.placeInTree(t, message, o)
		if err != nil {
			return nil, err
		}
		pos, err := tx.moveAgent(a, t.ID, p)
		pos.Adjustment = cut
		return pos, err
	})
}

// Rewind moves the head of an agent to a message of one of its trees. Later
// messages stay. Rewind looks for the message in the tree of the head, then in
// the other trees, oldest first, except archived ones. TREE/NODE selects the
// tree; an archived one is then restored.
func (ag Agent) Rewind(ctx context.Context, node string, o checkpoint.CutOptions) (*agents.Position, error) {
	op := operation.Operation{Verb: "agent rewind", Args: args{"node": node}}
	return updateIdleAgent(ctx, ag.w, op, ag.name, func(tx *Tx, a *agents.Agent) (*agents.Position, error) {
		tree, p, err := tx.View.placeOf(a, node, o.Partial)
		if err != nil {
			return nil, err
		}
		cut, err := p.cut(o)
		if err != nil {
			return nil, err
		}
		pos, err := tx.moveAgent(a, tree, p)
		pos.Adjustment = cut
		return pos, err
	})
}

// NewTree adds an empty tree to an agent and moves its head there, as one
// operation. The name tree must be new for the agent; it may be empty.
func (ag Agent) NewTree(ctx context.Context, tree string) (*agents.NewTree, error) {
	op := operation.Operation{Verb: "agent fresh", Args: args{"name": tree}}
	return updateIdleAgent(ctx, ag.w, op, ag.name, func(tx *Tx, a *agents.Agent) (*agents.NewTree, error) {
		if err := tx.beginTree(a.Agent, tree); err != nil {
			return nil, err
		}
		made := tx.View.newTree(a)
		_, err := tx.putAgent(a.Agent, a.File)
		return made, err
	})
}

// BranchTree adds a tree to an agent that begins with a copy of the whole path
// to a message, and moves the agent's head to its end, as one operation.
// [Agent.Rewind] describes node; as SESSION@MESSAGE it may be any message, also
// another agent's.
func (ag Agent) BranchTree(ctx context.Context, node, tree string, o checkpoint.CutOptions) (*agents.NewTree, error) {
	op := operation.Operation{Verb: "agent branch", Args: args{"node": node, "name": tree}}
	return updateIdleAgent(ctx, ag.w, op, ag.name, func(tx *Tx, a *agents.Agent) (*agents.NewTree, error) {
		p, cut, err := tx.View.branchPlace(a, node, o)
		if err != nil {
			return nil, err
		}
		if err := checkTreeName(a.Agent, tree); err != nil {
			return nil, err
		}
		snap, err := tx.takeSnapshot(p, checkpoint.Spec{Kind: session.Branch, Title: tree})
		if err != nil {
			return nil, err
		}
		if err := tx.View.addTree(a.Agent, tree, snap.ID, p.messageID()); err != nil {
			return nil, err
		}
		made := tx.View.newTree(a)
		made.Adjustment = cut
		_, err = tx.putAgent(a.Agent, a.File)
		return made, err
	})
}

// newTree describes the tree that was added to an agent.
func (v *View) newTree(a *agents.Agent) *agents.NewTree {
	head := positionOf(a.Agent).Head
	return &agents.NewTree{Tree: head.Tree, Node: head.Node, Head: head, Bytes: v.index.Entry(head.Tree).Size()}
}

// moveAgent stages the move of an agent's head to p, which is in one of its
// trees.
func (tx *Tx) moveAgent(a *agents.Agent, tree string, p *place) (*agents.Position, error) {
	a.Move(tree, p.messageID())
	_, err := tx.putAgent(a.Agent, a.File)
	return positionOf(a.Agent), err
}

// treeOf returns the tree of an agent that has the name or the id. The name, which the
// agent gave it, takes precedence.
func (v *View) treeOf(a *agents.Agent, name string) (*agent.Tree, error) {
	kind := lookup.Kind[*agent.Tree]{
		What: "tree",
		Names: func(t *agent.Tree) []lookup.Name {
			return []lookup.Name{{Label: t.Name, ID: t.ID, Title: t.Name, Short: lookup.Short(t.ID)}}
		},
		Candidate: func(t *agent.Tree) fault.Candidate {
			return fault.Candidate{Session: session.ID(t.ID), Kind: "tree", Title: cmp.Or(t.Name, v.overview(t.ID).title), Time: session.Bough.Time(t.Created)}
		},
	}
	trees := make([]*agent.Tree, len(a.Trees))
	for i := range a.Trees {
		trees[i] = &a.Trees[i]
	}
	t, err := kind.Find(name, trees)
	if errors.Is(err, fault.NotFound) {
		return nil, v.noTree(a, name)
	}
	return t, err
}

// noTree returns the error for a name that refers to no tree of an agent. It
// says if another agent has the tree.
func (v *View) noTree(a *agents.Agent, name string) error {
	if id, err := v.resolve(name); err == nil {
		if ids, err := v.lineIDs(id); err == nil {
			id = ids[0]
		}
		if owner, err := v.owner(id); err == nil && owner != nil && owner.Name != a.Name {
			return &fault.Error{
				Code:    fault.Refused,
				Message: fmt.Sprintf("the tree %s belongs to %s", id, owner.Name),
				Hint:    "a tree has one owner; a branch of it is a copy",
			}
		}
	}
	return &fault.Error{Code: fault.NotFound, Message: fmt.Sprintf("%s has no tree %q", a.Name, name), Next: fault.Do(fault.ListTrees, a.Name)}
}

// treeLine opens the line of a tree.
func (v *View) treeLine(id string, partial bool) (*line, error) {
	if err := v.index.Err(id); err != nil {
		return nil, err
	}
	if v.index.Entry(id) == nil {
		return nil, &fault.Error{Code: fault.NotFound, Message: "the tree " + id + " does not exist", Next: fault.Do(fault.RestoreOrDeleteTree)}
	}
	return v.line(id, partial)
}

// placeInTree returns the place of a message of a tree; if message is "", the
// last position of the head in the tree.
func (v *View) placeInTree(t *agent.Tree, message string, o checkpoint.CutOptions) (*place, checkpoint.Adjustment, error) {
	l, err := v.treeLine(t.ID, o.Partial)
	if err != nil {
		return nil, checkpoint.Adjustment{}, err
	}
	p := &place{line: l, node: -1}
	if message != "" {
		if p.node, err = l.find(message); err != nil {
			return nil, checkpoint.Adjustment{}, err
		}
		cut, err := p.cut(o)
		return p, cut, err
	}
	if nodes := l.Find(t.Node); t.Node != "" && len(nodes) == 1 {
		p.node = nodes[0]
		return p, checkpoint.Adjustment{}, nil
	}
	p.node, err = v.end(l, o.Partial)
	return p, checkpoint.Adjustment{}, err
}

// placeOf finds a message in the trees of an agent and returns its place and the id of
// its tree. It looks in an archived tree only if node names the tree.
func (v *View) placeOf(a *agents.Agent, node string, partial bool) (tree string, p *place, err error) {
	at := func(t *agent.Tree, message string) error {
		l, err := v.treeLine(t.ID, partial)
		if err != nil {
			return err
		}
		n, err := l.find(message)
		tree, p = t.ID, &place{line: l, node: n}
		return err
	}
	if first, message, exact := strings.Cut(node, "/"); exact {
		t, err := v.treeOf(a, first)
		if err == nil {
			err = at(t, message)
		}
		return tree, p, err
	}
	err = at(a.Tree(a.Head.Tree), node)
	archived := false
	for i := range a.Trees {
		if !isNotFound(err) {
			return tree, p, err
		}
		switch t := &a.Trees[i]; {
		case t.ID == a.Head.Tree:
		case t.Archived:
			archived = true
		default:
			err = at(t, node)
		}
	}
	if archived && isNotFound(err) {
		missing := notFound("message", node)
		missing.Hint, missing.Next = "TREE/NODE also finds the messages of an archived tree", fault.Do(fault.ListTrees, a.Name)
		err = missing
	}
	return tree, p, err
}
