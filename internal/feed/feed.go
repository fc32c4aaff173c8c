// Package feed passes the events of a workspace on to any number of readers, with one
// watcher for all of them.
//
// The events of an operation are passed on together. A reader that begins somewhere in the
// log gets the operations up to [Reader.From] from the log, and all others from the feed.
package feed

import (
	"context"
	"errors"
	"sync"

	"github.com/bough-dev/bough/internal/operation"
	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/events"
)

// An Item is an event, or a reset.
type Item struct {
	events.Event
	// Reset reports that another log took the place of the log: what a reader knows may be
	// outdated, and events continue at At.
	Reset bool
	// At is the position after an operation, with its last event or a reset. For any other
	// item it is the zero Position.
	At events.Position
}

// A Feed passes events of a workspace on. While it has no reader, nothing is watched.
type Feed struct {
	w      *workspace.Workspace
	buffer int
	note   func(string)

	mu     sync.Mutex
	now    *watch // nil without readers
	closed bool

	running sync.WaitGroup
}

// A watch is one run of the watcher.
type watch struct {
	stop    context.CancelFunc
	at      events.Position // after the last operation that was passed on
	readers map[*Reader]bool
}

// New returns a feed of w. A reader that is more than buffer operations behind is closed.
// note is called with an error that ends the watcher; the readers are closed then, and the
// next one begins anew.
func New(w *workspace.Workspace, buffer int, note func(string)) *Feed {
	return &Feed{w: w, buffer: buffer, note: note}
}

// ErrClosed is the error of a closed feed.
var ErrClosed = errors.New("the server is stopping")

// A Reader gets the items of a feed.
type Reader struct {
	// Items has the items after From, those of an operation together. It is closed when
	// the reader is too slow, when the watcher ends, and when the feed is closed.
	Items <-chan []Item
	From  events.Position

	items chan []Item
	feed  *Feed
	watch *watch
}

// Subscribe adds a reader. The caller closes it.
func (f *Feed) Subscribe(ctx context.Context) (*Reader, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return nil, ErrClosed
	}
	if f.now == nil {
		at, err := f.w.Position(ctx)
		if err != nil {
			return nil, err
		}
		watching, stop := context.WithCancel(context.WithoutCancel(ctx))
		f.now = &watch{stop, at, map[*Reader]bool{}}
		now := f.now
		f.running.Go(func() { f.run(watching, now, at) })
	}
	items := make(chan []Item, f.buffer)
	r := &Reader{Items: items, From: f.now.at, items: items, feed: f, watch: f.now}
	f.now.readers[r] = true
	return r, nil
}

// Close removes the reader.
func (r *Reader) Close() {
	r.feed.mu.Lock()
	defer r.feed.mu.Unlock()
	r.feed.drop(r)
	if len(r.watch.readers) == 0 {
		r.feed.end(r.watch)
	}
}

// Close closes the readers, and waits until the watcher has ended.
func (f *Feed) Close() {
	f.mu.Lock()
	f.closed = true
	if f.now != nil {
		f.end(f.now)
	}
	f.mu.Unlock()
	f.running.Wait()
}

// drop closes a reader if it is open.
func (f *Feed) drop(r *Reader) {
	if r.watch.readers[r] {
		delete(r.watch.readers, r)
		close(r.items)
	}
}

// end closes the readers of a watch and stops it.
func (f *Feed) end(w *watch) {
	w.stop()
	for r := range w.readers {
		f.drop(r)
	}
	if f.now == w {
		f.now = nil
	}
}

// run passes the events after a position on.
func (f *Feed) run(ctx context.Context, w *watch, at events.Position) {
	var batch []Item
	for e, err := range f.w.Events(ctx, at.Seq) {
		if ctx.Err() != nil {
			break
		}
		if err != nil {
			f.note("watching the workspace failed: " + err.Error())
			break
		}
		if replaced(at, e) {
			at = events.Position{Log: e.Log, Seq: e.Seq - 1}
			batch = append(batch, Item{Reset: true, At: at})
		}
		item := Item{Event: e}
		if e.Last {
			at = e.Position()
			item.At = at
		}
		batch = append(batch, item)
		if e.Last || e.Seq == 0 && len(batch) == 1 {
			f.pass(w, at, batch)
			batch = nil
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.end(w)
}

// replaced reports whether an event comes from another log than a position before it.
func replaced(at events.Position, e events.Event) bool {
	switch {
	case e.Seq == 0:
		return false // of a reply in progress
	case e.Seq <= at.Seq:
		return true
	}
	return e.Log != at.Log && at.Log != operation.NoIdentity
}

// pass gives items to all readers, and closes those that have no room.
func (f *Feed) pass(w *watch, at events.Position, items []Item) {
	f.mu.Lock()
	defer f.mu.Unlock()
	w.at = at
	for r := range w.readers {
		select {
		case r.items <- items:
		default:
			f.drop(r)
		}
	}
}
