package store

import (
	"slices"
	"sync"

	"github.com/bough-dev/bough/agent/turn"
	"github.com/bough-dev/bough/internal/operation"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace/events"
)

// live passes the text of replies in progress, which is not logged, to readers
// of events in this process.
type live struct {
	mu      sync.Mutex
	readers map[*liveReader]bool
}

// A liveReader is a reader of events.
type liveReader struct {
	list []LivePiece
	More chan struct{} // signals that list is not empty
}

// A LivePiece is an event to be delivered after an operation.
type LivePiece struct {
	events.Event
	After operation.Seq
}

// Content sends a chunk of text to all readers, and returns the event.
func (l *live) Content(w *Store, name, tree string, after operation.Seq, act turn.Action) events.Event {
	e := events.Event{
		Time: Instant(w.Opts.Now()), Type: events.ChatContent, Session: session.ID(tree), Message: session.ID(act.ID),
		Agent: name, Text: act.Text, Verb: "agent chat",
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for r := range l.readers {
		r.list = append(r.list, LivePiece{e, after})
		select {
		case r.More <- struct{}{}:
		default:
		}
	}
	return e
}

// Listen adds a reader. It receives events until leave is called.
func (l *live) Listen() (r *liveReader, leave func()) {
	r = &liveReader{More: make(chan struct{}, 1)}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.readers == nil {
		l.readers = map[*liveReader]bool{}
	}
	l.readers[r] = true
	return r, func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		delete(l.readers, r)
	}
}

// Take returns the events since the last call.
func (l *live) Take(r *liveReader) []LivePiece {
	l.mu.Lock()
	defer l.mu.Unlock()
	list := r.list
	r.list = nil
	return list
}

// Merge inserts each piece after the events of the operation that it follows.
func Merge(logged []events.Event, pieces []LivePiece) []events.Event {
	if len(pieces) == 0 {
		return logged
	}
	all := make([]events.Event, 0, len(logged)+len(pieces))
	for _, e := range logged {
		n := slices.IndexFunc(pieces, func(p LivePiece) bool { return p.After >= e.Seq })
		if n < 0 {
			n = len(pieces)
		}
		for _, p := range pieces[:n] {
			all = append(all, p.Event)
		}
		all, pieces = append(all, e), pieces[n:]
	}
	for _, p := range pieces {
		all = append(all, p.Event)
	}
	return all
}
