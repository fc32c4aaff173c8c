package workspace

import (
	"cmp"
	"context"
	"slices"

	"github.com/bough-dev/bough/agent"
	"github.com/bough-dev/bough/session"
)

// AgentTrees are the trees of an agent.
type AgentTrees struct {
	Trees []AgentTree `json:"trees"` // oldest first
}

// An AgentTree is one of an agent's trees.
type AgentTree struct {
	ID           string `json:"id"`   // of the first file of the line
	Name         ID     `json:"name"` // none if it has none
	CreatedAt    string `json:"created_at"`
	Root         ID     `json:"root_node"` // the first message, none in an empty tree
	LeafCount    int    `json:"leaf_count"`
	MessageCount int    `json:"message_count"` // on all branches, each once
	Current      bool   `json:"current"`       // the head is in it

	Node ID    `json:"-"` // where the head is, or was when it was last in it
	Err  error `json:"-"` // why the counts are not known, nil if they are
}

// AgentTrees returns the trees of an agent. One that cannot be read is noted.
func (w *Workspace) AgentTrees(ctx context.Context, name string) (*AgentTrees, error) {
	trees := &AgentTrees{}
	err := w.read(ctx, func(v *view) error {
		a, err := v.agent(name)
		if err != nil {
			return err
		}
		trees.Trees = []AgentTree{}
		for _, t := range a.Trees {
			about := AgentTree{
				ID: t.ID, Name: ID(t.Name), CreatedAt: session.FormatTime(t.Created),
				Current: t.ID == a.Head.Tree, Node: ID(t.Node),
			}
			if about.Err = v.measure(&about); about.Err != nil {
				v.opts.Note(about.Err.Error() + "; the other trees can be used")
			}
			trees.Trees = append(trees.Trees, about)
		}
		return ctx.Err()
	})
	return trees, err
}

// measure counts what a tree holds.
func (v *view) measure(t *AgentTree) error {
	l, err := v.treeLine(t.ID, false)
	if err != nil {
		return err
	}
	t.LeafCount, t.MessageCount = len(l.Leaves()), l.Len()
	if l.Len() > 0 {
		t.Root = ID(l.ID(0))
	}
	return nil
}

// An AgentSnapshot is the state of an agent, for tests and other programs.
type AgentSnapshot struct {
	Agent         string        `json:"agent_id"`
	Session       string        `json:"session_id"`       // the tree that the head is in
	ActiveBranch  ID            `json:"active_branch_id"` // the branch that the head is on: the id of its first message after the fork, of the original one the root's
	Head          ID            `json:"head_node_id"`     // none in an empty tree
	Bookmarks     []Bookmark    `json:"bookmarks"`        // those in its trees
	FollowUpQueue []agent.Entry `json:"follow_up_queue"`
	SteerQueue    []agent.Entry `json:"steer_queue"`
	Turn          agent.Turn    `json:"turn"`
}

// AgentSnapshot returns the state of an agent.
func (w *Workspace) AgentSnapshot(ctx context.Context, name string) (*AgentSnapshot, error) {
	var s *AgentSnapshot
	err := w.read(ctx, func(v *view) error {
		a, err := v.agent(name)
		if err != nil {
			return err
		}
		s = &AgentSnapshot{
			Agent: a.ID, Session: a.Head.Tree, Head: ID(a.Head.Node),
			Bookmarks: []Bookmark{}, FollowUpQueue: []agent.Entry{}, SteerQueue: []agent.Entry{},
		}
		v.recoverTurn(a)
		s.Turn = a.Turn
		s.Turn.State = cmp.Or(s.Turn.State, agent.Idle)
		for _, e := range a.Queue {
			if e.Mode == agent.Steer {
				s.SteerQueue = append(s.SteerQueue, e)
			} else {
				s.FollowUpQueue = append(s.FollowUpQueue, e)
			}
		}
		for _, b := range v.bookmarksIfAny().Bookmarks {
			if slices.ContainsFunc(a.Trees, func(t agent.Tree) bool { return t.ID == b.Session }) {
				s.Bookmarks = append(s.Bookmarks, b)
			}
		}
		p, err := v.headPlaceOf(a.Agent)
		if err == nil && p.node >= 0 {
			s.ActiveBranch = ID(p.ID(p.branch(p.Path(p.node), p.Children())))
		}
		return err
	})
	return s, err
}

// headPlaceOf returns where the head of an agent is.
func (v *view) headPlaceOf(a *agent.Agent) (*place, error) {
	l, err := v.treeLine(a.Head.Tree, true)
	if err != nil {
		return nil, err
	}
	p := &place{l, -1}
	if a.Head.Node != "" {
		p.node, err = l.find(a.Head.Node)
	}
	return p, err
}
