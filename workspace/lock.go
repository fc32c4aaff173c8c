package workspace

import (
	"context"
	"os"
	"time"

	"github.com/bough-dev/bough/internal/durable"
	"github.com/bough-dev/bough/internal/operation"
	"github.com/bough-dev/bough/internal/writelock"
)

// make creates the workspace if it is not there, and writes.
func (w *base) make(ctx context.Context, op operation.Operation, f func(*Tx) error) error {
	if err := w.makeDir(); err != nil {
		return err
	}
	return w.write(ctx, op, f)
}

// makeDir creates the folder of the workspace if it is not there.
func (w *base) makeDir() error {
	root, err := durable.MakeRoot(w.dir)
	if err != nil {
		return err
	}
	defer root.Close()
	return durable.MakeDir(root, stateDir)
}

// write calls f with the workspace as it is now, under the lock, and makes the
// changes that f prepared, with the index. op says what is going on: to others who
// have to wait, and, with the changes, to the log.
func (w *base) write(ctx context.Context, op operation.Operation, f func(*Tx) error) error {
	return w.locked(ctx, op, mode{}, func(tx *Tx) error { return tx.change(f) })
}

// change calls f, and makes the changes that it prepared.
func (tx *Tx) change(f func(*Tx) error) error {
	err := f(tx)
	if err == nil {
		err = tx.commit()
	}
	if err != nil && tx.trash != "" {
		tx.batch.Discard()
		durable.RemoveEmpty(tx.View.root, tx.trash)
	}
	return err
}

// locked calls f with the workspace as it is now, under the lock, after what an
// interrupted command left is completed. If a session turns out to be another than
// was remembered, or is changed by another program meanwhile, which is before
// anything is written, it calls f again.
func (w *base) locked(ctx context.Context, op operation.Operation, m mode, f func(*Tx) error) error {
	return w.alone(ctx, op.Verb, func(root *os.Root) error { return w.lockedIn(ctx, root, op, m, f) })
}

// alone calls f with the folder of the workspace, which must be there, under the
// lock.
func (w *base) alone(ctx context.Context, verb string, f func(root *os.Root) error) (err error) {
	defer func() { err = explained(err) }()
	if !Is(w.dir) {
		return noWorkspace(w.dir)
	}
	root, err := w.open(ctx)
	if err != nil {
		return err
	}
	defer root.Close()
	if err := makeLock(root, stateDir); err != nil {
		return err
	}
	wait := max(w.opts.Wait, 0)
	began := time.Now()
	if w.queue(ctx, wait) {
		defer func() { <-w.turn }()
	}
	holder := writelock.Holder{PID: os.Getpid(), Verb: verb, Since: w.opts.Now()}
	unlock, err := writelock.Lock(ctx, root, stateDir, holder, max(wait-time.Since(began), 0))
	if err != nil {
		return err
	}
	defer unlock()
	return f(root)
}

// makeLock makes the folder of a lock, and the file of the lock where the owner of the
// workspace could not open it otherwise.
func makeLock(root *os.Root, dir string) error {
	if err := durable.MakeDir(root, dir); err != nil {
		return err
	}
	return durable.MakeShared(root, dir+"/"+writelock.FileName)
}

// lockedIn is locked, for who has the lock.
func (w *base) lockedIn(ctx context.Context, root *os.Root, op operation.Operation, m mode, f func(*Tx) error) error {
	try := func(fresh bool) error {
		m.writes, m.fresh = true, fresh
		tx, err := w.recovered(ctx, root, m)
		if err != nil {
			return err
		}
		defer tx.finish()
		tx.View.noteTrouble()
		tx.op = newOperation(op)
		before := tx.seq
		if err := f(tx); err != nil {
			return err
		}
		tx.View.follow("the log of operations is not compacted", tx.compactLog(before))
		return nil
	}
	const tries = 5
	err := try(false)
	for n := 1; n < tries && isChanged(err) && !isPartial(err); n++ {
		err = try(true)
	}
	return err
}

// patient returns w with a longer wait for others who write.
func (w *base) patient() *base {
	p := *w
	p.opts.Wait = max(p.opts.Wait, 30*time.Second)
	return &p
}

// queue waits for the other goroutines that write by w, in the order in which they
// came, so that no more than one of them asks for the lock. It reports whether it
// is its turn now, and not only the end of the time to wait.
func (w *base) queue(ctx context.Context, wait time.Duration) bool {
	ctx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	select {
	case w.turn <- struct{}{}:
		return true
	case <-ctx.Done():
		return false
	}
}
