package workspace

import (
	"context"
	"os"
	"sync"
	"time"

	"github.com/bough-dev/bough/internal/durable"
	"github.com/bough-dev/bough/internal/operation"
	"github.com/bough-dev/bough/internal/writelock"
)

// nothing is the result type of a function without a result.
type nothing struct{}

// create creates the workspace if it does not exist, and then calls update.
func create[T any](ctx context.Context, b *base, op operation.Operation, f func(*Tx) (T, error)) (result T, err error) {
	if err := b.makeDir(); err != nil {
		return result, err
	}
	return update(ctx, b, op, f)
}

// makeDir creates the folder of the workspace if it does not exist.
func (w *base) makeDir() error {
	root, err := durable.MakeRoot(w.dir)
	if err != nil {
		return err
	}
	defer root.Close()
	return durable.MakeDir(root, stateDir)
}

// update calls f with the current workspace, under the lock, and commits the
// staged changes with the index. It returns the result of the last call of f;
// see locked. op names the operation in the log, and for processes that wait
// for the lock.
func update[T any](ctx context.Context, b *base, op operation.Operation, f func(*Tx) (T, error)) (T, error) {
	return locked(ctx, b, op, mode{}, func(tx *Tx) (T, error) {
		result, err := f(tx)
		return result, tx.conclude(err)
	})
}

// conclude commits the staged changes if err is nil. It returns err, or the
// error of the commit.
func (tx *Tx) conclude(err error) error {
	if err == nil {
		err = tx.commit()
	}
	if err != nil && tx.trash != "" {
		tx.batch.Discard()
		durable.RemoveEmpty(tx.View.root, tx.trash)
	}
	return err
}

// locked completes interrupted operations and calls f with the current workspace, under
// the lock. If a session file differs from the cache, or another program changes it
// before the commit, locked calls f again. It returns the result of the last call. f
// must not write to captured variables: they would keep values of a discarded call.
func locked[T any](ctx context.Context, b *base, op operation.Operation, m mode, f func(*Tx) (T, error)) (result T, err error) {
	err = b.withLock(ctx, op.Verb, func(root *os.Root) (err error) {
		result, err = lockedIn(ctx, b, root, op, m, f)
		return err
	})
	return result, err
}

// withLock calls f under the lock, with the folder of the workspace, which must
// exist.
func (w *base) withLock(ctx context.Context, verb string, f func(root *os.Root) error) (err error) {
	defer func() { err = explained(err) }()
	if !isWorkspace(w.dir) {
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

// makeLock creates the folder of a lock, and the file of the lock if the owner
// of the workspace could not open it otherwise.
func makeLock(root *os.Root, dir string) error {
	if err := durable.MakeDir(root, dir); err != nil {
		return err
	}
	return durable.MakeShared(root, dir+"/"+writelock.FileName)
}

// lockedIn is locked for a caller that holds the lock.
func lockedIn[T any](ctx context.Context, b *base, root *os.Root, op operation.Operation, m mode, f func(*Tx) (T, error)) (T, error) {
	b = b.notingOnce()
	try := func(fresh bool) (result T, err error) {
		m := m
		m.writes, m.fresh = true, fresh
		tx, err := b.recovered(ctx, root, m)
		if err != nil {
			return result, err
		}
		defer tx.finish()
		tx.View.noteTrouble()
		tx.op = newOperation(op)
		before := tx.seq
		if result, err = f(tx); err != nil {
			return result, err
		}
		tx.View.follow("the log of operations is not compacted", tx.compactLog(before))
		return result, nil
	}
	const tries = 5
	result, err := try(false)
	for n := 1; n < tries && isChanged(err) && !isPartial(err); n++ {
		result, err = try(true)
	}
	return result, err
}

// notingOnce returns b with a Note that drops repeated notes: a function that
// is called again may add the same note again.
func (b *base) notingOnce() *base {
	var mu sync.Mutex
	noted := map[string]bool{}
	once := *b
	once.opts.Note = func(note string) {
		mu.Lock()
		repeated := noted[note]
		noted[note] = true
		mu.Unlock()
		if !repeated {
			b.opts.Note(note)
		}
	}
	return &once
}

// patient returns w with a longer timeout for the lock.
func (w *base) patient() *base {
	p := *w
	p.opts.Wait = max(p.opts.Wait, 30*time.Second)
	return &p
}

// queue waits for the other goroutines that write through w, in order of
// arrival, so that only one at a time waits for the lock. It returns false if
// the time is over.
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
