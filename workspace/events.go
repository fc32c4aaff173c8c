package workspace

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"time"

	"github.com/bough-dev/bough/internal/operation"
	"github.com/bough-dev/bough/internal/watch"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace/events"
	"github.com/bough-dev/bough/workspace/fault"
	"github.com/bough-dev/bough/workspace/internal/store"
)

// Events returns the events of the workspace: first those after operation from,
// none if from is negative, then new ones until ctx ends. A slow reader misses
// no event. The events of an operation are returned when it is complete, so a
// method that is called after one reads the new state.
//
// Events checks the workspace when a file changes and every few seconds.
// Changes by other programs are logged as an operation, completed in the index,
// and returned as events: a message event for each message that was appended to
// a session, at most a thousand at once, and a session event for any other
// change. While the sessions folder is missing, nothing is written and no event
// occurs; Options.Note is called. The text of a reply in progress is returned
// only if the agent runs through w; what was received before Events listened is
// one chunk. An error ends the sequence; the error of ctx is not returned.
func (w *Workspace) Events(ctx context.Context, from events.Seq) iter.Seq2[events.Event, error] {
	return func(yield func(events.Event, error) bool) {
		r := &eventReader{w: w.store, last: from}
		if err := r.begin(ctx); err != nil {
			yield(events.Event{}, err)
			return
		}
		ctx, stop := context.WithCancel(ctx)
		defer stop()
		wakes := watch.Paths(ctx, &watch.Options{Note: w.store.Opts.Note},
			filepath.Join(w.store.Dir, session.Dir), filepath.Join(w.store.Dir, filepath.FromSlash(operation.Path)))
		heard, leave := w.store.Live.Listen()
		defer leave()
		away := absence{w: w.store}
		var looked time.Time // when the last check of every session ended
		var took time.Duration
		for {
			var wake watch.Wake
			open, content := true, false
			select {
			case wake, open = <-wakes:
			case <-heard.More:
				content = true
			}
			if !open {
				return
			}
			if away.look() {
				continue
			}
			if !content && (wake.Notice || time.Since(looked) >= checkShare*took) {
				start := time.Now()
				err := heal(ctx, w.store)
				if away.look() {
					continue
				}
				if err != nil && ctx.Err() == nil {
					w.store.Opts.Note("detecting changes of other programs failed: " + err.Error())
				}
				looked = time.Now()
				took = looked.Sub(start)
			}
			for e, err := range r.next(ctx, func() []events.Piece { return w.store.Live.Take(heard) }) {
				if ctx.Err() != nil {
					return
				}
				if err != nil && away.look() {
					break
				}
				if !yield(e, err) || err != nil {
					return
				}
			}
		}
	}
}

// Replies returns the replies in progress of agents that run through w: each as
// an event of the type [events.ChatContent] with the text so far. A chunk that
// was received later continues it at its Offset.
func (w *Workspace) Replies() []events.Piece { return w.store.Live.Replies() }

// An absence records whether the sessions folder of a workspace is missing.
// While it is, nothing may be written: a write would create the folder and log
// that every session was removed.
type absence struct {
	w    *store.Store
	seen bool // the folder has existed
	away bool
}

// look reports whether the sessions folder is missing.
func (a *absence) look() bool {
	dir := filepath.Join(a.w.Dir, session.Dir)
	_, err := os.Stat(dir)
	gone := a.seen && errors.Is(err, fs.ErrNotExist)
	switch {
	case gone && !a.away:
		a.w.Opts.Note(dir + " is missing; events resume when it is restored")
	case a.away && !gone:
		a.w.Opts.Note(dir + " was restored; events resume")
	}
	a.seen, a.away = a.seen || err == nil, gone
	return gone
}

// checkShare limits the time for checks of every session that no change caused:
// one part of this many.
const checkShare = 200

// heal checks every session and, if the index is stale, logs the changes of
// other programs and completes the index.
func heal(ctx context.Context, w *store.Store) error {
	quiet := *w
	quiet.Opts.Note = func(string) {}
	stale, err := store.Read(ctx, &quiet, func(v *store.View) (stale bool, err error) {
		err = v.Whole()
		return v.Index.Stale() || v.Index.Old, err
	})
	if err != nil || !stale || !store.Is(w.Dir) {
		return err
	}
	_, err = store.Locked(ctx, &quiet, operation.Operation{Verb: "watch"}, store.Mode{Present: true}, func(tx *store.Tx) (store.Nothing, error) {
		return store.Nothing{}, tx.Conclude(cmp.Or(tx.View.Whole(), tx.View.CheckPresent()))
	})
	if errors.Is(err, fault.Locked) || errors.Is(err, store.ErrAway) {
		return nil // the owner of the lock sees it too, or the folder reappears
	}
	return err
}
