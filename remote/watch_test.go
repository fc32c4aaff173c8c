package remote

import (
	"errors"
	"testing"
	"time"

	"github.com/bough-dev/bough/workspace/mirror"
)

// TestPace: an hour in which nothing happens costs at most 250 requests with three machines, a
// change of another machine is seen within a minute and, after another one, within a second.
func TestPace(t *testing.T) {
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	const machines = 3
	now, p := start, newPace(start)
	requests, lists, looks := 0, 0, 0
	for now.Sub(start) < time.Hour {
		wait := p.next(now)
		if wait > maxIdle {
			t.Fatalf("it waits for %v", wait)
		}
		now = now.Add(wait)
		looks, requests = looks+1, requests+machines
		if p.lists(now) {
			lists, requests = lists+1, requests+1
		}
		p.done(now, true, false, false)
	}
	if requests > 250 || lists < 6 || lists > 7 || looks < 60 {
		t.Errorf("an idle hour has %d requests, %d looks and %d lists", requests, looks, lists)
	}

	p.done(now, false, true, false) // something was sent
	begun, looks := now, 0
	for now.Sub(begun) < busyFor {
		now = now.Add(p.next(now))
		looks++
		p.done(now, true, false, false)
	}
	if looks < 59 || looks > 62 {
		t.Errorf("after a change it looks %d times in a minute", looks)
	}
	if wait := p.next(now); wait < idle-busy {
		t.Errorf("a minute after a change it waits for %v", wait)
	}

	var longest time.Duration
	for range 10 {
		p.done(now, true, false, true)
		wait := p.next(now)
		longest, now = max(longest, wait), now.Add(wait)
	}
	if longest != maxFailed {
		t.Errorf("without a store it waits for up to %v", longest)
	}
	p.done(now, true, false, false)
	if wait := p.next(now); wait != idle {
		t.Errorf("when the store is back it waits for %v", wait)
	}
}

// TestReports: the first failure is reported, and the first exchange that lacks something, also if
// one comes while the other lasts.
func TestReports(t *testing.T) {
	var r reports
	fine, lacks, gone := &Result{}, &Result{Left: []mirror.Left{{}}}, errors.New("no answer")
	for i, step := range []struct {
		result *Result
		did    bool
		err    error
		want   bool
	}{
		{fine, false, nil, false},
		{lacks, false, nil, true},
		{lacks, false, nil, false},
		{nil, false, gone, true}, // the store is gone while something is still lacking
		{nil, false, gone, false},
		{lacks, false, nil, false},
		{lacks, true, nil, true},
		{nil, false, gone, true},
		{fine, false, nil, false},
		{lacks, false, nil, true},
		{fine, true, nil, true},
	} {
		if got := r.due(step.result, step.did, step.err); got != step.want {
			t.Errorf("exchange %d: reported %v, want %v", i, got, step.want)
		}
	}
}
