package buffer

import (
	"maps"
	"slices"
	"time"

	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/fault"
	"github.com/bough-dev/bough/workspace/lines"
)

// A line is the state of a line with pending messages.
type line struct {
	name    string
	ends    map[string]*end
	failed  map[string]*failure // by each message of the batch
	blocked map[string]bool     // first messages that are busy and for which an end waits
	timer   *time.Timer
	looking bool // a goroutine is in look
	again   bool // and must start again
}

// An end is the last message of a path with pending messages.
type end struct {
	since  int64     // the tick at which it was stored or flushed
	due    time.Time // when it is processed even if the batch is small
	forced bool      // process all pending messages at once
	waits  []chan<- error
}

// A failure is the error of a batch, which is retried after a new message.
type failure struct {
	error
	since int64 // the tick at which the batch was begun
}

// tick returns the next number for ordering events. The caller must hold the mutex.
func (b *Buffer) tick() int64 {
	b.ticks++
	return b.ticks
}

// line returns the state of a line, creating it if necessary.
func (b *Buffer) line(name string) *line {
	l := b.lines[name]
	if l == nil {
		l = &line{name: name, ends: map[string]*end{}, failed: map[string]*failure{}, blocked: map[string]bool{}}
		b.lines[name] = l
	}
	return l
}

func (l *line) end(message string) *end {
	e := l.ends[message]
	if e == nil {
		e = &end{}
		l.ends[message] = e
	}
	return e
}

// settle removes an end that needs no more work, or cannot be processed.
func (l *line) settle(message string, err error) {
	for _, wait := range l.ends[message].waits {
		wait <- err // the channel has room
	}
	delete(l.ends, message)
}

// drop settles all ends.
func (l *line) drop(err error) {
	for message := range l.ends {
		l.settle(message, err)
	}
	l.stopTimer()
}

func (l *line) stopTimer() {
	if l.timer != nil {
		l.timer.Stop()
		l.timer = nil
	}
}

// wake starts a look at a line, or makes the current one start again. The caller
// must hold the mutex.
func (b *Buffer) wake(l *line) {
	switch {
	case b.closed:
	case l.looking:
		l.again = true
	default:
		l.looking = true
		b.working.Go(func() { b.look(l) })
	}
}

// look finds the pending messages on the paths to the ends of a line, until there
// are no more changes, and starts the batches that are due.
func (b *Buffer) look(l *line) {
	for again := true; again; {
		b.mu.Lock()
		l.again = false
		ends := slices.Collect(maps.Keys(l.ends))
		b.mu.Unlock()
		var list []lines.Pending
		var err error
		if len(ends) > 0 {
			list, err = b.w.Line(l.name).Pending(b.ctx, ends...)
		}
		again = b.looked(l, ends, list, err)
	}
}

// looked processes the result of looking at ends, and reports whether to look
// again.
func (b *Buffer) looked(l *line, ends []string, list []lines.Pending, err error) (again bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if err != nil && !b.closed {
		if workspace.Explain(err).Code != fault.NotFound { // it was deleted
			b.o.Note("what is pending in " + l.name + " is unknown: " + err.Error())
		}
		l.drop(err)
	}
	if err == nil && !b.closed {
		now := time.Now()
		for _, s := range l.decide(ends, list, b.busy, b.o.Batch, now) {
			b.busy[s.first] = true
			b.working.Go(func() { b.work(l.name, s) })
		}
		b.setTimer(l, now)
	}
	if l.again && !b.closed {
		return true
	}
	l.looking = false
	if len(l.ends) == 0 {
		l.stopTimer()
		delete(b.lines, l.name)
	}
	return false
}

// A start is a batch to process: its first message, and the end of a path through
// it.
type start struct{ first, end string }

// decide returns the batches to start now, given the pending messages on the paths
// to ends, and settles the ends that need no work.
func (l *line) decide(ends []string, list []lines.Pending, busy map[string]bool, enough int, now time.Time) (starts []start) {
	found := map[string]bool{}
	for _, p := range list {
		found[p.Message] = p.Count > 0
	}
	for _, message := range ends {
		if l.ends[message] != nil && !found[message] {
			l.settle(message, nil)
		}
	}
	clear(l.blocked)
	for _, p := range list {
		e := l.ends[p.Message]
		switch {
		case e == nil:
		case p.Covered && !e.forced:
			l.settle(p.Message, nil) // it is on the path to another end
		case l.stuck(p, e):
			l.settle(p.Message, l.failed[p.First].error)
		case busy[p.First] || l.blocked[p.First]:
			l.blocked[p.First] = true
		case e.forced || p.Count >= enough || !now.Before(e.due):
			l.blocked[p.First] = true
			starts = append(starts, start{p.First, p.Message})
		}
	}
	return starts
}

// recordResult records the result of a batch that was begun at a tick.
func (l *line) recordResult(messages []string, began int64, err error) {
	f := &failure{err, began}
	for _, id := range messages {
		if delete(l.failed, id); err != nil {
			l.failed[id] = f
		}
	}
}

// stuck reports whether the pending messages on the path to e have failed, and no
// new one was stored since.
func (l *line) stuck(p lines.Pending, e *end) bool {
	f := l.failed[p.First]
	return f != nil && e.since < f.since
}

// setTimer starts a timer for the next end that is due. An end that was already due
// is in progress, or waits for another batch.
func (b *Buffer) setTimer(l *line, now time.Time) {
	l.stopTimer()
	var next time.Time
	for _, e := range l.ends {
		if e.due.After(now) && (next.IsZero() || e.due.Before(next)) {
			next = e.due
		}
	}
	if next.IsZero() {
		return
	}
	l.timer = time.AfterFunc(time.Until(next), func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		if b.lines[l.name] == l {
			b.wake(l)
		}
	})
}
