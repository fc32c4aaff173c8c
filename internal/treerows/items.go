package treerows

import (
	"slices"
	"strings"
	"time"

	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/bookmark"
)

// An item is a row with the rows below it.
type item struct {
	Row
	below    []*item
	unloaded bool // its messages were not read
}

// A builder builds the items of a source.
type builder struct {
	Source
	filter   Filter
	labels   map[string][]bookmark.Bookmark // by session
	sessions map[string]bool                // all sessions
}

func labelsOf(list []bookmark.Bookmark) map[string][]bookmark.Bookmark {
	m := map[string][]bookmark.Bookmark{}
	for _, b := range list {
		m[b.Session] = append(m[b.Session], b)
	}
	return m
}

// forest returns the items of the roots, the last active tree first.
func (b *builder) forest() []*item {
	b.sessions = map[string]bool{}
	var collect func(list []workspace.TreeEntry)
	collect = func(list []workspace.TreeEntry) {
		for i := range list {
			b.sessions[list[i].ID] = true
			collect(list[i].Children)
		}
	}
	collect(b.Forest.Roots)
	type dated struct {
		*item
		active time.Time
	}
	var roots []dated
	for i := range b.Forest.Roots {
		e := &b.Forest.Roots[i]
		roots = append(roots, dated{b.line(e), lastActive(e)})
	}
	slices.SortStableFunc(roots, func(a, b dated) int { return b.active.Compare(a.active) })
	items := make([]*item, len(roots))
	for i, r := range roots {
		items[i] = r.item
	}
	return items
}

// lastActive returns when a session of a tree was last active.
func lastActive(e *workspace.TreeEntry) time.Time {
	at := e.LastActive
	for i := range e.Children {
		if below := lastActive(&e.Children[i]); below.After(at) {
			at = below
		}
	}
	return at
}

// A line is the files of one conversation.
type line struct {
	files    []string
	messages int
	active   time.Time
	below    []*workspace.TreeEntry // other sessions below one of the files
}

func lineOf(e *workspace.TreeEntry) line {
	var l line
	for at := e; at != nil; {
		l.files = append(l.files, at.ID)
		l.messages += at.MessageCount - at.HeaderCount
		l.active = at.LastActive
		var next *workspace.TreeEntry
		for i := range at.Children {
			if child := &at.Children[i]; next == nil && child.Kind == session.Continuation {
				next = child
			} else {
				l.below = append(l.below, child)
			}
		}
		at = next
	}
	return l
}

// line returns the item of the conversation that begins with e.
func (b *builder) line(e *workspace.TreeEntry) *item {
	l := lineOf(e)
	n := &item{Row: Row{
		ID: rowID(Session, e.ID, ""), Kind: Session, Session: e.ID, Title: e.Title, Count: l.messages, Time: l.active,
		Auto: e.Auto, Orphaned: e.BranchedFrom != "" && !b.sessions[string(e.BranchedFrom)], Delete: b.deletion(e, l),
	}}
	switch {
	case e.Kind == session.Checkpoint:
		n.Kind = Checkpoint
	case e.Kind != session.Root:
		n.Kind = Copy
	}
	attached := b.attached(e, l)
	if t := b.Messages[e.ID]; t != nil {
		m := newMessages(b, e, t, attached)
		n.below, n.Head = m.items()
		n.Head = n.Head || b.headIn(l) && b.Head.Head.Message == ""
		attached = m.rest()
	} else {
		n.Head = b.headIn(l)
		n.unloaded = n.Kind != Checkpoint && l.messages > 1
	}
	n.below = append(n.below, b.unplaced(attached)...)
	return n
}

// headIn reports whether the head is in a file of a line.
func (b *builder) headIn(l line) bool {
	return b.Head != nil && slices.Contains(l.files, b.Head.Head.Session)
}

// markAbove sets AboveHead in the items above the head, and reports whether the head is
// among the items or below them.
func markAbove(items []*item) (found bool) {
	for _, n := range items {
		n.AboveHead = markAbove(n.below)
		found = found || n.Head || n.AboveHead
	}
	return found
}

// rowID returns the id of a row.
func rowID(kind Kind, session, message string) string {
	id := string(kind) + "/" + session
	if message != "" {
		id += "/" + message
	}
	return id
}

// An attachment is what belongs to a message of a conversation.
type attachment struct {
	message string
	item    func() *item
}

// attached returns the items of a conversation that belong to its messages, or to none.
func (b *builder) attached(e *workspace.TreeEntry, l line) (list []attachment) {
	for _, file := range l.files {
		for _, label := range b.labels[file] {
			list = append(list, attachment{label.Message, func() *item {
				return &item{Row: Row{
					ID: rowID(Bookmark, e.ID, label.Message+"/"+label.Label), Kind: Bookmark, Session: e.ID, Message: label.Message, Title: label.Label,
				}}
			}})
		}
	}
	for _, child := range l.below {
		if child.Kind == session.Checkpoint && !b.showsCheckpoint(child) {
			// What was copied from a checkpoint has the messages of its origin too.
			list = append(list, b.attached(child, lineOf(child))...)
			continue
		}
		list = append(list, attachment{pointOf(child), func() *item { return b.line(child) }})
	}
	return list
}

// pointOf returns the message of the conversation above that a session belongs to: where it was
// copied, or with the call that began it.
func pointOf(e *workspace.TreeEntry) string {
	if e.BegunBy != nil {
		return string(e.BegunBy.Message)
	}
	return string(e.BranchPoint)
}

// showsCheckpoint reports whether the filter shows a checkpoint. That of the head is shown.
func (b *builder) showsCheckpoint(e *workspace.TreeEntry) bool {
	return b.headIn(line{files: []string{e.ID}}) || b.filter != Forks && (!e.Auto || b.filter == All)
}

// unplaced returns the items of attachments whose messages were not read: sessions, and then
// bookmarks.
func (b *builder) unplaced(list []attachment) []*item {
	var sessions, labels []*item
	for _, a := range list {
		if n := a.item(); n.Kind == Bookmark {
			labels = append(labels, n)
		} else {
			sessions = append(sessions, n)
		}
	}
	if b.filter == Forks {
		labels = nil
	}
	return append(sessions, labels...)
}

// deletion says whether a conversation can be deleted.
func (b *builder) deletion(e *workspace.TreeEntry, l line) (d Deletion) {
	var copies func(list []*workspace.TreeEntry)
	copies = func(list []*workspace.TreeEntry) {
		for _, child := range list {
			switch {
			case child.Kind == session.Continuation: // the deletion includes it
				copies(lineOf(child).below)
			case child.Auto || child.Penguin || child.BegunBy != nil:
			default:
				d.By = append(d.By, Origin{child.ID, child.Title})
			}
		}
	}
	copies(l.below)
	switch {
	case e.Penguin:
		d.Refused = ReadOnly
	case len(d.By) > 0:
		d.Refused = HasCopies
	case b.Agents[e.ID] != "":
		d.Refused, d.Agent = OwnedByAgent, b.Agents[e.ID]
	}
	return d
}

// find returns the item with an id, nil if there is none.
func find(items []*item, id string) *item {
	for _, n := range items {
		if n.ID == id {
			return n
		}
		if found := find(n.below, id); found != nil {
			return found
		}
	}
	return nil
}

// filtered returns the items that the options select.
func (b *builder) filtered(items []*item, o Options) (kept []*item) {
	text := strings.ToLower(strings.TrimSpace(o.Text))
	for _, n := range items {
		n.below = b.filtered(n.below, o)
		n.Match = text != "" && n.has(text)
		switch {
		case text != "" && !n.Match && len(n.below) == 0:
		case o.Filter == Bookmarks && n.Kind != Bookmark && len(n.below) == 0:
		default:
			kept = append(kept, n)
		}
	}
	return kept
}

// has reports whether a row has a text in lower case.
func (n *item) has(text string) bool {
	return strings.Contains(strings.ToLower(n.Title), text) ||
		slices.ContainsFunc(n.Labels, func(s string) bool { return strings.Contains(strings.ToLower(s), text) })
}

// A lister lists items as rows.
type lister struct {
	Options
	rows []Row
}

func (l *lister) list(items []*item, level, parent int) {
	for i, n := range items {
		n.Level, n.Parent, n.Position, n.Siblings = level, parent, i+1, len(items)
		n.Expandable = len(n.below) > 0 || n.unloaded && l.Text == "" && l.Filter != Bookmarks
		n.Expanded = n.Expandable && l.expanded(n)
		l.rows = append(l.rows, n.Row)
		if n.Expanded {
			l.list(n.below, level+1, len(l.rows)-1)
		}
	}
}

func (l *lister) expanded(n *item) bool {
	if l.Text != "" || l.Filter == Bookmarks {
		return len(n.below) > 0
	}
	if n.ID == l.Root {
		return true
	}
	if open, ok := l.Open[n.ID]; ok {
		return open
	}
	return n.Kind == Fork || n.Kind == Branch || n.AboveHead
}
