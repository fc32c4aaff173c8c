package workspace

import (
	"context"
	"errors"
	"iter"
	"slices"

	"github.com/bough-dev/bough/internal/operation"
	"github.com/bough-dev/bough/workspace/events"
	"github.com/bough-dev/bough/workspace/internal/store"
)

// An eventReader reads the log of a workspace.
type eventReader struct {
	w    *store.Store
	last events.Seq // the last operation returned, or the last before the reader began
	at   int64      // offset in the log of the next operation, or of the last one that was read
	read *operation.Operation
	log  string           // the identity of the log, as far as it was read
	held []events.Piece   // that follow an operation that was not read yet
	full operation.Filler // for the operations that were returned
}

// complete returns an operation of log with the contents of its small files.
func (r *eventReader) complete(log *operation.Log, o *operation.Operation) *operation.Operation {
	full, ok := r.full.Fill(o)
	if !ok {
		full, _ = operation.Full(log.Operations(), o)
		r.full.Fill(full)
	}
	return full
}

// begin finds the offset in the log after the last operation.
func (r *eventReader) begin(ctx context.Context) error {
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
	r.at = log.Size()
	for line, err := range log.Newest() {
		var damage *operation.DamageError
		if errors.As(err, &damage) {
			continue
		}
		if err != nil {
			return err
		}
		if r.last < 0 && (line.Settled || len(line.Changes) == 0) { // one without changes, such as a restore of files, is complete
			r.last = line.Seq
		}
		if r.last >= 0 && line.Seq <= r.last {
			r.at, r.read = line.At, line.Operation
			break
		}
		r.at = line.At
	}
	r.last = max(r.last, 0)
	r.log, err = log.Identity(r.last)
	return err
}

// A loggedOperation is an operation with the identity of its log.
type loggedOperation struct {
	*operation.Operation
	log string
}

// events returns the events of o.
func (o loggedOperation) events() []events.Event {
	list := eventsOf(o.Operation)
	for i := range list {
		list[i].Log, list[i].Last = o.log, i == len(list)-1
	}
	return list
}

// take returns an operation of log that was read, and notes that it was.
func (r *eventReader) take(log *operation.Log, o *operation.Operation) loggedOperation {
	r.last = o.Seq
	if r.log == operation.NoIdentity {
		r.log = o.Identity()
	}
	return loggedOperation{r.complete(log, o), r.log}
}

// next returns the events of new operations and, between them, the pieces that take
// returns. It reads the operations first: then take returns every piece that comes before
// one of them. Pieces after an operation that was not read yet are held until then.
func (r *eventReader) next(ctx context.Context, take func() []events.Piece) iter.Seq2[events.Event, error] {
	return func(yield func(events.Event, error) bool) {
		done, err := r.operations(ctx)
		var list []events.Event
		for _, o := range done {
			list = append(list, o.events()...)
		}
		pieces := append(r.held, take()...)
		r.held = nil
		pieces = slices.DeleteFunc(pieces, func(p events.Piece) bool {
			early := p.After > r.last
			if early {
				r.held = append(r.held, p)
			}
			return early
		})
		list = store.Merge(list, pieces)
		for i, e := range list {
			e.Behind = len(list) - 1 - i
			if !yield(e, nil) {
				return
			}
		}
		if err != nil {
			yield(events.Event{}, err)
		}
	}
}

// same reports whether log is the log that was read before: the last operation
// is at its offset.
func (r *eventReader) same(log *operation.Log) bool {
	if r.read == nil {
		return log.Size() >= r.at
	}
	for line, err := range log.From(r.at) {
		return err == nil && line.Seq == r.read.Seq && line.Time == r.read.Time
	}
	return false
}

// compacted reports whether log has the operation that was read last, at
// another offset.
func (r *eventReader) compacted(log *operation.Log) bool {
	if r.read == nil {
		return false
	}
	for line, err := range log.Newest() {
		if err == nil && line.Seq <= r.read.Seq {
			return line.Seq == r.read.Seq && line.Time == r.read.Time
		}
	}
	return false
}

// operations returns the operations since the last call.
func (r *eventReader) operations(ctx context.Context) (done []loggedOperation, err error) {
	root, err := r.w.Open(ctx)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	log, err := operation.Open(root)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	v := &store.View{Store: r.w, Ctx: ctx, Root: root}
	if log.Size() == 0 {
		return nil, nil // the workspace is new, or was moved
	}
	if !r.same(log) {
		if r.at = 0; !r.compacted(log) {
			r.last, r.log = 0, operation.NoIdentity
			r.w.Opts.Note("the log of operations was replaced; events continue with its first operation")
		}
	}
	for line, err := range log.From(r.at) {
		var damage *operation.DamageError
		switch {
		case errors.As(err, &damage):
			continue
		case err != nil:
			return done, err
		case !line.Settled && slices.ContainsFunc(line.Changes, func(c operation.Change) bool { return !v.Made(c) }):
			return done, nil // it is still being committed: a reader would see a part of it
		}
		if r.at, r.read = line.At, line.Operation; line.Seq > r.last {
			done = append(done, r.take(log, line.Operation))
		}
	}
	return done, nil
}
