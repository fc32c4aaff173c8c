package store

import (
	"context"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/bough-dev/bough/internal/durable"
	"github.com/bough-dev/bough/internal/operation"
	"github.com/bough-dev/bough/internal/restore"
	"github.com/bough-dev/bough/internal/writelock"
)

// Nothing is the result type of a function without a result.
type Nothing struct{}

// Create creates the workspace if it does not exist, and then calls [Update].
func Create[T any](ctx context.Context, w *Store, op operation.Operation, f func(*Tx) (T, error)) (result T, err error) {
	if err := w.Make(); err != nil {
		return result, err
	}
	return Update(ctx, w, op, f)
}

// Make creates the folder of the workspace if it does not exist.
func (w *Store) Make() error {
	root, err := durable.MakeRoot(w.Dir)
	if err != nil {
		return err
	}
	defer root.Close()
	return durable.MakeDir(root, StateDir)
}

// Update calls f with the current workspace, under the lock, and commits the
// staged changes with the index. It returns the result of the last call of f;
// see [Locked]. op names the operation in the log, and for processes that wait
// for the lock.
func Update[T any](ctx context.Context, w *Store, op operation.Operation, f func(*Tx) (T, error)) (T, error) {
	return Locked(ctx, w, op, Mode{}, func(tx *Tx) (T, error) {
		result, err := f(tx)
		return result, tx.Conclude(err)
	})
}

// Conclude commits the staged changes if err is nil. It returns err, or the
// error of the commit.
func (tx *Tx) Conclude(err error) error {
	if err == nil {
		err = tx.commit()
	}
	if err != nil && tx.trash != "" {
		tx.Batch.Discard()
		durable.RemoveEmpty(tx.View.Root, tx.trash)
	}
	return err
}

// Locked completes interrupted operations and calls f with the current workspace, under
// the lock. If a session file differs from the cache, or another program changes it
// before the commit, Locked calls f again. It returns the result of the last call. f
// must not write to captured variables: they would keep values of a discarded call.
//
// Interrupted restores of files are completed before, without the lock, because those of
// folders come first.
func Locked[T any](ctx context.Context, w *Store, op operation.Operation, m Mode, f func(*Tx) (T, error)) (result T, err error) {
	unfinished := false
	run := func(w *Store) error {
		return w.WithLock(ctx, op.Verb, func(root *os.Root) (err error) {
			if unfinished = w.hasUnfinished(root); !unfinished {
				result, err = lockedIn(ctx, w, root, op, m, f)
			}
			return err
		})
	}
	if err = run(w); err == nil && unfinished {
		if err = w.completeRestores(ctx, w, op.Verb); err == nil {
			err = run(w.Restoring())
		}
	}
	return result, err
}

// hasUnfinished reports whether w must complete an interrupted restore of files. The caller
// holds the lock.
func (w *Store) hasUnfinished(root *os.Root) bool {
	if w.completeRestores == nil {
		return false
	}
	if _, err := os.Lstat(filepath.Join(w.Dir, restore.JournalDir)); err != nil { // a single call of the system
		return false
	}
	has, err := restore.HasJournals(root)
	return has && err == nil
}

// WithLock calls f under the lock, with the folder of the workspace, which must
// exist.
func (w *Store) WithLock(ctx context.Context, verb string, f func(root *os.Root) error) (err error) {
	defer func() { err = Explained(err) }()
	if !Is(w.Dir) {
		return noWorkspace(w.Dir)
	}
	root, err := w.Open(ctx)
	if err != nil {
		return err
	}
	defer root.Close()
	if err := MakeLock(root, StateDir); err != nil {
		return err
	}
	wait := max(w.Opts.Wait, 0)
	began := time.Now()
	if w.queue(ctx, wait) {
		defer func() { <-w.turn }()
	}
	holder := writelock.Holder{PID: os.Getpid(), Verb: verb, Since: w.Opts.Now()}
	unlock, err := writelock.Lock(ctx, root, StateDir, holder, max(wait-time.Since(began), 0))
	if err != nil {
		return err
	}
	defer unlock()
	return f(root)
}

// MakeLock creates the folder of a lock, and the file of the lock if the owner
// of the workspace could not open it otherwise.
func MakeLock(root *os.Root, dir string) error {
	if err := durable.MakeDir(root, dir); err != nil {
		return err
	}
	return durable.MakeShared(root, dir+"/"+writelock.FileName)
}

// lockedIn is [Locked] for a caller that holds the lock.
func lockedIn[T any](ctx context.Context, w *Store, root *os.Root, op operation.Operation, m Mode, f func(*Tx) (T, error)) (T, error) {
	w = w.notingOnce()
	try := func(fresh bool) (result T, err error) {
		m := m
		m.writes, m.fresh = true, fresh
		tx, err := w.recovered(ctx, root, m)
		if err != nil {
			return result, err
		}
		defer tx.Finish()
		tx.View.noteTrouble()
		tx.Op = newOperation(op)
		before := tx.Seq
		if w.together != nil {
			tx.Grouped, tx.Group = true, w.together.seq
			if tx.Op.Args == nil {
				tx.Op.Args = Args{}
			}
			tx.Op.Args["for"] = w.together.verb
		}
		if result, err = f(tx); err != nil {
			return result, err
		}
		if w.together != nil {
			w.together.seq = tx.Group
		}
		tx.View.Warn("the log of operations is not compacted", tx.compactLog(before))
		return result, nil
	}
	const tries = 5
	result, err := try(false)
	for n := 1; n < tries && IsChanged(err) && !IsPartial(err); n++ {
		result, err = try(true)
	}
	return result, err
}

// notingOnce returns w with a Note that drops repeated notes: a function that
// is called again may add the same note again.
func (w *Store) notingOnce() *Store {
	var mu sync.Mutex
	noted := map[string]bool{}
	once := *w
	once.Opts.Note = func(note string) {
		mu.Lock()
		repeated := noted[note]
		noted[note] = true
		mu.Unlock()
		if !repeated {
			w.Opts.Note(note)
		}
	}
	return &once
}

// Quiet returns w with a Note that does nothing.
func (w *Store) Quiet() *Store {
	quiet := *w
	quiet.Opts.Note = func(string) {}
	return &quiet
}

// Patient returns w with a longer timeout for the lock.
func (w *Store) Patient() *Store {
	p := *w
	p.Opts.Wait = max(p.Opts.Wait, 30*time.Second)
	return &p
}

// queue waits for the other goroutines that write through w, in order of
// arrival, so that only one at a time waits for the lock. It returns false if
// the time is over.
func (w *Store) queue(ctx context.Context, wait time.Duration) bool {
	ctx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	select {
	case w.turn <- struct{}{}:
		return true
	case <-ctx.Done():
		return false
	}
}
