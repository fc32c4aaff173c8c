package workspace

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/bough-dev/bough/agent"
	"github.com/bough-dev/bough/agent/turn"
	"github.com/bough-dev/bough/internal/operation"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace/agents"
	"github.com/bough-dev/bough/workspace/bookmark"
	"github.com/bough-dev/bough/workspace/fault"
	"github.com/bough-dev/bough/workspace/internal/store"
)

// Trees returns the trees of an agent, without the archived ones unless o.All is set. If a tree
// cannot be read, the Err of its result is set and [Options.Note] is called.
func (ag Agent) Trees(ctx context.Context, o agents.TreesOptions) (*agents.Trees, error) {
	return store.Read(ctx, ag.w.store, func(v *store.View) (*agents.Trees, error) {
		a, err := v.Agent(ag.name)
		if err != nil {
			return nil, err
		}
		trees := &agents.Trees{Trees: []agents.Tree{}}
		for i := range a.Trees {
			if t := &a.Trees[i]; t.Archived && !o.All {
				trees.Omitted++
			} else {
				trees.Trees = append(trees.Trees, *aboutTree(v, a, t))
			}
		}
		return trees, ctx.Err()
	})
}

// aboutTree describes a tree of an agent. If the tree cannot be read, it adds a
// note.
func aboutTree(v *store.View, a *agents.Agent, t *agent.Tree) *agents.Tree {
	about := &agents.Tree{
		ID: t.ID, Name: session.ID(t.Name), CreatedAt: store.Instant(t.Created),
		Current: t.ID == a.Head.Tree, Archived: t.Archived, Node: session.ID(t.Node),
	}
	if about.Err = measure(v, about); about.Err != nil {
		v.Store.Opts.Note(about.Err.Error() + "; the other trees can be used")
	}
	return about
}

// measure counts the messages and leaves of a tree.
func measure(v *store.View, t *agents.Tree) error {
	l, err := v.TreeLine(t.ID, false)
	if err != nil {
		return err
	}
	t.LeafCount, t.MessageCount = len(l.Leaves()), l.Len()
	if e := v.Index.Entry(t.ID); e != nil {
		t.Title = v.Words(e)
	}
	if l.Len() > 0 {
		t.Root = session.ID(l.ID(0))
	}
	return nil
}

// ArchiveTree marks a tree as archived and returns it: [Agent.Trees] omits it,
// and messages are looked up in it only if the tree is named. [Agent.Switch]
// describes tree. The tree of the head is refused. If the tree is archived
// already, ArchiveTree does nothing.
func (ag Agent) ArchiveTree(ctx context.Context, tree string) (*agents.Tree, error) {
	return ag.w.setArchived(ctx, "agent archive", ag.name, tree, true)
}

// RestoreTree reverts [Agent.ArchiveTree] and returns the tree. The head does
// not move. If the tree is not archived, RestoreTree does nothing.
func (ag Agent) RestoreTree(ctx context.Context, tree string) (*agents.Tree, error) {
	return ag.w.setArchived(ctx, "agent restore", ag.name, tree, false)
}

func (w *Workspace) setArchived(ctx context.Context, verb, name, tree string, archived bool) (*agents.Tree, error) {
	op := operation.Operation{Verb: verb, Args: store.Args{"tree": tree}}
	return updateIdleAgent(ctx, w, op, name, func(tx *store.Tx, a *agents.Agent) (*agents.Tree, error) {
		t, err := treeOf(tx.View, a, tree)
		if err != nil {
			return nil, err
		}
		if archived && t.ID == a.Head.Tree {
			return nil, headIn(a, t)
		}
		same := t.Archived == archived
		t.Archived = archived
		about := aboutTree(tx.View, a, t)
		if same {
			return about, nil
		}
		tx.Op.Sessions, tx.Op.Args["tree"] = []string{t.ID}, t.ID
		_, err = tx.WriteAgent(a.Agent, a.File)
		return about, err
	})
}

// headIn returns an error if t is the tree of the head.
func headIn(a *agents.Agent, t *agent.Tree) error {
	e := &fault.Error{Code: fault.Refused, Message: fmt.Sprintf("the head of %s is in the tree %s", a.Name, t.ID), Next: fault.Do(fault.SwitchTree, a.Name)}
	if len(a.Trees) == 1 {
		e.Hint, e.Next = "an agent has at least one tree", fault.Do(fault.RemoveAgent, a.Name)
	}
	return e
}

// Snapshot returns the state of an agent.
func (ag Agent) Snapshot(ctx context.Context) (*agents.Snapshot, error) {
	return store.Read(ctx, ag.w.store, func(v *store.View) (*agents.Snapshot, error) {
		a, err := v.Agent(ag.name)
		if err != nil {
			return nil, err
		}
		s := &agents.Snapshot{
			Agent: a.ID, Session: a.Head.Tree, Head: session.ID(a.Head.Node),
			Bookmarks: []bookmark.Bookmark{}, FollowUpQueue: []turn.Entry{}, SteerQueue: []turn.Entry{},
		}
		if s.Decisions, err = decisions(v, a.Name); err != nil {
			return nil, err
		}
		recoverTurn(v, a)
		s.Turn = a.Turn
		s.Turn.State = cmp.Or(s.Turn.State, turn.Idle)
		for _, e := range a.Queue {
			if e.Mode == turn.Steer {
				s.SteerQueue = append(s.SteerQueue, e)
			} else {
				s.FollowUpQueue = append(s.FollowUpQueue, e)
			}
		}
		for _, b := range v.BookmarksIfAny().Bookmarks {
			if slices.ContainsFunc(a.Trees, func(t agent.Tree) bool { return t.ID == b.Session }) {
				s.Bookmarks = append(s.Bookmarks, b)
			}
		}
		p, err := v.HeadPlaceOf(a.Agent)
		if err == nil && p.Node >= 0 {
			s.ActiveBranch = session.ID(p.ID(p.Branch(p.Path(p.Node), p.Children())))
		}
		return s, err
	})
}
