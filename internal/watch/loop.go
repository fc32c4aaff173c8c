package watch

import (
	"context"
	"time"
)

// A loop is what a watcher does between what it sends.
type loop[T any] struct {
	heard   <-chan struct{} // receives a value for a notification
	out     chan<- T
	next    func() (T, bool) // the value to send, if there is one
	sent    func()           // it was received
	tick    func()           // the interval has passed
	hear    func()           // there is a notification; may be nil
	settled func()           // the notifications have settled
}

// run calls the functions of l until ctx ends, one at a time.
func (l loop[T]) run(ctx context.Context, o *Options) {
	tick := time.NewTicker(o.Interval)
	defer tick.Stop()
	settled := time.NewTimer(0)
	settled.Stop()
	defer settled.Stop()
	var first time.Time // of the notifications that have not settled, zero if there are none
	for {
		next, ready := l.next()
		out := l.out
		if !ready {
			out = nil
		}
		select {
		case <-ctx.Done():
			return
		case out <- next:
			l.sent()
		case <-tick.C:
			l.tick()
		case <-l.heard:
			if l.hear != nil {
				l.hear()
			}
			if first.IsZero() {
				first = time.Now()
			}
			settled.Reset(min(o.Settle, o.Latest-time.Since(first)))
		case <-settled.C:
			first = time.Time{}
			l.settled()
		}
	}
}
