package workspace

import (
	"context"
	"errors"
	"iter"

	"github.com/bough-dev/bough/internal/operation"
	"github.com/bough-dev/bough/workspace/events"
)

// Position returns the position after the newest operation. The events after it are those
// that [Workspace.Events] returns from its number.
func (w *Workspace) Position(ctx context.Context) (events.Position, error) {
	r := &eventReader{w: w.store, last: -1}
	err := r.begin(ctx)
	return events.Position{Log: r.log, Seq: r.last}, err
}

// EventsBetween returns the events of the operations after a position up to operation
// through, as the log has them. If the log does not have all of them, because the
// position is of another log or they were compacted, the error is [events.ErrPosition]. An
// error ends the sequence.
func (w *Workspace) EventsBetween(ctx context.Context, after events.Position, through events.Seq) iter.Seq2[events.Event, error] {
	return func(yield func(events.Event, error) bool) {
		r := &eventReader{w: w.store, last: after.Seq}
		err := r.past(ctx, after, through, func(e events.Event) bool { return yield(e, nil) })
		if err != nil {
			yield(events.Event{}, err)
		}
	}
}

// past calls yield for the events of the operations after a position up to through, until
// yield returns false.
func (r *eventReader) past(ctx context.Context, after events.Position, through events.Seq, yield func(events.Event) bool) error {
	if err := r.begin(ctx); err != nil {
		return err
	}
	if r.log != after.Log {
		return events.ErrPosition
	}
	root, err := r.w.Open(ctx)
	if err != nil {
		return err
	}
	defer root.Close()
	log, err := operation.Open(root)
	if err != nil {
		return err
	}
	defer log.Close()
	if !r.same(log) { // it was compacted or replaced at this moment
		return events.ErrPosition
	}
	newest := events.Seq(0) // of all lines from r.at
	for line, err := range log.From(r.at) {
		var damage *operation.DamageError
		switch {
		case errors.As(err, &damage):
			continue // its number is missing
		case err != nil:
			return err
		case ctx.Err() != nil:
			return ctx.Err()
		}
		newest = line.Seq
		switch {
		case line.Seq <= r.last:
			continue
		case line.Seq > through:
			return nil
		case line.Seq != r.last+1 || line.Compacted:
			return events.ErrPosition
		}
		for _, e := range r.take(log, line.Operation).events() {
			if !yield(e) {
				return nil
			}
		}
	}
	if newest < after.Seq {
		return events.ErrPosition
	}
	return nil
}
