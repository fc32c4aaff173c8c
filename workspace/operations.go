package workspace

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"time"

	"github.com/bough-dev/bough/internal/operation"
	"github.com/bough-dev/bough/internal/plural"
	"github.com/bough-dev/bough/internal/sessionid"
	"github.com/bough-dev/bough/workspace/events"
	"github.com/bough-dev/bough/workspace/fault"
)

// args are the arguments of an operation, by name.
type args = map[string]any

// An Operation is one change of a workspace by a user or, with the verb
// "external", the changes by other programs.
type Operation struct {
	Seq      events.Seq     `json:"seq"` // increases by one; also identifies the events of the operation
	Time     time.Time      `json:"time"`
	Verb     string         `json:"verb"`
	Args     map[string]any `json:"args"`
	Sessions []string       `json:"sessions"` // whose files changed
	Undoes   events.Seq     `json:"undoes"`   // the operation that this one undoes, else null
	Undone   bool           `json:"undone"`   // it was undone

	// Original is the operation that Undo reverted or Redo repeated, in their
	// results only. It is nil if the log no longer has it.
	Original *Operation `json:"-"`

	Group events.Seq `json:"group,omitempty"` // number of the first operation of the group, 0 if there is no group; a group is undone as a whole
}

// Operations are operations, newest first.
type Operations struct {
	Operations []Operation `json:"operations"`
}

func (o *Operations) add(op *operation.Operation, undone bool) {
	o.Operations = append(o.Operations, operationOf(op, undone))
}

func operationOf(op *operation.Operation, undone bool) Operation {
	return Operation{
		Seq: op.Seq, Time: timeOf(op.Time), Verb: op.Verb, Args: op.Args, Sessions: list(op.Sessions),
		Undoes: op.Undoes, Undone: undone, Group: op.Group,
	}
}

// LogOptions select operations of the log.
type LogOptions struct {
	// In selects the operations that changed the file of this session. Empty means
	// all.
	In string
	// Limit is the maximum number of operations. Zero means all.
	Limit int
	// Groups counts a group as one operation for Limit; all operations of a group
	// are returned.
	Groups bool
}

// Log returns the operations on the workspace, newest first.
func (w *Workspace) Log(ctx context.Context, o LogOptions) (_ *Operations, err error) {
	defer func() { err = explained(err) }()
	ops := &Operations{Operations: []Operation{}}
	root, err := w.store.open(ctx)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	v := &View{store: w.store, ctx: ctx, root: root}
	if o.In != "" {
		o.In, err = read(ctx, w.store, func(v *View) (string, error) { return v.loggedSession(o.In) })
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
		w.store.opts.Note(fmt.Sprintf("%v", damage))
	}
	back := map[events.Seq]bool{}
	left := counter{limit: o.Limit, groups: o.Groups}
	for op := range v.operations(log, &err) {
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
			ops.add(op, back[op.Seq])
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

// operations returns the operations of a log, newest first, except one in
// progress. It stores a read error in failed and adds a note for a malformed
// line.
func (v *View) operations(log *operation.Log, failed *error) iter.Seq[*operation.Operation] {
	return func(yield func(*operation.Operation) bool) {
		damaged := 0
		defer func() {
			if damaged > 0 {
				v.store.opts.Note(fmt.Sprintf("%s in the log of operations cannot be read", plural.Of(damaged, "line")))
			}
		}()
		for line, err := range log.Newest() {
			var damage *operation.DamageError
			switch {
			case errors.As(err, &damage):
				damaged++
			case err != nil:
				*failed = err
				return
			case !line.Settled && len(line.Changes) > 0 && !v.made(line.Changes[0]):
			case !yield(line.Operation):
				return
			}
		}
	}
}

// loggedSession resolves the name of a session, which may be the id of a
// session that no longer exists. It returns "" for "".
func (v *View) loggedSession(name string) (string, error) {
	if name == "" {
		return "", nil
	}
	id, err := v.resolve(name)
	if err != nil && explanation(err).Code == fault.NotFound && sessionid.Valid(name) {
		return name, nil
	}
	return id, err
}
