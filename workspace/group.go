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

// The most that is made at once: so many operations, and, as the files are open and
// the outlines of sessions in memory until then, so many files and bytes.
const (
	mostOperations = 64
	mostFiles      = 128
	mostBytes      = 64 << 20
)

// A flush is the outcome of several operations of one group that were made at once.
type flush[T any] struct {
	prepared T                      // what preparing them returned
	group    operation.Seq          // of them, 0 if there are none
	made     []*operation.Operation // those that were made, in order
	seq      operation.Seq          // of the last line of the log
}

// createGroup creates the workspace if it does not exist, calls f with it, under the lock,
// and makes the operations that f prepared, each after a call of begin, with one wait for
// the disk for all of them. They belong to the group; 0 begins one. Each of them is made
// whole or not at all, whatever becomes of the others. With an error none is made but
// those of the flush: then the error names the first that is not made, and f is not called
// again.
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
				Hint:    "what is made stays; try again",
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

// begin begins another operation, which is made together with those before it, and
// returns it. What is prepared from now on belongs to it. When it is made it has a
// number; one without changes never is.
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
	if len(tx.op.Changes) == 0 && !tx.told {
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
