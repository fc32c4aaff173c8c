package treegraph

import (
	"cmp"
	"slices"
	"strings"

	"github.com/bough-dev/bough/internal/plural"
	"github.com/bough-dev/bough/internal/spoken"
	"github.com/bough-dev/bough/internal/treepicture"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/lines"
)

// A builder adds one tree of sessions to a graph.
type builder struct {
	*Graph
	read  func(id string) (*workspace.MessageTree, error)
	links Links

	first    int               // the node of the conversation at the root, or of the sub-agent that is added
	tops     map[int]bool      // the nodes that were first
	ids      map[string]int    // the node of each message
	lineOf   map[string]string // the first file of the line of each session
	own      map[string]int    // by session ID, the node of a line without messages of its own
	sessions map[string]bool   // ids of all sessions of the tree
	head     string            // the message at the head, "" if it is not among those that were read
	merges   []merged
}

// A merged is a node that merged the branch that ends with a message.
type merged struct {
	node int
	end  string
}

// markMerges sets which nodes were merged, if they are in this tree.
func (b *builder) markMerges() {
	for _, m := range b.merges {
		n := &b.Nodes[m.node]
		if end, ok := b.ids[m.end]; ok && end != m.node && !slices.Contains(n.Merged, end) {
			n.Merged = append(n.Merged, end)
		}
	}
}

func (b *builder) collect(e *workspace.TreeEntry) {
	b.sessions[e.ID] = true
	for i := range e.Children {
		b.collect(&e.Children[i])
	}
}

// add adds a node and returns it.
func (b *builder) add(n treepicture.Node) int {
	b.Nodes = append(b.Nodes, n)
	return len(b.Nodes) - 1
}

// line adds the line that begins with e, and the sessions that were copied from it. above is
// the node of the line that e was copied from, -1 for none.
func (b *builder) line(e *workspace.TreeEntry, above int) {
	below, messages, active := b.files(e)
	tree, err := b.read(e.ID)
	if err != nil {
		b.Unreadable = append(b.Unreadable, err)
	}
	anchor, whole := above, above < 0 || isAgent(e)
	if whole {
		n := treepicture.Node{Parent: above, Kind: treepicture.Conversation, Label: e.Title, Link: b.sessionLink(e), Note: conversationNote(e, messages, active, err)}
		if above >= 0 {
			n.Edge = treepicture.Begun
		}
		anchor = b.add(n)
		b.own[e.ID], b.first, b.tops[anchor] = anchor, anchor, true
		if e.Kind == session.Checkpoint {
			m := b.checkpointMark(e)
			if m.Kind == treepicture.Checkpoint {
				b.Nodes[anchor].Label = "" // the mark has it
			}
			b.mark(anchor, m)
		}
		if b.originMissing(e) {
			b.Nodes[anchor].Note += ", its origin is deleted"
		}
	}
	if err == nil {
		if whole {
			b.nameByFirst(e, tree, anchor)
		}
		b.messages(e, tree, !whole)
	}
	if !whole {
		anchor = b.branchAnchor(e, above, err)
	}
	for _, child := range below {
		b.child(child, anchor)
	}
}

// nameByFirst makes the node of a conversation that of its first message, if the title of the
// conversation is the beginning of that message.
func (b *builder) nameByFirst(e *workspace.TreeEntry, tree *workspace.MessageTree, node int) {
	roots := 0
	for i := range tree.Runs {
		if tree.Runs[i].Parent == nil {
			roots++
		}
	}
	if roots != 1 || e.Kind == session.Checkpoint {
		return
	}
	first := tree.Runs[0].Messages[0]
	words := strings.TrimSuffix(first.FirstWords(), "…")
	if words == "" || !strings.HasPrefix(e.Title, words) || !spoken.ByPerson(first) {
		return
	}
	n := &b.Nodes[node]
	n.Kind, n.Label = treepicture.Prompt, ""
	n.Marks = append(n.Marks, treepicture.Mark{Kind: treepicture.Title, Label: e.Title, Link: n.Link})
	if b.links.Message != nil {
		n.Link = b.links.Message(e.ID, first.ID)
	}
	b.ids[first.ID] = node
}

// files adds the continuations of e to its line. It returns the other children of its files,
// the number of messages, and when the line was last active.
func (b *builder) files(e *workspace.TreeEntry) (below []*workspace.TreeEntry, messages int, active string) {
	for at := e; at != nil; {
		b.lineOf[at.ID] = e.ID
		messages += at.MessageCount - at.HeaderCount
		active = day(at.LastActive)
		var next *workspace.TreeEntry
		for i := range at.Children {
			child := &at.Children[i]
			if next == nil && child.Kind == session.Continuation {
				next = child
				continue
			}
			below = append(below, child)
		}
		at = next
	}
	return below, messages, active
}

// child adds a session below a line that has anchor as its node.
func (b *builder) child(e *workspace.TreeEntry, anchor int) {
	at, known := b.ids[string(e.BranchPoint)]
	switch {
	case isAgent(e):
		b.agent(e, anchor)
		return
	case e.Kind != session.Checkpoint:
		b.line(e, anchor)
		return
	case e.BranchPoint == "":
		at = anchor
	case !known: // its messages are nowhere else
		b.line(e, anchor)
		if at, known = b.ids[string(e.BranchPoint)]; !known {
			return
		}
		b.mark(at, b.checkpointMark(e))
		return
	}
	b.lineOf[e.ID] = e.ID
	b.mark(at, b.checkpointMark(e))
	for i := range e.Children {
		b.child(&e.Children[i], at)
	}
}

// isAgent reports whether a session begins the conversation of a sub-agent.
func isAgent(e *workspace.TreeEntry) bool { return e.BegunBy != nil && e.Kind == session.Root }

// agent adds the conversation of a sub-agent below the message with the call that began it, or
// below the node anchor. Messages that it has from the conversation above are drawn again: it is
// another one.
func (b *builder) agent(e *workspace.TreeEntry, anchor int) {
	if at, known := b.ids[string(e.BegunBy.Message)]; known {
		anchor = at
	}
	ids, first := b.ids, b.first
	b.ids = map[string]int{}
	b.line(e, anchor)
	for id, node := range b.ids {
		if _, known := ids[id]; !known {
			ids[id] = node
		}
	}
	b.ids, b.first = ids, first
}

func (b *builder) checkpointMark(e *workspace.TreeEntry) treepicture.Mark {
	m := treepicture.Mark{Kind: treepicture.Checkpoint, Label: e.Title}
	if e.Auto {
		m.Kind = treepicture.AutoCheckpoint
	}
	if b.links.Checkpoint != nil {
		m.Link = b.links.Checkpoint(e.ID)
	}
	return m
}

// mark adds a mark to a node, unless the node has it.
func (b *builder) mark(node int, m treepicture.Mark) {
	if n := &b.Nodes[node]; !slices.Contains(n.Marks, m) {
		n.Marks = append(n.Marks, m)
	}
}

// branchAnchor returns the node of a branch: of its first message, or, if it has no messages
// that its origin does not have, a node without a message.
func (b *builder) branchAnchor(e *workspace.TreeEntry, above int, err error) int {
	if node, ok := b.own[e.ID]; ok {
		return node
	}
	at, known := b.ids[string(e.BranchPoint)]
	if !known {
		at = above
	}
	note := "no messages of its own"
	if err != nil {
		note = unreadable
	}
	n := treepicture.Node{Parent: at, Edge: treepicture.Copied, Kind: treepicture.Conversation, Label: e.Title, Note: note, Link: b.sessionLink(e)}
	if e.Kind == session.Continuation {
		n.Edge = treepicture.Follows
	}
	b.own[e.ID] = b.add(n)
	return b.own[e.ID]
}

const unreadable = "cannot be read"

func conversationNote(e *workspace.TreeEntry, messages int, active string, err error) string {
	if err != nil {
		return unreadable
	}
	s := plural.Of(messages, "message")
	if active != "" {
		s += ", " + active
	}
	return s
}

// originMissing reports whether a session was copied from one that does not exist.
func (b *builder) originMissing(e *workspace.TreeEntry) bool {
	return e.BranchedFrom != "" && !b.sessions[string(e.BranchedFrom)]
}

func (b *builder) sessionLink(e *workspace.TreeEntry) string {
	switch {
	case e.Kind == session.Checkpoint && b.links.Checkpoint != nil:
		return b.links.Checkpoint(e.ID)
	case b.links.Session != nil:
		return b.links.Session(e.ID)
	}
	return ""
}

// markHead marks the head and the path to it, if it is in this tree. If messages were added
// to its line since it was set, it is the newest one, which the messages have.
func (b *builder) markHead(head *lines.Position) {
	if head == nil {
		return
	}
	line, ok := b.lineOf[head.Head.Session]
	if !ok {
		return
	}
	node, ok := b.ids[cmp.Or(b.head, string(head.Head.Message))]
	if own, has := b.own[line]; has && (!ok || b.Nodes[own].Kind == treepicture.Conversation && !b.tops[own]) {
		node, ok = own, true
	}
	if !ok {
		return
	}
	b.mark(node, treepicture.Mark{Kind: treepicture.Head})
	for at := node; at >= 0; at = b.Nodes[at].Parent {
		b.Nodes[at].Active = true
	}
}
