package remote

import (
	"context"
	"time"
)

// WatchOptions are the choices for Watch.
type WatchOptions struct {
	// Changed receives a value after the workspace has changed. If nil, changes are sent when the
	// remote is looked at.
	Changed <-chan struct{}

	// Each is called after each exchange that sent, received or changed something, after the first
	// of several in a row that fail, and after the first of several in a row that have entries in
	// Left or Problems. If nil, it is not called.
	Each func(*Result, error)
}

// Watch exchanges the workspace with the remote until the context ends. It sends a change of the
// workspace within about a second. It looks for changes of other machines every 30 seconds, and
// after a while every minute; for a minute after a change on either side, it looks every second. It
// looks for new machines every ten minutes.
func (r *Remote) Watch(ctx context.Context, o WatchOptions) error {
	p := newPace(r.opts.now())
	var seen reports
	for {
		wait := time.NewTimer(p.next(r.opts.now()))
		push := false
		select {
		case <-ctx.Done():
		case <-wait.C:
		case <-o.Changed:
			push = true
			quiet(ctx, o.Changed)
		}
		wait.Stop()
		if ctx.Err() != nil {
			return nil
		}
		var result *Result
		var err error
		now := r.opts.now()
		if push {
			result, err = r.Push(ctx, PushOptions{})
		} else {
			result, err = r.Sync(ctx, PullOptions{Known: !p.lists(now)})
		}
		if ctx.Err() != nil {
			return nil
		}
		did := result != nil && result.Sent.Records+result.Got.Records+len(result.Sessions) > 0
		p.done(r.opts.now(), !push, did, err != nil)
		if seen.due(result, did, err) && o.Each != nil {
			o.Each(result, err)
		}
	}
}

// reports decides which exchanges are reported: of several in a row that fail, or that lack
// something, only the first. A failure in between does not make it the first again.
type reports struct{ failed, lacked bool }

func (r *reports) due(result *Result, did bool, err error) bool {
	if err != nil {
		first := !r.failed
		r.failed = true
		return first || did
	}
	lacks := len(result.Left)+len(result.Problems) > 0
	first := lacks && !r.lacked
	*r = reports{lacked: lacks}
	return first || did
}

// settle is how long a change waits for others that are sent with it.
const settle = time.Second

// quiet waits until nothing changed for a moment, but not for ever.
func quiet(ctx context.Context, changed <-chan struct{}) {
	for range 5 {
		select {
		case <-ctx.Done():
			return
		case <-changed:
		case <-time.After(settle):
			return
		}
	}
}

const (
	idle      = 30 * time.Second // between two looks
	maxIdle   = time.Minute      // if nothing happened for a while
	maxFailed = 10 * time.Minute // if the store cannot be reached
	busy      = time.Second      // after a change
	busyFor   = time.Minute
	listEvery = 10 * time.Minute
)

// A pace decides when Watch looks at the remote.
type pace struct {
	last   time.Time     // of the last look
	listed time.Time     // when it looked for new machines
	busy   time.Time     // when the time after a change ends
	every  time.Duration // between two looks if nothing happens
	fails  bool
}

func newPace(now time.Time) *pace { return &pace{last: now.Add(-idle), every: idle} }

// next returns how long to wait before the next look.
func (p *pace) next(now time.Time) time.Duration {
	every := p.every
	if now.Before(p.busy) && !p.fails {
		every = busy
	}
	return max(0, p.last.Add(every).Sub(now))
}

// lists reports whether the next look is for new machines too.
func (p *pace) lists(now time.Time) bool { return now.Sub(p.listed) >= listEvery }

// done records an exchange.
func (p *pace) done(now time.Time, looked, changed, failed bool) {
	switch {
	case failed:
		p.every = min(2*p.every, maxFailed)
		p.last = now
	case changed:
		p.every, p.busy = idle, now.Add(busyFor)
	case p.fails:
		p.every = idle
	case looked && !now.Before(p.busy):
		p.every = min(p.every+p.every/2, maxIdle)
	}
	if looked && !failed {
		if p.lists(now) {
			p.listed = now
		}
		p.last = now
	}
	p.fails = failed
}
