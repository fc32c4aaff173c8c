package workspace

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/bough-dev/bough/internal/durable"
	"github.com/bough-dev/bough/internal/operation"
	"github.com/bough-dev/bough/workspace/fault"
)

// The limits of one commit: operations, and, as files and outlines stay in memory
// until then, files and bytes.
const (
	mostOperations = 64
	mostFiles      = 128
	mostBytes      = 64 << 20
)

// A flush is the outcome of several operations of one group that were made at once.
type flush[T any] struct {
	prepared T                      // the result of preparing them
	group    operation.Seq          // of them, 0 if there are none
	made     []*operation.Operation // the committed ones, in order
	seq      operation.Seq          // of the last line of the log
}

// createGroup creates the workspace if it does not exist, calls f under the lock, and
// commits the operations that f staged, each after a call of begin, with a single sync for
// all. They belong to group; 0 begins a new one. Each operation is atomic by itself. If
// committing fails after some operations, the flush has these, the error names the first
// one that was not committed, and f is not called again.
func createGroup[T any](ctx context.Context, b *base, verb string, group operation.Seq, f func(*Tx) (T, error)) (flush[T], error) {
	if err := b.makeDir(); err != nil {
		return flush[T]{}, err
	}
	return locked(ctx, b, operation.Operation{Verb: verb}, mode{}, func(tx *Tx) (out flush[T], err error) {
		tx.grouped, tx.group = true, group
		out.prepared, err = f(tx)
		err = tx.conclude(err)
		list := tx.prepared()
		out.seq, out.made = tx.seq, slices.DeleteFunc(slices.Clone(list), func(o *operation.Operation) bool { return o.Seq == 0 })
		if len(out.made) > 0 {
			out.group = tx.group
		}
		if isPartial(err) {
			first := list[len(out.made)]
			err = &fault.Error{
				Code:    Explain(err).Code,
				Message: fmt.Sprintf("%d of %d changes are made, those from %s on are not: %v", len(out.made), len(list), first.Changes[0].File, err),
				Hint:    "committed changes are kept; try again",
				Err:     err,
			}
		}
		return out, err
	})
}

// isPartial reports whether err is that of a commit that made some operations.
func isPartial(err error) bool {
	var partial *durable.PartialError
	return errors.As(err, &partial)
}

// begin begins another operation, committed together with those before it, and
// returns it. Later changes belong to it. A committed operation gets a number; one
// without changes is dropped.
func (tx *Tx) begin(op operation.Operation) *operation.Operation {
	tx.earlier = tx.prepared()
	tx.batch.Begin()
	tx.op = newOperation(op)
	return tx.op
}

// newOperation returns op to be prepared.
func newOperation(op operation.Operation) *operation.Operation {
	op.Args = maps.Clone(op.Args)
	return &op
}

// prepared returns the operations for the log.
func (tx *Tx) prepared() []*operation.Operation {
	if len(tx.op.Changes) == 0 && !tx.always {
		return tx.earlier
	}
	return append(slices.Clip(tx.earlier), tx.op)
}

// withdraw takes the numbers of the operations back that are not made because of err.
// The last one before them has the number seq.
func (tx *Tx) withdraw(seq operation.Seq, err error) {
	list := tx.prepared()
	var partial *durable.PartialError
	if errors.As(err, &partial) {
		seq, list = list[partial.Made-1].Seq, list[partial.Made:]
	}
	tx.seq = seq
	for _, o := range list {
		o.Seq = 0
	}
}

// full reports whether as much is prepared as should be made at once.
func (tx *Tx) full() bool {
	bytes := 0
	for _, o := range tx.written {
		bytes += o.Size()
	}
	return len(tx.prepared()) >= mostOperations || tx.batch.Len() >= mostFiles || bytes >= mostBytes
}
