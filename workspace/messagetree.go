package workspace

import (
	"context"
	"slices"
	"time"

	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace/bookmark"
)

// A MessageTree is the messages of one conversation as a tree. Where messages
// follow each other without a fork they are one straight run.
//
// It is a list and no nested value: a conversation that was answered twice at each
// message has as many levels as it has messages, and JSON that is nested so deep
// can hardly be read.
type MessageTree struct {
	Session string        `json:"session_id"` // the first file of the conversation
	Runs    []StraightRun `json:"runs"`       // each after its parent and all that comes from its older siblings
}

// A StraightRun is messages that follow each other, of which none but the last
// was answered by another one than the next.
type StraightRun struct {
	First      string       `json:"first"` // the ids of the first message and the last
	Last       string       `json:"last"`
	Count      int          `json:"count"`
	Parent     *int         `json:"parent"`       // where in the list the run is whose last message the first one answers, nil for a root
	ParentID   session.ID   `json:"parent_id"`    // that message, none for a root
	Depth      int          `json:"depth"`        // how many messages there are from the root to the last one
	CreatedAt  time.Time    `json:"created_at"`   // when the first was written, or when the conversation began, if nothing says it
	LastActive time.Time    `json:"last_active"`  // when the last was
	Orphan     bool         `json:"orphan"`       // the parent of the first is missing
	Leaf       bool         `json:"leaf"`         // the last has no reply and is not replaced by another message
	Newest     bool         `json:"newest"`       // it is the leaf where the conversation continues by default
	Joined     []session.ID `json:"joined"`       // the messages that follow by a join, see [session.Tree.Joined]
	Head       session.ID   `json:"head_node_id"` // the message of the run that [Branches] has as its head, none if that is in no message of it
	ReplacedBy session.ID   `json:"replaced_by"`  // the sibling that is the complete version of the last, an incomplete import

	Role      string              `json:"role"`      // of Message
	Text      string              `json:"text"`      // the first words of Message, on one line
	Bookmarks []bookmark.Bookmark `json:"bookmarks"` // on messages of the run, in its order

	Message session.Message `json:"-"` // the first that is not the system's, or the first
}

// MessageTree returns the tree of messages of a session's line, in all of its
// files. Siblings are ordered by time, as the leaves of [Workspace.Branches] are.
func (w *Workspace) MessageTree(ctx context.Context, name string, o session.ReadOptions) (*MessageTree, error) {
	return read(ctx, w.store, func(v *View) (*MessageTree, error) {
		l, err := v.lineOf(name, o.Partial)
		if err != nil {
			return nil, err
		}
		t := &MessageTree{Session: l.Parts[0].ID, Runs: []StraightRun{}}
		files := make([]*session.Session, len(l.Parts))
		for i, part := range l.Parts {
			if files[i], err = v.reopen(part); err != nil {
				return nil, err
			}
		}
		message := func(node int) session.Message { return files[l.Part(node)].Messages[l.Index(node)] }
		said := func(node int) (time.Time, bool) { return message(node).Time() }
		newest, head, depths, labelled := l.Newest(0), v.headOf(l), l.Depths(), v.bookmarksIn(l)
		runs := fold(l.Tree, func(nodes []int) {
			for i, m := range v.byTime(l, nodes, said) {
				nodes[i] = m.node
			}
		})
		for _, r := range runs {
			run := StraightRun{
				First:      l.ID(r.first()),
				Last:       l.ID(r.last()),
				Count:      len(r.nodes),
				Depth:      depths[r.last()],
				CreatedAt:  instant(v.moment(l, r.first(), said).at),
				LastActive: instant(v.moment(l, r.last(), said).at),
				Orphan:     l.Orphan(r.first()),
				Leaf:       l.IsLeaf(r.last()),
				Newest:     r.last() == newest,
				Joined:     []session.ID{},
				Bookmarks:  []bookmark.Bookmark{},
			}
			if by, ok := l.Replaced(r.last()); ok {
				run.Leaf, run.ReplacedBy = false, session.ID(l.ID(by))
			}
			if parent := r.parent; parent >= 0 {
				run.Parent, run.ParentID = &parent, session.ID(l.ID(l.Parent(r.first())))
			}
			spoken := slices.IndexFunc(r.nodes, func(n int) bool { return message(n).Role() != "system" })
			run.Message = message(r.nodes[max(0, spoken)])
			run.Role, run.Text = run.Message.Role(), run.Message.FirstWords()
			for _, n := range r.nodes {
				run.Bookmarks = append(run.Bookmarks, labelled[l.ID(n)]...)
				if l.Joined(n) {
					run.Joined = append(run.Joined, session.ID(l.ID(n)))
				}
			}
			if slices.Contains(r.nodes, head) {
				run.Head = session.ID(l.ID(head))
			}
			t.Runs = append(t.Runs, run)
		}
		return t, nil
	})
}

// A folded is a straight run: its nodes, and where among the runs its parent is, -1
// for none.
type folded struct {
	nodes  []int
	parent int
}

func (r folded) first() int { return r.nodes[0] }
func (r folded) last() int  { return r.nodes[len(r.nodes)-1] }

// fold returns the straight runs of a tree, those of each root with all that comes
// from it, and so on downwards. The roots and the children of a fork are put in order
// first.
func fold(t *session.Tree, order func(nodes []int)) []folded {
	children := t.Children()
	var runs, waiting []folded // of the waiting ones only the first node is known, and the next is their last
	wait := func(nodes []int, parent int) {
		order(nodes)
		for _, n := range slices.Backward(nodes) {
			waiting = append(waiting, folded{[]int{n}, parent})
		}
	}
	var roots []int
	for n := range t.Len() {
		if t.Parent(n) < 0 {
			roots = append(roots, n)
		}
	}
	wait(roots, -1)
	for len(waiting) > 0 {
		last := len(waiting) - 1
		r := waiting[last]
		waiting = waiting[:last]
		next := children[r.last()]
		for ; len(next) == 1; next = children[r.last()] {
			r.nodes = append(r.nodes, next[0])
		}
		runs = append(runs, r)
		wait(next, len(runs)-1)
	}
	return runs
}
