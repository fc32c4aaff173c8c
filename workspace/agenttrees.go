package workspace

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/bough-dev/bough/agent"
	"github.com/bough-dev/bough/internal/bookmark"
	"github.com/bough-dev/bough/internal/operation"
)

// AgentTreesOptions are the choices for listing the trees of an agent.
type AgentTreesOptions struct {
	All bool // those too that are archived
}

// AgentTrees are the trees of an agent.
type AgentTrees struct {
	Trees []AgentTree `json:"trees"` // oldest first

	LeftOut int `json:"left_out"` // how many are left out because they are archived
}

// An AgentTree is one of an agent's trees.
type AgentTree struct {
	ID           string    `json:"id"`    // of the first file of the line
	Name         ID        `json:"name"`  // none if it has none
	Title        string    `json:"title"` // of its conversation, or the first words of its user, "" if it has neither
	CreatedAt    time.Time `json:"created_at"`
	Root         ID        `json:"root_node"` // the first message, none in an empty tree
	LeafCount    int       `json:"leaf_count"`
	MessageCount int       `json:"message_count"` // on all branches, each once
	Current      bool      `json:"current"`       // the head is in it
	Archived     bool      `json:"archived"`      // its user does not need it now

	Node ID    `json:"node_id"` // where the head is, or was when it was last in it
	Err  error `json:"-"`       // why the counts are not known, nil if they are
}

// AgentTrees returns the trees of an agent, unless they are archived. One that cannot
// be read is noted.
func (w *Workspace) AgentTrees(ctx context.Context, name string, o AgentTreesOptions) (*AgentTrees, error) {
	return read(ctx, w.base, func(v *View) (*AgentTrees, error) {
		a, err := v.agent(name)
		if err != nil {
			return nil, err
		}
		trees := &AgentTrees{Trees: []AgentTree{}}
		for i := range a.Trees {
			if t := &a.Trees[i]; t.Archived && !o.All {
				trees.LeftOut++
			} else {
				trees.Trees = append(trees.Trees, *v.aboutTree(a, t))
			}
		}
		return trees, ctx.Err()
	})
}

// aboutTree tells of a tree of an agent. If it cannot be read, that is noted.
func (v *View) aboutTree(a *Agent, t *agent.Tree) *AgentTree {
	about := &AgentTree{
		ID: t.ID, Name: ID(t.Name), CreatedAt: instant(t.Created),
		Current: t.ID == a.Head.Tree, Archived: t.Archived, Node: ID(t.Node),
	}
	if about.Err = v.measure(about); about.Err != nil {
		v.w.opts.Note(about.Err.Error() + "; the other trees can be used")
	}
	return about
}

// measure counts what a tree holds.
func (v *View) measure(t *AgentTree) error {
	l, err := v.treeLine(t.ID, false)
	if err != nil {
		return err
	}
	t.LeafCount, t.MessageCount = len(l.Leaves()), l.Len()
	if e := v.index.Entry(t.ID); e != nil {
		t.Title = v.words(e)
	}
	if l.Len() > 0 {
		t.Root = ID(l.ID(0))
	}
	return nil
}

// ArchiveTree has a tree of an agent be one that its user does not need now, and
// returns it. It stays where it is, but AgentTrees leaves it out, and no message is
// sought in it unless it is named. A tree is named as SwitchAgent takes it. The one
// that the head is in is refused. If it is archived already, nothing is done.
func (w *Workspace) ArchiveTree(ctx context.Context, name, tree string) (*AgentTree, error) {
	return w.setArchived(ctx, "agent archive", name, tree, true)
}

// RestoreTree takes back what ArchiveTree did, and returns the tree. The head stays
// where it is. If the tree is not archived, nothing is done.
func (w *Workspace) RestoreTree(ctx context.Context, name, tree string) (*AgentTree, error) {
	return w.setArchived(ctx, "agent restore", name, tree, false)
}

func (w *Workspace) setArchived(ctx context.Context, verb, name, tree string, archived bool) (*AgentTree, error) {
	op := operation.Operation{Verb: verb, Args: args{"tree": tree}}
	return updateIdleAgent(ctx, w, op, name, func(tx *Tx, a *Agent) (*AgentTree, error) {
		t, err := tx.View.treeOf(a, tree)
		if err != nil {
			return nil, err
		}
		if archived && t.ID == a.Head.Tree {
			return nil, headIn(a, t)
		}
		same := t.Archived == archived
		t.Archived = archived
		about := tx.View.aboutTree(a, t)
		if same {
			return about, nil
		}
		tx.op.Sessions, tx.op.Args["tree"] = []string{t.ID}, t.ID
		_, err = tx.writeAgent(a.Agent, a.File)
		return about, err
	})
}

// headIn is the error for what cannot be done to the tree that the head is in.
func headIn(a *Agent, t *agent.Tree) error {
	hint := "'bough agent switch " + a.Name + " TREE' moves it to another one first"
	if len(a.Trees) == 1 {
		hint = "an agent has one tree at least; 'bough agent rm " + a.Name + "' removes the agent and leaves the tree"
	}
	return &Error{Code: Refused, Message: fmt.Sprintf("the head of %s is in the tree %s", a.Name, t.ID), Hint: hint}
}

// An AgentSnapshot is the state of an agent, for tests and other programs.
type AgentSnapshot struct {
	Agent         string              `json:"agent_id"`
	Session       string              `json:"session_id"`       // the tree that the head is in
	ActiveBranch  ID                  `json:"active_branch_id"` // the branch that the head is on: the id of its first message after the fork, of the original one the root's
	Head          ID                  `json:"head_node_id"`     // none in an empty tree
	Bookmarks     []bookmark.Bookmark `json:"bookmarks"`        // those in its trees
	FollowUpQueue []agent.Entry       `json:"follow_up_queue"`
	SteerQueue    []agent.Entry       `json:"steer_queue"`
	Turn          agent.Turn          `json:"turn"`
	Decisions     []Decision          `json:"decisions"` // what it adopted of explorations, by the time of these
}

// AgentSnapshot returns the state of an agent.
func (w *Workspace) AgentSnapshot(ctx context.Context, name string) (*AgentSnapshot, error) {
	return read(ctx, w.base, func(v *View) (*AgentSnapshot, error) {
		a, err := v.agent(name)
		if err != nil {
			return nil, err
		}
		s := &AgentSnapshot{
			Agent: a.ID, Session: a.Head.Tree, Head: ID(a.Head.Node),
			Bookmarks: []Bookmark{}, FollowUpQueue: []agent.Entry{}, SteerQueue: []agent.Entry{},
		}
		if s.Decisions, err = v.decisions(a.Name); err != nil {
			return nil, err
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
		return s, err
	})
}

// headPlaceOf returns where the head of an agent is.
func (v *View) headPlaceOf(a *agent.Agent) (*place, error) {
	l, err := v.treeLine(a.Head.Tree, true)
	if err != nil {
		return nil, err
	}
	p := &place{l, -1}
	if a.Head.Node != "" {
		p.node, err = l.exact(a.Head.Node)
	}
	return p, err
}
