package workspace

import (
	"bytes"
	"context"
	"slices"
	"time"

	"github.com/bough-dev/bough/internal/lookup"
	"github.com/bough-dev/bough/internal/spoken"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace/bookmark"
	"github.com/bough-dev/bough/workspace/internal/store"
	"github.com/bough-dev/bough/workspace/lines"
	"github.com/bough-dev/bough/workspace/merge"
	"github.com/tidwall/gjson"
)

// A MessageTree is the message tree of a conversation. A sequence of messages
// without a fork is one run.
//
// It is a flat list, because nested JSON would have as many levels as the
// conversation has forks on a path, and few programs can read JSON that is
// nested thousands of levels deep.
type MessageTree struct {
	Session string        `json:"session_id"` // the first file of the conversation
	Runs    []StraightRun `json:"runs"`       // each after its parent and the descendants of its older siblings
}

// A StraightRun is a sequence of messages, each the only child of the one
// before it. Only the last message can have several children.
type StraightRun struct {
	First      string       `json:"first"` // ids of the first and last message
	Last       string       `json:"last"`
	Count      int          `json:"count"`
	Parent     *int         `json:"parent"`       // index of the parent run, whose last message is the parent of the first; null for a root
	ParentID   session.ID   `json:"parent_id"`    // the last message of the parent run, null for a root
	Depth      int          `json:"depth"`        // how many messages the path to the last one has
	CreatedAt  time.Time    `json:"created_at"`   // of the first message; if unknown, of the conversation
	LastActive time.Time    `json:"last_active"`  // of the last message
	Orphan     bool         `json:"orphan"`       // the parent of the first is missing
	Leaf       bool         `json:"leaf"`         // the last has no reply and is not replaced
	Newest     bool         `json:"newest"`       // it is the default leaf
	Joined     []session.ID `json:"joined"`       // the joined messages, see [session.Tree.Joined]
	Head       session.ID   `json:"head_node_id"` // the message at the head, see [Branches]; null if it is not in this run
	ReplacedBy session.ID   `json:"replaced_by"`  // the complete version of the last message, if that is an incomplete import

	// SubAgents are the conversations of sub-agents that messages of the run began. One whose call is
	// unknown is in the last run.
	SubAgents []lines.SubAgent `json:"sub_agents"`
	// Merges are the messages of the run that merged a branch, in order.
	Merges []merge.Mark `json:"merges"`

	Role      string              `json:"role"`      // of Message
	Text      string              `json:"text"`      // the first words of Message, on one line
	Bookmarks []bookmark.Bookmark `json:"bookmarks"` // on messages of the run, in order

	Message  session.Message   `json:"-"` // the first that is not a system message, else the first
	Messages []session.Message `json:"-"` // all messages of the run, in order
}

// PathTo returns the messages of the path to a message, nil if the tree does not have the
// message. If two messages have the id, the path to the first one is returned.
func (t *MessageTree) PathTo(message string) []session.Message {
	is := func(m session.Message) bool { return m.ID == message }
	for i := range t.Runs {
		k := slices.IndexFunc(t.Runs[i].Messages, is)
		if k < 0 {
			continue
		}
		lists := [][]session.Message{t.Runs[i].Messages[:k+1]}
		for r := &t.Runs[i]; r.Parent != nil; {
			r = &t.Runs[*r.Parent]
			lists = append(lists, r.Messages)
		}
		slices.Reverse(lists)
		return slices.Concat(lists...)
	}
	return nil
}

// MessageTree returns the message tree of the line of a session, in all of its
// files. Siblings are sorted as the leaves of [Workspace.Branches] are.
func (w *Workspace) MessageTree(ctx context.Context, name string, o session.ReadOptions) (*MessageTree, error) {
	return store.Read(ctx, w.store, func(v *store.View) (*MessageTree, error) {
		l, err := lineOf(v, name, o.Partial)
		if err != nil {
			return nil, err
		}
		t := &MessageTree{Session: l.Parts[0].ID, Runs: []StraightRun{}}
		files := make([]*session.Session, len(l.Parts))
		for i, part := range l.Parts {
			if files[i], err = v.Reopen(part); err != nil {
				return nil, err
			}
		}
		message := func(node int) session.Message { return files[l.Part(node)].Messages[l.Index(node)] }
		said := func(node int) (time.Time, bool) { return message(node).Time() }
		newest, head, depths, labelled := l.Newest(0), headOf(v, l), l.Depths(), v.BookmarksIn(l)
		runs := fold(l.Tree, func(nodes []int) {
			for i, m := range byTime(v, l, nodes, said) {
				nodes[i] = m.node
			}
		})
		for _, r := range runs {
			run := StraightRun{
				First:      l.ID(r.first()),
				Last:       l.ID(r.last()),
				Count:      len(r.nodes),
				Depth:      depths[r.last()],
				CreatedAt:  store.Instant(momentOf(v, l, r.first(), said).at),
				LastActive: store.Instant(momentOf(v, l, r.last(), said).at),
				Orphan:     l.Orphan(r.first()),
				Leaf:       l.IsLeaf(r.last()),
				Newest:     r.last() == newest,
				Joined:     []session.ID{},
				SubAgents:  []lines.SubAgent{},
				Merges:     []merge.Mark{},
				Bookmarks:  []bookmark.Bookmark{},
				Messages:   make([]session.Message, 0, len(r.nodes)),
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
				run.Messages = append(run.Messages, message(n))
				run.Bookmarks = append(run.Bookmarks, labelled[l.ID(n)]...)
				if mark, ok := mergeMark(v, l, message(n), message); ok {
					run.Merges = append(run.Merges, mark)
				}
				if l.Joined(n) {
					run.Joined = append(run.Joined, session.ID(l.ID(n)))
				}
			}
			if slices.Contains(r.nodes, head) {
				run.Head = session.ID(l.ID(head))
			}
			t.Runs = append(t.Runs, run)
		}
		t.addSubAgents(subAgentsOf(v, l.Parts[0].ID))
		return t, nil
	})
}

// addSubAgents adds the conversations of sub-agents to the runs.
func (t *MessageTree) addSubAgents(list []lines.SubAgent) {
	if len(list) == 0 || len(t.Runs) == 0 {
		return
	}
	at := map[string]int{}
	for i := range t.Runs {
		for _, m := range t.Runs[i].Messages {
			at[m.ID] = i
		}
	}
	for _, a := range list {
		i, ok := at[string(a.Message)]
		if !ok {
			i = len(t.Runs) - 1
		}
		t.Runs[i].SubAgents = append(t.Runs[i].SubAgents, a)
	}
}

// mergeMarks returns those of some messages of a line that merged a branch.
func mergeMarks(v *store.View, l *store.Line, messages []session.Message) (list []merge.Mark) {
	message := func(node int) session.Message {
		m, err := v.Message(l, node)
		if err != nil {
			return session.Message{} // the mark is named by the session
		}
		return m
	}
	for _, m := range messages {
		if !bytes.Contains(m.Raw, []byte(`"`+merge.Own+`"`)) {
			continue
		}
		if mark, ok := mergeMark(v, l, m, message); ok {
			list = append(list, mark)
		}
	}
	return list
}

// mergeMark returns the mark of a message that merged a branch.
func mergeMark(v *store.View, l *store.Line, m session.Message, message func(node int) session.Message) (merge.Mark, bool) {
	said := gjson.GetBytes(m.Raw, "metadata.bough."+merge.Own)
	if !said.IsObject() {
		return merge.Mark{}, false
	}
	mark := merge.Mark{Message: m.ID, From: said.Get("message_id").Str, Session: said.Get("session_id").Str}
	switch {
	case mark.Session == v.LineID(l):
		for _, end := range l.Find(mark.From) {
			path := l.Path(end)
			for i, n := range path {
				if l.ID(n) == said.Get("base").Str && i+1 < len(path) {
					mark.Title = spoken.Words(message(path[i+1]))
				}
			}
		}
	case v.Has(mark.Session):
		mark.Title = v.Overview(mark.Session).Title
	}
	if mark.Title == "" {
		mark.Title = lookup.Short(mark.Session)
	}
	return mark, true
}

// A folded is the nodes of a run and the index of its parent run, -1 for a
// root.
type folded struct {
	nodes  []int
	parent int
}

func (r folded) first() int { return r.nodes[0] }
func (r folded) last() int  { return r.nodes[len(r.nodes)-1] }

// fold returns the runs of a tree, depth first. order sorts the roots, and the
// children of each fork.
func fold(t *session.Tree, order func(nodes []int)) []folded {
	children := t.Children()
	var runs, waiting []folded // a waiting run has its first node only; the run on top is next
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
