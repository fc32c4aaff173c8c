package follower

import (
	"testing"
	"time"

	"github.com/bough-dev/bough/internal/durable"
)

func TestNextWake(t *testing.T) {
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	at := func(seconds int) time.Time { return start.Add(time.Duration(seconds) * time.Second) }
	one, two := state{file: durable.Identity{Size: 1}}, state{file: durable.Identity{Size: 2}}
	for _, c := range []struct {
		what      string
		files     map[string]*file
		notBefore time.Time
		want      time.Time // zero for never
	}{
		{"nothing", nil, at(9), time.Time{}},
		{"unchanged", map[string]*file{"a": {seen: one, read: one, free: at(3)}}, at(0), time.Time{}},
		{"changed", map[string]*file{"a": {seen: two, read: one, free: at(3)}}, at(0), at(3)},
		{"changed, and a pause", map[string]*file{"a": {seen: two, read: one, free: at(3)}}, at(5), at(5)},
		{"the first of two", map[string]*file{"a": {seen: two, read: one, free: at(3)}, "b": {seen: one, free: at(1)}}, at(0), at(1)},
		{"damaged", map[string]*file{"a": {seen: one, read: one, changed: at(4), damage: "torn"}}, at(9), at(4).Add(quiet)},
		{"reported", map[string]*file{"a": {seen: one, read: one, changed: at(4), damage: "torn", reported: "torn"}}, at(9), time.Time{}},
		{"damaged and growing", map[string]*file{"a": {seen: two, read: one, free: at(7), changed: at(4), damage: "torn"}}, at(0), at(7)},
	} {
		got, ok := nextWake(c.files, c.notBefore)
		if ok != !c.want.IsZero() || !got.Equal(c.want) {
			t.Errorf("%s: %v, %v; want %v", c.what, got, ok, c.want)
		}
	}
}

// TestShare: after an import a file rests as long as that took, and after failures longer and
// longer.
func TestShare(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	f := &file{}
	var last time.Duration
	for range 20 {
		f.failed(now)
		wait := f.free.Sub(now)
		if wait < minRetry || wait > maxRetry || wait < last {
			t.Errorf("after a failure it waits %v, and before %v", wait, last)
		}
		last = wait
	}
	if last != maxRetry {
		t.Errorf("at last it waits %v", last)
	}
	f.imported(state{file: durable.Identity{Size: 1}}, now, time.Minute)
	if got := f.free.Sub(now); got != time.Minute {
		t.Errorf("after an import of a minute it rests %v", got)
	}
	if f.failed(now); f.free.Sub(now) != minRetry {
		t.Errorf("after an import and a failure it waits %v", f.free.Sub(now))
	}
	f.imported(state{durable.Identity{Size: 1}, durable.Identity{Size: 1}}, now, time.Minute)
	if got := f.free.Sub(now); got != 9*time.Minute {
		t.Errorf("after an import of a minute a database rests %v", got)
	}
}
