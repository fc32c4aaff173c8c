package workspace

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/bough-dev/bough/internal/durable"
	"github.com/bough-dev/bough/internal/operation"
)

// The most that is made at once: so many operations, and, as the files are open and
// the outlines of sessions in memory until then, so many files and bytes.
const (
	mostOperations = 64
	mostFiles      = 128
	mostBytes      = 64 << 20
)

// A flush is what several operations of one group came to that were made at once.
type flush struct {
	group operation.Seq          // of them, 0 if there are none
	made  []*operation.Operation // those that were made, in order
	seq   operation.Seq          // of the last line of the log
}

// makeGroup creates the workspace if it is not there, and writes as writeGroup does.
func (w *base) makeGroup(ctx context.Context, verb string, group operation.Seq, f func(*Tx) error) (*flush, error) {
	if err := w.makeDir(); err != nil {
		return &flush{}, err
	}
	return w.writeGroup(ctx, verb, group, f)
}

// writeGroup calls f with the workspace as it is now, under the lock, and makes the
// operations that f prepared, each after a call of begin, with one wait for the disk
// for all of them. They are of the group; 0 begins one. Each of them is made whole or
// not at all, whatever becomes of the others. With an error none is made but those
// that the flush says, which is never nil: then the error says which was the first
// that is not, and f is not called again.
func (w *base) writeGroup(ctx context.Context, verb string, group operation.Seq, f func(*Tx) error) (out *flush, err error) {
	out = &flush{}
	err = w.locked(ctx, operation.Operation{Verb: verb}, mode{}, func(tx *Tx) error {
		tx.grouped, tx.group = true, group
		err := tx.change(f)
		list := tx.prepared()
		out.seq, out.made = tx.seq, slices.DeleteFunc(slices.Clone(list), func(o *operation.Operation) bool { return o.Seq == 0 })
		if len(out.made) > 0 {
			out.group = tx.group
		}
		if isPartial(err) {
			first := list[len(out.made)]
			err = &Error{
				Code:    Explain(err).Code,
				Message: fmt.Sprintf("%d of %d changes are made, those from %s on are not: %v", len(out.made), len(list), first.Changes[0].File, err),
				Hint:    "what is made stays; try again",
				Err:     err,
			}
		}
		return err
	})
	return out, err
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
