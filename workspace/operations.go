package workspace

import (
	"context"
	"fmt"
	"slices"

	"github.com/bough-dev/bough/internal/operation"
	"github.com/bough-dev/bough/workspace/events"
	"github.com/bough-dev/bough/workspace/history"
	"github.com/bough-dev/bough/workspace/internal/store"
)

// Log returns the operations on the workspace, newest first.
func (w *Workspace) Log(ctx context.Context, o history.LogOptions) (_ *history.Operations, err error) {
	defer func() { err = store.Explained(err) }()
	ops := &history.Operations{Operations: []history.Operation{}}
	root, err := w.store.Open(ctx)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	v := &store.View{Store: w.store, Ctx: ctx, Root: root}
	if o.In != "" {
		o.In, err = store.Read(ctx, w.store, func(v *store.View) (string, error) { return v.LoggedSession(o.In) })
		if err != nil {
			return nil, err
		}
	}
	log, err := operation.Open(root)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	if damage, _, err := log.Broken(); err == nil && damage != nil {
		w.store.Opts.Note(fmt.Sprintf("%v", damage))
	}
	back := map[events.Seq]bool{}
	left := counter{limit: o.Limit, groups: o.Groups}
	for op := range v.Operations(log, &err) {
		if left.over(op.Seq) {
			break
		}
		if op.Undoes != 0 && !back[op.Seq] {
			back[op.Undoes] = true
		}
		if o.In != "" && !slices.Contains(op.Sessions, o.In) {
			continue
		}
		if left.take(op) {
			ops.Operations = append(ops.Operations, store.OperationOf(op, back[op.Seq]))
		}
	}
	return ops, err
}

// A counter counts operations, newest first; if groups is true, it counts each
// group once.
type counter struct {
	limit  int // 0 for no limit
	groups bool
	n      int
	seen   map[events.Seq]bool // the groups so far
	first  events.Seq          // smallest number in seen, 0 for none
}

// take counts o, and reports whether it is within the limit.
func (c *counter) take(o *operation.Operation) bool {
	grouped := c.groups && o.Group != 0
	switch {
	case grouped && c.seen[o.Group]:
		return true
	case c.limit > 0 && c.n == c.limit:
		return false
	}
	c.n++
	if grouped {
		if c.seen == nil {
			c.seen = map[events.Seq]bool{}
		}
		c.seen[o.Group] = true
		if c.first == 0 || o.Group < c.first {
			c.first = o.Group
		}
	}
	return true
}

// over reports whether all operations up to number seq are beyond the limit.
func (c *counter) over(seq events.Seq) bool {
	return c.limit > 0 && c.n == c.limit && (c.first == 0 || seq < c.first)
}
