package store

import (
	"cmp"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

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
	replies map[string]*liveReply // by agent, which has at most one
}

// A liveReader is a reader of events.
type liveReader struct {
	list []events.Piece
	More chan struct{} // signals that list is not empty
}

// A liveReply is a reply in progress.
type liveReply struct {
	events.Piece // the first chunk
	text         strings.Builder
	length       int // of text, in characters
}

// Content sends a chunk of text to all readers, and returns the event.
func (l *live) Content(w *Store, name, tree string, after operation.Seq, act turn.Action) events.Event {
	e := events.Event{
		Time: Instant(w.Opts.Now()), Type: events.ChatContent, Session: session.ID(tree), Message: session.ID(act.ID),
		Agent: name, Text: act.Text, Verb: "agent chat",
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	r := l.replies[name]
	if r == nil || r.Message != e.Message {
		r = &liveReply{Piece: events.Piece{Event: e, After: after}}
		if l.replies == nil {
			l.replies = map[string]*liveReply{}
		}
		l.replies[name] = r
	}
	e.Offset = r.length
	r.text.WriteString(e.Text)
	r.length += utf8.RuneCountInString(e.Text)
	for r := range l.readers {
		r.add(events.Piece{Event: e, After: after})
	}
	return e
}

func (r *liveReader) add(list ...events.Piece) {
	if r.list = append(r.list, list...); len(r.list) == 0 {
		return
	}
	select {
	case r.More <- struct{}{}:
	default:
	}
}

// Await records which message an agent is writing, "" for none: another reply of it is no
// longer in progress.
func (l *live) Await(name, message string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if r := l.replies[name]; r != nil && string(r.Message) != message {
		delete(l.replies, name)
	}
}

// Replies returns the replies in progress, each as a chunk with the text so far.
func (l *live) Replies() []events.Piece {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.soFar()
}

func (l *live) soFar() (list []events.Piece) {
	for _, r := range l.replies {
		p := r.Piece
		p.Text = r.text.String()
		list = append(list, p)
	}
	slices.SortFunc(list, func(a, b events.Piece) int { return cmp.Compare(a.After, b.After) })
	return list
}

// Listen adds a reader. It receives the replies in progress, each as a chunk with the text
// so far, and then events until leave is called.
func (l *live) Listen() (r *liveReader, leave func()) {
	r = &liveReader{More: make(chan struct{}, 1)}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.readers == nil {
		l.readers = map[*liveReader]bool{}
	}
	l.readers[r] = true
	r.add(l.soFar()...)
	return r, func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		delete(l.readers, r)
	}
}

// Take returns the events since the last call.
func (l *live) Take(r *liveReader) []events.Piece {
	l.mu.Lock()
	defer l.mu.Unlock()
	list := r.list
	r.list = nil
	return list
}

// Merge inserts each piece after the events of the operation that it follows.
func Merge(logged []events.Event, pieces []events.Piece) []events.Event {
	if len(pieces) == 0 {
		return logged
	}
	all := make([]events.Event, 0, len(logged)+len(pieces))
	for _, e := range logged {
		n := slices.IndexFunc(pieces, func(p events.Piece) bool { return p.After >= e.Seq })
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
