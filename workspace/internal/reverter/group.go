package reverter

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"

	"github.com/bough-dev/bough/internal/operation"
	"github.com/bough-dev/bough/workspace/fault"
	"github.com/bough-dev/bough/workspace/history"
	"github.com/bough-dev/bough/workspace/internal/folders"
	"github.com/bough-dev/bough/workspace/internal/store"
)

// A takingBack is the state of an undo or redo, possibly of a group that is too
// large for one commit.
type takingBack struct {
	verb      string
	in        string                                 // the requested session, "" for any
	only      []operation.Seq                        // the operations that may be the first target, nil for any
	conflicts string                                 // what happens to files that were changed since
	find      finder                                 // finds targets
	targets   []operation.Target                     // remaining targets
	original  map[operation.Seq]*operation.Operation // the operations that the targets of a redo undid
	of        operation.Seq                          // group of the targets, 0 if there is none or it is not known yet
	group     operation.Seq                          // group of the new operations, 0 before the first
	seq       operation.Seq                          // end of the log after the last flush
	done      []*operation.Operation
	held      *folders.Held          // the folder whose files are restored, nil if it is not locked
	about     []*operation.Operation // the operations that done reverted or repeated; nil where the log no longer has them
	all       int                    // number of targets
}

// A finder sets the targets of an undo or redo. newest are the operations of
// the log, newest first. It considers only the group t.of, or if that is 0 only
// the session id, or all for "".
type finder func(t *takingBack, v *store.View, newest iter.Seq[*operation.Operation], id string) error

// takeBack undoes or redoes the operations that find returns.
func takeBack(ctx context.Context, w *store.Store, verb string, o history.UndoOptions, find finder) (*history.Operations, error) {
	t := &takingBack{verb: verb, in: o.In, only: o.Only, conflicts: o.Conflicts, find: find}
	if err := completeRestores(ctx, w, verb); err != nil {
		return nil, err
	}
	w = w.Restoring()
	defer func() { t.release() }()
	for more := true; more; more = len(t.targets) > 0 {
		next, err := store.Locked(t.ctx(ctx), w, operation.Operation{Verb: verb}, store.Mode{}, t.flush)
		for locked, ok := errors.AsType[*lockError](err); ok; locked, ok = errors.AsType[*lockError](err) {
			if err := t.hold(ctx, w, locked.id); err != nil {
				return nil, err
			}
			next, err = store.Locked(t.ctx(ctx), w, operation.Operation{Verb: verb}, store.Mode{}, t.flush)
		}
		if next != nil {
			t = next
		}
		if t.held != nil {
			err = t.held.Conclude(err)
		}
		if err != nil && len(t.done) > 0 {
			return nil, &fault.Error{
				Code:    store.Explain(err).Code,
				Message: fmt.Sprintf("undid %d of %d operations: %v", len(t.done), t.all, err),
				Next:    fault.Do(fault.ContinueUndo, verb),
				Err:     err,
			}
		}
		if err != nil {
			return nil, err
		}
	}
	done := &history.Operations{}
	for i, op := range slices.Backward(t.done) {
		result := store.OperationOf(op, false)
		if t.about[i] != nil {
			original := store.OperationOf(t.about[i], t.verb == operation.Undo)
			result.Original = &original
		}
		done.Operations = append(done.Operations, result)
	}
	return done, nil
}

// flush commits as many of the targets as one commit allows, and returns the
// next state of t. It does not modify t.
func (t *takingBack) flush(tx *store.Tx) (*takingBack, error) {
	next := *t
	next.done, next.about = slices.Clip(t.done), slices.Clip(t.about)
	return &next, next.advance(tx)
}

func (t *takingBack) advance(tx *store.Tx) error {
	if len(t.done) == 0 || tx.Seq != t.seq {
		if err := t.look(tx.View); err != nil || len(t.targets) == 0 {
			return err
		}
	}
	tx.Grouped, tx.Group = t.of != 0, t.group
	prepared, err := t.prepare(tx)
	if err = tx.Conclude(err); err != nil && !store.IsPartial(err) {
		return err
	}
	if err != nil {
		n := slices.IndexFunc(prepared, func(op *operation.Operation) bool { return op.Seq == 0 && len(op.Changes) > 0 })
		prepared = prepared[:n]
	}
	t.done = append(t.done, prepared...)
	t.seq, t.group = tx.Seq, tx.Group
	about := t.originals(len(prepared))
	t.about = append(t.about, about...)
	tx.View.Warn("files that follow from the change were not all written", afterUndo(tx, about, t.verb == operation.Undo))
	t.targets = t.targets[len(prepared):]
	return err
}

// prepare stages as many of the targets as one commit allows, and returns the
// operations.
func (t *takingBack) prepare(tx *store.Tx) (list []*operation.Operation, err error) {
	lines := map[string]bool{}
	for _, target := range t.targets {
		restored := target.As.Files
		if tx.Full() || slices.ContainsFunc(target.As.Changes, collides(tx)) || restored != nil && len(list) > 0 {
			break
		}
		line, pulled := pulledInto(target.Operation)
		if pulled && len(list) > 0 && (line == "" || lines[""] || lines[line]) {
			break // they may depend on each other, and after a crash only some may be reverted
		}
		lines[line] = true
		if restored != nil && (t.held == nil || t.held.ID != restored.Folder) {
			return list, &lockError{restored.Folder}
		}
		op := tx.Begin(operation.Operation{Verb: t.verb, Args: t.args(target), Undoes: target.Seq})
		if err := revert(tx, target.As, target.Operation); err != nil {
			return list, err
		}
		if restored != nil {
			if err := revertFiles(tx, t.held, target.As, t.conflicts); err != nil {
				return list, err
			}
		}
		if list = append(list, op); restored != nil {
			break
		}
	}
	return list, nil
}

// pulledInto reports whether o received changes of other workspaces, or reverted that, and returns
// the only line that it changed, "" if it changed something else too.
func pulledInto(o *operation.Operation) (line string, ok bool) {
	verb, _ := o.Args["verb"].(string)
	line, _ = o.Args[store.ArgLine].(string)
	return line, o.Verb == operation.Pull || o.Undoes != 0 && verb == operation.Pull
}

// look finds the targets, or the remaining ones of a group.
func (t *takingBack) look(v *store.View) error {
	id, err := v.LoggedSession(t.in)
	if err != nil {
		return err
	}
	log, err := operation.Open(v.Root)
	if err != nil {
		return err
	}
	defer log.Close()
	var failed error
	err = t.find(t, v, v.Operations(log, &failed), id)
	if err = cmp.Or(failed, err); err != nil || len(t.targets) == 0 {
		return err
	}
	if first := t.targets[0]; len(t.done) == 0 && len(t.only) > 0 && !slices.ContainsFunc(t.targets, func(target operation.Target) bool { return slices.Contains(t.only, target.Seq) }) {
		return &fault.Error{Code: fault.Refused, Message: fmt.Sprintf("operation %d (%s) came after it", first.Seq, first.Verb), Hint: "nothing was changed", Next: fault.Do(fault.ListOperations)}
	}
	if t.in == "" {
		t.of = t.targets[0].Group
	}
	t.all = len(t.done) + len(t.targets)
	if len(t.targets) > store.MaxOperations {
		return stillAsLeft(v, t.targets)
	}
	return nil
}

// args returns the arguments of the operation that reverts target.
func (t *takingBack) args(target operation.Target) store.Args {
	list := store.Args{"verb": target.Verb}
	if line, ok := pulledInto(target.Operation); ok {
		list["verb"], list[store.ArgLine] = operation.Pull, line
	}
	if t.in != "" {
		list["in"] = t.in
	}
	if t.of != 0 {
		list[operation.GroupArg] = t.of
	}
	return list
}

// originals returns the operations of users that the first n targets revert or
// repeat.
func (t *takingBack) originals(n int) (list []*operation.Operation) {
	for _, target := range t.targets[:n] {
		of := target.Operation
		if t.verb == operation.Redo {
			of = t.original[of.Undoes]
		}
		list = append(list, of)
	}
	return list
}

// collides returns a function that reports whether a staged change of tx is of the same
// file as a change.
func collides(tx *store.Tx) func(operation.Change) bool {
	return func(c operation.Change) bool {
		return tx.Batch.Touches(c.File) || c.Moved != "" && tx.Batch.Touches(c.Moved)
	}
}

// stillAsLeft returns an error unless the sessions are as the targets, newest
// first, left them, so that a group is reverted completely or not at all.
func stillAsLeft(v *store.View, targets []operation.Target) error {
	seen := map[string]bool{}
	for _, target := range targets {
		for _, c := range target.As.Changes {
			if store.SessionOf(c.File) == "" || c.Link || seen[c.File] {
				continue
			}
			seen[c.File] = true
			if !v.StillAs(c) {
				return newer(target.As, "%s was changed since", c.File)
			}
		}
	}
	return nil
}
