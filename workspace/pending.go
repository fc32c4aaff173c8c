package workspace

import (
	"context"
	"slices"

	"github.com/bough-dev/bough/workspace/lines"
	"github.com/bough-dev/bough/workspace/task"
)

// Pending returns how many messages are pending on the path to each of
// messages. Without messages, it returns the counts for the leaves of the line,
// except those of zero. Unknown messages are omitted.
func (ln Line) Pending(ctx context.Context, messages ...string) ([]lines.Pending, error) {
	return read(ctx, ln.w.store, func(v *View) (list []lines.Pending, err error) {
		l, err := v.lineNamed(ln.name, false)
		if err != nil {
			return nil, err
		}
		open, err := v.pendingIn(l)
		if err != nil {
			return nil, err
		}
		c := &counting{line: l, open: open, counts: make([]counted, l.Len())}
		if len(messages) == 0 {
			for _, n := range l.Leaves() {
				if p := c.pending(n); p.Count > 0 {
					list = append(list, p)
				}
			}
			return list, nil
		}
		var nodes []int
		for _, message := range messages {
			if n, err := l.find(message); err == nil {
				p := c.pending(n)
				p.Message = message
				nodes, list = append(nodes, n), append(list, p)
			}
		}
		above := l.above(nodes)
		for i, n := range nodes {
			list[i].Covered = above[n]
		}
		return list, nil
	})
}

// pendingIn returns, for each node of a line, whether it is to be tracked.
func (v *View) pendingIn(l *line) (open []bool, err error) {
	open = make([]bool, l.Len())
	if !l.tracks() {
		return open, nil
	}
	err = v.store.look(v.root, func(log *task.Log) {
		for n := range open {
			open[n] = l.Stored(n) && log.State(l.ID(n)).Open()
		}
	})
	return open, err
}

// A counting counts pending messages on paths and visits each message once.
type counting struct {
	*line
	open   []bool
	counts []counted // of the paths to visited nodes
	walk   []int
}

// A counted is the pending count of a path.
type counted struct {
	known bool
	count int
	first int // the first pending node, if count is not 0
}

// pending returns the pending count on the path to n.
func (c *counting) pending(n int) lines.Pending {
	c.walk = c.walk[:0]
	for at := n; at >= 0 && !c.counts[at].known; at = c.Parent(at) {
		c.walk = append(c.walk, at)
	}
	for _, at := range slices.Backward(c.walk) {
		k := counted{}
		if parent := c.Parent(at); parent >= 0 {
			k = c.counts[parent]
		}
		if c.open[at] {
			if k.count++; k.count == 1 {
				k.first = at
			}
		}
		k.known = true
		c.counts[at] = k
	}
	p := lines.Pending{Message: c.ID(n), Count: c.counts[n].count}
	if p.Count > 0 {
		p.First = c.ID(c.counts[n].first)
	}
	return p
}

// above returns the ancestors of nodes.
func (l *line) above(nodes []int) map[int]bool {
	above := map[int]bool{}
	for _, n := range nodes {
		for n = l.Parent(n); n >= 0 && !above[n]; n = l.Parent(n) {
			above[n] = true
		}
	}
	return above
}

// Batch returns the next messages to track on the path to a message of a line:
// the first pending ones, up to the next fork. It returns nil if there are
// none.
func (ln Line) Batch(ctx context.Context, message string, s task.Sizes) (*lines.Batch, error) {
	return read(ctx, ln.w.store, func(v *View) (*lines.Batch, error) {
		l, err := v.lineNamed(ln.name, false)
		if err != nil {
			return nil, err
		}
		node, err := l.find(message)
		if err != nil {
			return nil, err
		}
		open, err := v.pendingIn(l)
		if err != nil {
			return nil, err
		}
		path, children := l.Path(node), l.Children()
		steps := make([]task.Message, len(path))
		for i, n := range path {
			steps[i] = task.Message{Open: open[n], Fork: len(children[n]) > 1}
		}
		next := task.Next(steps, s)
		if len(next.New) == 0 {
			return nil, nil
		}
		return v.batchOf(l, path, children, next)
	})
}

func (v *View) batchOf(l *line, path []int, children [][]int, next task.Batch) (b *lines.Batch, err error) {
	path = path[:next.New[len(next.New)-1]+1]
	b = &lines.Batch{Line: l.Parts[0].ID, UUID: l.uuid(), Branch: l.ID(l.branch(path, children))}
	for _, i := range next.New {
		b.New = append(b.New, l.ID(path[i]))
	}
	for _, n := range path {
		b.Path = append(b.Path, l.ID(n))
	}
	before, _ := next.Context()
	shown := make([]int, len(next.Shown))
	for i, place := range next.Shown {
		shown[i] = path[place]
	}
	nodes, err := v.nodesOf(l, shown)
	if err != nil {
		return nil, err
	}
	b.Context, b.Nodes = nodes[:len(before)], nodes[len(before):]
	return b, v.store.look(v.root, func(log *task.Log) {
		b.Tasks = log.Visible(l.idsOf(path))
		for _, t := range log.All(l.ids()) {
			b.Order = max(b.Order, t.Order)
		}
	})
}

// branch returns the node that identifies the branch at the end of a path: the
// last node that is not an oldest child, else the root.
func (l *line) branch(path []int, children [][]int) int {
	for i := len(path) - 1; i > 0; i-- {
		if children[path[i-1]][0] != path[i] {
			return path[i]
		}
	}
	return path[0]
}
