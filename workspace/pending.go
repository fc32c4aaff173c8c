package workspace

import (
	"context"
	"slices"

	"github.com/bough-dev/bough/workspace/internal/store"
	"github.com/bough-dev/bough/workspace/lines"
	"github.com/bough-dev/bough/workspace/task"
)

// Pending returns how many messages are pending on the path to each of
// messages. Without messages, it returns the counts for the leaves of the line,
// except those of zero. Unknown messages are omitted.
func (ln Line) Pending(ctx context.Context, messages ...string) ([]lines.Pending, error) {
	return store.Read(ctx, ln.w.store, func(v *store.View) (list []lines.Pending, err error) {
		l, err := v.LineNamed(ln.name, false)
		if err != nil {
			return nil, err
		}
		open, err := pendingIn(v, l)
		if err != nil {
			return nil, err
		}
		c := &counting{Line: l, open: open, counts: make([]counted, l.Len())}
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
			if n, err := l.Lookup(message); err == nil {
				p := c.pending(n)
				p.Message = message
				nodes, list = append(nodes, n), append(list, p)
			}
		}
		above := l.Above(nodes)
		for i, n := range nodes {
			list[i].Covered = above[n]
		}
		return list, nil
	})
}

// pendingIn returns, for each node of a line, whether it is to be tracked.
func pendingIn(v *store.View, l *store.Line) (open []bool, err error) {
	open = make([]bool, l.Len())
	if !l.Tracks() {
		return open, nil
	}
	err = v.Store.Look(v.Root, func(log *task.Log) {
		for n := range open {
			open[n] = l.Stored(n) && log.State(l.ID(n)).Open()
		}
	})
	return open, err
}

// A counting counts pending messages on paths and visits each message once.
type counting struct {
	*store.Line
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

// Batch returns the next messages to track on the path to a message of a line:
// the first pending ones, up to the next fork. It returns nil if there are
// none.
func (ln Line) Batch(ctx context.Context, message string, s task.Sizes) (*lines.Batch, error) {
	return store.Read(ctx, ln.w.store, func(v *store.View) (*lines.Batch, error) {
		l, err := v.LineNamed(ln.name, false)
		if err != nil {
			return nil, err
		}
		node, err := l.Lookup(message)
		if err != nil {
			return nil, err
		}
		open, err := pendingIn(v, l)
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
		return batchOf(v, l, path, children, next)
	})
}

func batchOf(v *store.View, l *store.Line, path []int, children [][]int, next task.Batch) (b *lines.Batch, err error) {
	path = path[:next.New[len(next.New)-1]+1]
	b = &lines.Batch{Line: l.Parts[0].ID, UUID: l.UUID(), Branch: l.ID(l.Branch(path, children))}
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
	nodes, err := nodesOf(v, l, shown)
	if err != nil {
		return nil, err
	}
	b.Context, b.Nodes = nodes[:len(before)], nodes[len(before):]
	return b, v.Store.Look(v.Root, func(log *task.Log) {
		b.Tasks = log.Visible(l.IDsOf(path))
		for _, t := range log.All(l.IDs()) {
			b.Order = max(b.Order, t.Order)
		}
	})
}
