package store

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
	MaxOperations = 64
	maxFiles      = 128
	maxBytes      = 64 << 20
)

// A flush is the result of committing several operations of one group together.
type flush[T any] struct {
	Prepared T                      // returned by the function that staged them
	Group    operation.Seq          // number of the group, 0 if there is none
	Made     []*operation.Operation // the committed ones, in order
	Seq      operation.Seq          // of the last line of the log
}

// CreateGroup creates the workspace if it does not exist, calls f under the lock, and
// commits the operations that f staged, each after a call of [Tx.Begin], with a single sync for
// all. They belong to group; 0 begins a new one. Each operation is atomic by itself. If
// committing fails after some operations, the flush has these, the error names the first
// one that was not committed, and f is not called again.
func CreateGroup[T any](ctx context.Context, w *Store, verb string, group operation.Seq, f func(*Tx) (T, error)) (flush[T], error) {
	if err := w.Make(); err != nil {
		return flush[T]{}, err
	}
	return Locked(ctx, w, operation.Operation{Verb: verb}, Mode{}, func(tx *Tx) (out flush[T], err error) {
		tx.Grouped, tx.Group = true, group
		out.Prepared, err = f(tx)
		err = tx.Conclude(err)
		list := tx.prepared()
		out.Seq, out.Made = tx.Seq, slices.DeleteFunc(slices.Clone(list), func(o *operation.Operation) bool { return o.Seq == 0 })
		if len(out.Made) > 0 {
			out.Group = tx.Group
		}
		if IsPartial(err) {
			first := list[len(out.Made)]
			err = &fault.Error{
				Code:    Explain(err).Code,
				Message: fmt.Sprintf("%d of %d changes were made, those from %s on were not: %v", len(out.Made), len(list), first.Changes[0].File, err),
				Hint:    "committed changes are kept; try again",
				Err:     err,
			}
		}
		return out, err
	})
}

// A group is a group of operations that is being made.
type group struct {
	seq  operation.Seq // 0 before the first operation
	verb string
}

// Together returns w whose operations by [Update] all belong to one group, so that undo reverts
// them at once; their argument "for" is verb, which made them. Other operations may come between
// them. It must not be used by several goroutines at the same time.
func (w *Store) Together(verb string) *Store {
	t := *w
	t.together = &group{verb: verb}
	return &t
}

// IsPartial reports whether err is from a commit that completed some
// operations.
func IsPartial(err error) bool {
	var partial *durable.PartialError
	return errors.As(err, &partial)
}

// Begin begins another operation and returns it. Later changes belong to it. It
// is committed together with those before it. A committed operation gets a
// number; an operation without changes is dropped.
func (tx *Tx) Begin(op operation.Operation) *operation.Operation {
	tx.earlier = tx.prepared()
	tx.Batch.Begin()
	tx.Op = newOperation(op)
	return tx.Op
}

// newOperation returns a copy of op to add changes to.
func newOperation(op operation.Operation) *operation.Operation {
	op.Args = maps.Clone(op.Args)
	return &op
}

// prepared returns the staged operations, for the log.
func (tx *Tx) prepared() []*operation.Operation {
	if len(tx.Op.Changes) == 0 && tx.Op.Files == nil && !tx.LogEmpty {
		return tx.earlier
	}
	return append(slices.Clip(tx.earlier), tx.Op)
}

// withdraw removes the numbers of the operations that were not committed
// because of err. seq is the number of the last operation before them.
func (tx *Tx) withdraw(seq operation.Seq, err error) {
	list := tx.prepared()
	var partial *durable.PartialError
	if errors.As(err, &partial) {
		seq, list = list[partial.Made-1].Seq, list[partial.Made:]
	}
	tx.Seq = seq
	for _, o := range list {
		o.Seq = 0
	}
}

// Full reports whether the staged changes should be committed before others are
// added.
func (tx *Tx) Full() bool {
	bytes := 0
	for _, o := range tx.Written {
		bytes += o.Size()
	}
	return len(tx.prepared()) >= MaxOperations || tx.Batch.Len() >= maxFiles || bytes >= maxBytes
}
