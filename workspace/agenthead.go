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
	"github.com/bough-dev/bough/workspace/internal/store"
)

func positionOf(a *agent.Agent) *agents.Position {
	return &agents.Position{Head: agents.Head{Tree: a.Head.Tree, Node: session.ID(a.Head.Node)}}
}

// Switch moves the head of an agent to another of its trees. TREE/NODE selects
// a message; TREE selects the last position of the head in that tree, or the
// newest leaf if there is no such position. A tree is selected by its name,
// else its id, else a unique part of its id. An archived tree is restored.
func (ag Agent) Switch(ctx context.Context, to string, o checkpoint.CutOptions) (*agents.Position, error) {
	op := operation.Operation{Verb: "agent switch", Args: store.Args{"to": to}}
	return updateIdleAgent(ctx, ag.w, op, ag.name, func(tx *store.Tx, a *agents.Agent) (*agents.Position, error) {
		tree, message, exact := strings.Cut(to, "/")
		t, err := treeOf(tx.View, a, tree)
		if err != nil {
			return nil, err
		}
		if exact && message == "" {
			return nil, &fault.Error{Code: fault.Usage, Message: fmt.Sprintf("%q has no message after the /", to)}
		}
		p, cut, err := placeInTree(tx.View, t, message, o)
		if err != nil {
			return nil, err
		}
		pos, err := moveAgent(tx, a, t.ID, p)
		pos.Adjustment = cut
		return pos, err
	})
}

// Rewind moves the head of an agent to a message of one of its trees. Later
// messages stay. Rewind looks for the message in the tree of the head, then in
// the other trees, oldest first, except archived ones. TREE/NODE selects the
// tree; an archived one is then restored.
func (ag Agent) Rewind(ctx context.Context, node string, o checkpoint.CutOptions) (*agents.Position, error) {
	op := operation.Operation{Verb: "agent rewind", Args: store.Args{"node": node}}
	return updateIdleAgent(ctx, ag.w, op, ag.name, func(tx *store.Tx, a *agents.Agent) (*agents.Position, error) {
		tree, p, err := placeOf(tx.View, a, node, o.Partial)
		if err != nil {
			return nil, err
		}
		cut, err := p.Cut(o)
		if err != nil {
			return nil, err
		}
		pos, err := moveAgent(tx, a, tree, p)
		pos.Adjustment = cut
		return pos, err
	})
}

// NewTree adds an empty tree to an agent and moves its head there, as one
// operation. The name tree must be new for the agent; it may be empty.
func (ag Agent) NewTree(ctx context.Context, tree string) (*agents.NewTree, error) {
	op := operation.Operation{Verb: "agent fresh", Args: store.Args{"name": tree}}
	return updateIdleAgent(ctx, ag.w, op, ag.name, func(tx *store.Tx, a *agents.Agent) (*agents.NewTree, error) {
		if err := beginTree(tx, a.Agent, tree); err != nil {
			return nil, err
		}
		made := newTree(tx.View, a)
		_, err := tx.PutAgent(a.Agent, a.File)
		return made, err
	})
}

// BranchTree adds a tree to an agent that begins with a copy of the whole path
// to a message, and moves the agent's head to its end, as one operation.
// [Agent.Rewind] describes node; as SESSION@MESSAGE it may be any message, also
// another agent's.
func (ag Agent) BranchTree(ctx context.Context, node, tree string, o checkpoint.CutOptions) (*agents.NewTree, error) {
	op := operation.Operation{Verb: "agent branch", Args: store.Args{"node": node, "name": tree}}
	return updateIdleAgent(ctx, ag.w, op, ag.name, func(tx *store.Tx, a *agents.Agent) (*agents.NewTree, error) {
		p, cut, err := branchPlace(tx.View, a, node, o)
		if err != nil {
			return nil, err
		}
		if err := checkTreeName(a.Agent, tree); err != nil {
			return nil, err
		}
		snap, err := takeSnapshot(tx, p, checkpoint.Spec{Kind: session.Branch, Title: tree})
		if err != nil {
			return nil, err
		}
		if err := addTree(tx.View, a.Agent, tree, snap.ID, p.MessageID()); err != nil {
			return nil, err
		}
		made := newTree(tx.View, a)
		made.Adjustment = cut
		_, err = tx.PutAgent(a.Agent, a.File)
		return made, err
	})
}

// newTree describes the tree that was added to an agent.
func newTree(v *store.View, a *agents.Agent) *agents.NewTree {
	head := positionOf(a.Agent).Head
	return &agents.NewTree{Tree: head.Tree, Node: head.Node, Head: head, Bytes: v.Index.Entry(head.Tree).Size()}
}

// moveAgent stages the move of an agent's head to p, which is in one of its
// trees.
func moveAgent(tx *store.Tx, a *agents.Agent, tree string, p *store.Place) (*agents.Position, error) {
	a.Move(tree, p.MessageID())
	_, err := tx.PutAgent(a.Agent, a.File)
	return positionOf(a.Agent), err
}

// treeOf returns the tree of an agent that has the name or the id. The name, which the
// agent gave it, takes precedence.
func treeOf(v *store.View, a *agents.Agent, name string) (*agent.Tree, error) {
	kind := lookup.Kind[*agent.Tree]{
		What: "tree",
		Names: func(t *agent.Tree) []lookup.Name {
			return []lookup.Name{{Label: t.Name, ID: t.ID, Title: t.Name, Short: lookup.Short(t.ID)}}
		},
		Candidate: func(t *agent.Tree) fault.Candidate {
			return fault.Candidate{Session: session.ID(t.ID), Kind: "tree", Title: cmp.Or(t.Name, v.Overview(t.ID).Title), Time: session.Bough.Time(t.Created)}
		},
	}
	trees := make([]*agent.Tree, len(a.Trees))
	for i := range a.Trees {
		trees[i] = &a.Trees[i]
	}
	t, err := kind.Find(name, trees)
	if errors.Is(err, fault.NotFound) {
		return nil, noTree(v, a, name)
	}
	return t, err
}

// noTree returns the error for a name that refers to no tree of an agent. It
// says if another agent has the tree.
func noTree(v *store.View, a *agents.Agent, name string) error {
	if id, err := v.Resolve(name); err == nil {
		if ids, err := v.LineIDs(id); err == nil {
			id = ids[0]
		}
		if owner, err := v.Owner(id); err == nil && owner != nil && owner.Name != a.Name {
			return &fault.Error{
				Code:    fault.Refused,
				Message: fmt.Sprintf("the tree %s belongs to %s", id, owner.Name),
				Hint:    "a tree has one owner; a branch of it is a copy",
			}
		}
	}
	return &fault.Error{Code: fault.NotFound, Message: fmt.Sprintf("%s has no tree %q", a.Name, name), Next: fault.Do(fault.ListTrees, a.Name)}
}

// placeInTree returns the place of a message of a tree; if message is "", the
// last position of the head in the tree.
func placeInTree(v *store.View, t *agent.Tree, message string, o checkpoint.CutOptions) (*store.Place, checkpoint.Adjustment, error) {
	l, err := v.TreeLine(t.ID, o.Partial)
	if err != nil {
		return nil, checkpoint.Adjustment{}, err
	}
	p := &store.Place{Line: l, Node: -1}
	if message != "" {
		if p.Node, err = l.Lookup(message); err != nil {
			return nil, checkpoint.Adjustment{}, err
		}
		cut, err := p.Cut(o)
		return p, cut, err
	}
	if nodes := l.Find(t.Node); t.Node != "" && len(nodes) == 1 {
		p.Node = nodes[0]
		return p, checkpoint.Adjustment{}, nil
	}
	p.Node, err = v.End(l, o.Partial)
	return p, checkpoint.Adjustment{}, err
}

// placeOf finds a message in the trees of an agent and returns its place and the id of
// its tree. It looks in an archived tree only if node names the tree.
func placeOf(v *store.View, a *agents.Agent, node string, partial bool) (tree string, p *store.Place, err error) {
	at := func(t *agent.Tree, message string) error {
		l, err := v.TreeLine(t.ID, partial)
		if err != nil {
			return err
		}
		n, err := l.Lookup(message)
		tree, p = t.ID, &store.Place{Line: l, Node: n}
		return err
	}
	if first, message, exact := strings.Cut(node, "/"); exact {
		t, err := treeOf(v, a, first)
		if err == nil {
			err = at(t, message)
		}
		return tree, p, err
	}
	err = at(a.Tree(a.Head.Tree), node)
	archived := false
	for i := range a.Trees {
		if !store.IsNotFound(err) {
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
	if archived && store.IsNotFound(err) {
		missing := store.NoSuch("message", node)
		missing.Hint, missing.Next = "TREE/NODE also finds the messages of an archived tree", fault.Do(fault.ListTrees, a.Name)
		err = missing
	}
	return tree, p, err
}
