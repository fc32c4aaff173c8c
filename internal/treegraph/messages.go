package treegraph

import (
	"cmp"
	"time"

	"github.com/bough-dev/bough/internal/spoken"
	"github.com/bough-dev/bough/internal/treepicture"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/merge"
)

// A merging adds the messages of one line to a tree.
type merging struct {
	*builder
	entry  *workspace.TreeEntry
	tree   *workspace.MessageTree
	shared map[string]bool // messages that the line has from its origin
	below  bool            // the line was copied from, or continues, another one of the tree
	mine   map[int]bool    // the nodes that this line added
	joined map[session.ID]bool
}

// messages adds the messages of a line. Those that the tree has are not added again.
func (b *builder) messages(e *workspace.TreeEntry, tree *workspace.MessageTree, below bool) {
	m := &merging{builder: b, entry: e, tree: tree, below: below, mine: map[int]bool{}, joined: map[session.ID]bool{}}
	m.shared = m.sharedPath()
	for i := range tree.Runs {
		for _, id := range tree.Runs[i].Joined {
			m.joined[id] = true
		}
	}
	ends := make([]int, len(tree.Runs)) // the node of the last message of each run
	for i := range tree.Runs {
		r := &tree.Runs[i]
		b.head = cmp.Or(string(r.Head), b.head)
		at := b.first
		if r.Parent != nil {
			at = ends[*r.Parent]
		}
		for k := range r.Messages {
			at = m.message(r, k, at)
		}
		ends[i] = at
		for _, m := range r.Merges {
			if node, ok := b.ids[m.Message]; ok {
				b.mark(node, treepicture.Mark{Kind: treepicture.Merge, Label: m.Title, Link: b.mergedLink(m)})
				b.merges = append(b.merges, merged{node, m.From})
			}
		}
		for _, label := range r.Bookmarks {
			if node, ok := b.ids[label.Message]; ok {
				b.mark(node, treepicture.Mark{Kind: treepicture.Bookmark, Label: label.Label})
			}
		}
	}
}

// mergedLink returns the link of the branch that a message merged, "" if it is not in the tree.
func (b *builder) mergedLink(m merge.Mark) string {
	if b.links.Message == nil || !b.sessions[m.Session] {
		return ""
	}
	return b.links.Message(m.Session, m.From)
}

// sharedPath returns the messages of the path to the branch point, if the tree has that.
// Programs add messages to a copied path, such as a header.
func (m *merging) sharedPath() map[string]bool {
	point := string(m.entry.BranchPoint)
	if _, known := m.ids[point]; !known {
		return nil
	}
	shared := map[string]bool{}
	for _, s := range m.tree.PathTo(point) {
		shared[s.ID] = true
	}
	return shared
}

// message adds message k of a run below the node at, and returns its node.
func (m *merging) message(r *workspace.StraightRun, k, at int) int {
	s := r.Messages[k]
	if node, known := m.ids[s.ID]; known && !m.mine[node] {
		return node
	}
	if m.shared[s.ID] {
		return at
	}
	n := treepicture.Node{Parent: at, Label: spoken.Words(s)}
	if spoken.ByPerson(s) {
		n.Kind = treepicture.Prompt
	}
	if m.links.Message != nil {
		n.Link = m.links.Message(m.entry.ID, s.ID)
	}
	last := k == len(r.Messages)-1
	switch {
	case m.joined[session.ID(s.ID)]:
		n.Edge, n.Note = treepicture.Joined, "joined: parent missing"
	case k == 0 && r.Orphan:
		n.Note = "parent missing"
	case last && r.ReplacedBy != "":
		n.Note = "incomplete"
	case last && r.Leaf:
		n.Note = day(r.LastActive)
	}
	if m.below && !m.mine[at] {
		m.begin(&n)
	}
	node := m.add(n)
	m.mine[node], m.ids[s.ID] = true, node
	if _, has := m.own[m.entry.ID]; !has {
		m.own[m.entry.ID] = node
	}
	return node
}

// begin describes the node with which a branch leaves its origin.
func (m *merging) begin(n *treepicture.Node) {
	e := m.entry
	if e.Kind == session.Continuation {
		return
	}
	if n.Edge == treepicture.Follows {
		n.Edge = treepicture.Copied
	}
	if m.originMissing(e) {
		n.Note = "its origin is deleted"
	}
	if e.Kind == session.Branch {
		mark := treepicture.Mark{Kind: treepicture.Title, Label: e.Title, Link: m.sessionLink(e)}
		n.Marks = append(n.Marks, mark)
	}
}

// day formats the date of a time, "" for the zero time.
func day(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.Format("2 Jan 2006")
}
