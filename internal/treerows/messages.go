package treerows

import (
	"slices"

	"github.com/bough-dev/bough/internal/spoken"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace"
)

// A messages builds the items below one conversation, from its messages.
type messages struct {
	*builder
	entry    *workspace.TreeEntry
	runs     []workspace.StraightRun
	children [][]int // of each run
	roots    []int
	weight   []int                   // number of messages of each run and those below it
	leaf     []string                // the last message of the branch with each run
	attached map[string][]attachment // by message
	order    []attachment
	copied   map[string]bool // messages that the origin of the conversation has
	joined   map[session.ID]bool
}

func newMessages(b *builder, e *workspace.TreeEntry, t *workspace.MessageTree, attached []attachment) *messages {
	n := len(t.Runs)
	m := &messages{
		builder: b, entry: e, runs: t.Runs, children: make([][]int, n), weight: make([]int, n), leaf: make([]string, n),
		attached: map[string][]attachment{}, order: attached, copied: map[string]bool{}, joined: map[session.ID]bool{},
	}
	for _, a := range attached {
		m.attached[a.message] = append(m.attached[a.message], a)
	}
	if e.Kind != session.Root {
		for _, s := range t.PathTo(string(e.BranchPoint)) {
			m.copied[s.ID] = true
		}
	}
	for i := range t.Runs {
		if p := t.Runs[i].Parent; p != nil {
			m.children[*p] = append(m.children[*p], i)
		} else {
			m.roots = append(m.roots, i)
		}
		for _, id := range t.Runs[i].Joined {
			m.joined[id] = true
		}
	}
	for i := n - 1; i >= 0; i-- {
		m.weight[i] += t.Runs[i].Count
		if p := t.Runs[i].Parent; p != nil {
			m.weight[*p] += m.weight[i]
		}
		m.leaf[i] = t.Runs[i].Last
		if len(m.children[i]) > 0 {
			m.leaf[i] = m.leaf[m.main(m.children[i])]
		}
	}
	return m
}

// main returns the run with the most messages below it, of equal ones the first.
func (m *messages) main(runs []int) int {
	return slices.MaxFunc(runs, func(a, b int) int { return m.weight[a] - m.weight[b] })
}

// items returns the items of the conversation, and whether the head is at one of its
// messages that has no item.
func (m *messages) items() (items []*item, head bool) {
	if len(m.roots) == 0 {
		return nil, false
	}
	main := m.main(m.roots)
	items, head = m.from(main)
	for _, r := range m.roots {
		if r != main {
			items = append(items, m.branch(r))
		}
	}
	return items, head
}

// from returns the items of a run and of the runs that continue it, and whether the head is
// at one of their messages that has no item.
func (m *messages) from(run int) (items []*item, head bool) {
	for {
		r := &m.runs[run]
		for k := range r.Messages {
			shown, more := m.message(run, k)
			forks := k == len(r.Messages)-1 && len(m.children[run]) > 0
			switch {
			case forks:
				items = append(append(items, more...), m.fork(run, shown))
			case shown != nil:
				items = append(append(items, shown), more...)
			default:
				items = append(items, more...)
				head = head || m.headIn(run, k)
			}
		}
		if len(m.children[run]) == 0 {
			return items, head
		}
		run = m.main(m.children[run])
	}
}

// fork returns the item of the fork at the end of a run. shown is the item of the message,
// which it replaces, nil if there is none.
func (m *messages) fork(run int, shown *item) *item {
	k := len(m.runs[run].Messages) - 1
	n := m.place(Fork, run, k)
	n.Count, n.Head = len(m.children[run]), m.headIn(run, k)
	if shown != nil {
		n.Labels = shown.Labels
	}
	main := m.main(m.children[run])
	for _, c := range m.children[run] {
		if c != main {
			n.below = append(n.below, m.branch(c))
		}
	}
	return n
}

// branch returns the item of the branch that begins with a run. It has the words of its first
// message.
func (m *messages) branch(run int) *item {
	n := m.place(Branch, run, 0)
	n.Count, n.Time = m.weight[run], m.runs[run].LastActive
	n.Joined = m.joined[session.ID(n.Message)]
	n.below, n.Head = m.from(run)
	if len(n.below) > 0 && n.below[0].Kind == Message && n.below[0].Message == n.Message {
		n.Labels, n.Head = n.below[0].Labels, n.Head || n.below[0].Head
		n.below = n.below[1:]
	}
	return n
}

// place returns an item for message k of a run.
func (m *messages) place(kind Kind, run, k int) *item {
	s := m.runs[run].Messages[k]
	return &item{Row: Row{
		ID: rowID(kind, m.entry.ID, s.ID), Kind: kind, Session: m.entry.ID, Message: s.ID, Leaf: m.leaf[run], Title: spoken.Words(s), Role: s.Role(),
	}}
}

// headIn reports whether the head is at message k of a run.
func (m *messages) headIn(run, k int) bool {
	return m.runs[run].Head != "" && string(m.runs[run].Head) == m.runs[run].Messages[k].ID
}

// message returns the item of message k of a run, nil if the filter does not show it, and
// the attached items.
func (m *messages) message(run, k int) (shown *item, more []*item) {
	s := m.runs[run].Messages[k]
	attached := m.attached[s.ID]
	delete(m.attached, s.ID)
	if m.shows(s) {
		shown = m.place(Message, run, k)
		shown.Head, shown.Joined = m.headIn(run, k), m.joined[session.ID(s.ID)]
	}
	for _, a := range attached {
		n := a.item()
		if n.Kind == Bookmark {
			n.Leaf = m.leaf[run]
			switch {
			case m.filter == Forks:
				continue
			case shown != nil:
				shown.Labels = append(shown.Labels, n.Title)
				continue
			}
		}
		more = append(more, n)
	}
	return shown, more
}

// shows reports whether the filter shows a message.
func (m *messages) shows(s session.Message) bool {
	if m.copied[s.ID] {
		return false
	}
	switch m.filter {
	case All:
		return true
	case NoTools:
		return !spoken.ByTool(s)
	case People:
		return spoken.ByPerson(s)
	}
	return false
}

// rest returns the items attached to messages that the conversation does not have.
func (m *messages) rest() (list []attachment) {
	for _, a := range m.order {
		if _, left := m.attached[a.message]; left {
			list = append(list, a)
		}
	}
	return list
}
