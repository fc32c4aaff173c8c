package follower

import (
	"strings"
	"time"

	"github.com/bough-dev/bough/convert"
	"github.com/bough-dev/bough/internal/durable"
)

const (
	// quiet is how long a file must not change before its damage is reported: a
	// program may be writing it.
	quiet = 2 * time.Second

	// minRetry and maxRetry limit the time until an import that failed is tried again.
	minRetry = 500 * time.Millisecond
	maxRetry = 30 * time.Second
)

// A state is that of a file and, if it is a database, of its log, in which the newest changes are.
type state struct{ file, log durable.Identity }

// databaseOf returns the path of the database whose log is at path, else path.
func databaseOf(path string) string { return strings.TrimSuffix(path, convert.DatabaseLog("")) }

// A file is a file in the folder of a program.
type file struct {
	path string
	tree int

	seen     state     // as last seen
	read     state     // as it was when it was last imported, zero if it was not
	free     time.Time // not imported before, so that one that grows fast takes a part of the time only
	changed  time.Time // when a change was last seen
	damage   string    // what could not be read, "" for nothing
	reported string    // the damage that was reported last

	failures int // of imports in a row
}

// waits reports whether the file has changed since it was imported.
func (f *file) waits() bool { return f.seen != f.read }

// unreported reports whether there is damage that was not reported, and when to do that.
func (f *file) unreported() (at time.Time, ok bool) {
	return f.changed.Add(quiet), f.damage != "" && f.damage != f.reported
}

// imported records an import that ended at now and took a time. The file is not
// imported again for as long; a database, which is always copied and read as a whole,
// for nine times as long.
func (f *file) imported(as state, now time.Time, took time.Duration) {
	if as.log != (durable.Identity{}) {
		took *= 9
	}
	f.read, f.free, f.failures = as, now.Add(took), 0
}

// failed records an import that failed at now, which is tried again.
func (f *file) failed(now time.Time) {
	f.failures++
	f.free = now.Add(backoff(f.failures))
}

// nextWake returns when the follower has something to do for one of the files, and
// false if it has nothing to do until one changes. Nothing is imported before
// notBefore.
func nextWake(files map[string]*file, notBefore time.Time) (at time.Time, ok bool) {
	sooner := func(t time.Time) {
		if !ok || t.Before(at) {
			at, ok = t, true
		}
	}
	for _, f := range files {
		if f.waits() {
			due := f.free
			if due.Before(notBefore) {
				due = notBefore
			}
			sooner(due)
		} else if at, ok := f.unreported(); ok {
			sooner(at)
		}
	}
	return at, ok
}

// backoff returns how long to wait after the nth failure in a row, from 1.
func backoff(failures int) time.Duration {
	return min(minRetry<<min(failures-1, 10), maxRetry)
}
