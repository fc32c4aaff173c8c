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

// Limits of one commit: operations, and files and their bytes, since files and
// outlines stay in memory until the commit.
const (
	mostOperations = 64
	mostFiles      = 128
	mostBytes      = 64 << 20
)

// A flush is the result of committing several operations of one group together.
type flush[T any] struct {
	prepared T                      // returned by the function that staged them
	group    operation.Seq          // number of the group, 0 if there is none
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
				Code:    explanation(err).Code,
				Message: fmt.Sprintf("%d of %d changes were made, those from %s on were not: %v", len(out.made), len(list), first.Changes[0].File, err),
				Hint:    "committed changes are kept; try again",
				Err:     err,
			}
		}
		return out, err
	})
}

// isPartial reports whether err is from a commit that completed some
// operations.
func isPartial(err error) bool {
	var partial *durable.PartialError
	return errors.As(err, &partial)
}

// begin begins another operation and returns it. Later changes belong to it. It
// is committed together with those before it. A committed operation gets a
// number; an operation without changes is dropped.
func (tx *Tx) begin(op operation.Operation) *operation.Operation {
	tx.earlier = tx.prepared()
	tx.batch.Begin()
	tx.op = newOperation(op)
	return tx.op
}

// newOperation returns a copy of op to add changes to.
func newOperation(op operation.Operation) *operation.Operation {
	op.Args = maps.Clone(op.Args)
	return &op
}

// prepared returns the staged operations, for the log.
func (tx *Tx) prepared() []*operation.Operation {
	if len(tx.op.Changes) == 0 && !tx.logEmpty {
		return tx.earlier
	}
	return append(slices.Clip(tx.earlier), tx.op)
}

// withdraw removes the numbers of the operations that were not committed
// because of err. seq is the number of the last operation before them.
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

// full reports whether the staged changes should be committed before others are
// added.
func (tx *Tx) full() bool {
	bytes := 0
	for _, o := range tx.written {
		bytes += o.Size()
	}
	return len(tx.prepared()) >= mostOperations || tx.batch.Len() >= mostFiles || bytes >= mostBytes
}
