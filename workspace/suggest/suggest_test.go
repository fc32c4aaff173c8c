package suggest_test

import (
	"slices"
	"testing"
	"time"

	"github.com/bough-dev/bough/workspace/suggest"
)

func TestFork(t *testing.T) {
	answer := suggest.Fork{Length: 2, MainLength: 4, Answered: true}
	branch := suggest.Fork{Length: suggest.Far, MainLength: 1}
	with := func(f suggest.Fork, change func(*suggest.Fork)) suggest.Fork {
		change(&f)
		return f
	}
	for _, c := range []struct {
		what    string
		fork    suggest.Fork
		kind    suggest.Kind // "" for no suggestion
		reasons []suggest.Reason
	}{
		{"an answer beside a path that went on", answer, suggest.Answer, []suggest.Reason{{suggest.UnusedAnswer, 2}, {suggest.MainContinued, 4}}},
		{"a question without an answer", with(answer, func(f *suggest.Fork) { f.Answered = false }), "", nil},
		{"two answers, neither continued", with(answer, func(f *suggest.Fork) { f.MainLength = 2 }), "", nil},
		{"an answer with a bookmark", with(answer, func(f *suggest.Fork) { f.Bookmarked = true }), "", nil},
		{"an answer at the head", with(answer, func(f *suggest.Fork) { f.Head = true }), "", nil},
		{"an answer that was merged", with(answer, func(f *suggest.Fork) { f.Length, f.Merged = 0, true }), "", nil},
		{"a long branch", branch, suggest.Branch, []suggest.Reason{{suggest.Continued, 6}, {suggest.MainContinued, 1}}},
		{"a long branch that ends with a question", with(branch, func(f *suggest.Fork) { f.Length = 7 }), suggest.Branch, []suggest.Reason{{suggest.Continued, 7}, {suggest.MainContinued, 1}}},
		{"a branch that is not long", with(branch, func(f *suggest.Fork) { f.Length = suggest.Far - 1 }), "", nil},
		{"a conversation that goes on in the branch only", with(branch, func(f *suggest.Fork) { f.MainLength = 0 }), "", nil},
		{"a long branch with a bookmark", with(branch, func(f *suggest.Fork) { f.Bookmarked = true }), "", nil},
		{"a long branch with the head", with(branch, func(f *suggest.Fork) { f.Head = true }), "", nil},
		{"a long branch that was merged", with(branch, func(f *suggest.Fork) { f.Length, f.Merged = 0, true }), "", nil},
		{"a long branch since its merge", with(branch, func(f *suggest.Fork) { f.Merged = true }), suggest.Branch, []suggest.Reason{{suggest.SinceMerge, 6}, {suggest.MainContinued, 1}}},
	} {
		l := suggest.Make([]suggest.Fork{c.fork}, nil, 0)
		switch {
		case c.kind == "" && len(l.Suggestions) == 0 && l.Total == 0:
		case c.kind == "" || len(l.Suggestions) != 1 || l.Total != 1:
			t.Errorf("%s: %+v", c.what, l)
		case l.Suggestions[0].Kind != c.kind || !slices.Equal(l.Suggestions[0].Reasons, c.reasons):
			t.Errorf("%s: %s %v, want %s %v", c.what, l.Suggestions[0].Kind, l.Suggestions[0].Reasons, c.kind, c.reasons)
		}
	}
}

func TestOrder(t *testing.T) {
	at := time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC)
	place := func(id string) suggest.Place { return suggest.Place{Session: id} }
	forks := []suggest.Fork{
		{Tip: place("answer"), Length: 1, MainLength: 1000, Answered: true},
		{Tip: place("short"), Length: suggest.Far, MainLength: 1},
		{Tip: place("old"), Length: 20, MainLength: 1, Time: at},
		{Tip: place("new"), Length: 20, MainLength: 1, Time: at.Add(time.Hour)},
		{Tip: place("longest"), Length: 1000, MainLength: 1000},
	}
	explorations := []suggest.Exploration{
		{Place: place("one"), Results: 1},
		{Place: place("three"), Results: 3},
		{Place: place("none"), Results: 0},
		{Place: place("adopted"), Results: 3, Settled: true},
	}
	want := []string{"three", "one", "longest", "new", "old", "short", "answer"}
	for _, limit := range []int{0, 3, 100} {
		l := suggest.Make(forks, explorations, limit)
		var got []string
		for i, s := range l.Suggestions {
			got = append(got, s.Session)
			if i > 0 && s.Score > l.Suggestions[i-1].Score {
				t.Errorf("limit %d: %s has the score %d after %d", limit, s.Session, s.Score, l.Suggestions[i-1].Score)
			}
		}
		n := len(want)
		if limit > 0 {
			n = min(n, limit)
		}
		if !slices.Equal(got, want[:n]) || l.Total != len(want) {
			t.Errorf("limit %d: %v of %d, want %v of %d", limit, got, l.Total, want[:n], len(want))
		}
	}
}
