package main

import (
	"strings"
	"testing"
	"time"

	"github.com/bough-dev/bough/workspace"
)

func TestWhen(t *testing.T) {
	now := time.Date(2026, 3, 10, 12, 0, 0, 0, time.Local)
	day := func(month time.Month, day, hour int) time.Time {
		return time.Date(2026, month, day, hour, 0, 0, 0, time.Local)
	}
	for _, c := range []struct {
		s    string
		end  bool
		want time.Time // zero if it is none
	}{
		{"2026-03-01", false, day(3, 1, 0)},
		{"2026-03-01", true, day(3, 2, 0)},
		{"2026-02-28", true, day(3, 1, 0)},
		{"2026-03-01T10:00:00", true, day(3, 1, 10)},
		{"2026-03-01 10:00:00", false, day(3, 1, 10)},
		{"2026-03-01T10:00:00Z", false, time.Date(2026, 3, 1, 10, 0, 0, 0, time.UTC)},
		{"7d", false, day(3, 3, 12)},
		{"7d", true, day(3, 3, 12)},
		{"2w", false, day(2, 24, 12)},
		{"0d", false, now},
		{"3h", false, day(3, 10, 9)},
		{"1h60m", false, day(3, 10, 10)},
		{"-7d", false, time.Time{}},
		{"-1h", false, time.Time{}},
		{"7", false, time.Time{}},
		{"d", false, time.Time{}},
		{"1.5d", false, time.Time{}},
		{"99999999d", false, time.Time{}},
		{"yesterday", false, time.Time{}},
		{"", false, time.Time{}},
	} {
		got, ok := when(c.s, now, c.end)
		if ok == c.want.IsZero() || ok && !got.Equal(c.want) {
			t.Errorf("%q is %v, %v, want %v", c.s, got, ok, c.want)
		}
	}
}

// TestSnippet: the first place is there, however narrow the terminal is.
func TestSnippet(t *testing.T) {
	far := workspace.Match{
		Snippet: "…there is a place where we sleep, and \x1b another one for the 日本 sea",
		Spans:   [][2]int{{27, 32}, {40, 47}, {60, 62}},
	}
	wide := workspace.Match{Snippet: "海海海海海海海海海海海海海海海海海海海海 日本 日本", Spans: [][2]int{{21, 23}, {24, 26}}}
	for _, c := range []struct {
		m       workspace.Match
		columns int
		want    string
	}{
		{far, 0, "…there is a place where we [sleep], and \ufffd [another] one for the [日本] sea"},
		{far, 100, "…there is a place where we [sleep], and \ufffd [another] one for the [日本] sea"},
		{far, 64, "…there is a place where we [sleep], and \ufffd [another] one for the…"},
		{far, 34, "… where we [sleep], and \ufffd [anoth]…"},
		{far, 10, "… where we [sleep], and \ufffd [anoth]…"},
		{wide, 80, "海海海海海海海海海海海海海海海海海海海海 [日本] [日本]"},
		{wide, 40, "…海海海海海海海海海海海 [日本] [日本]"},
		{workspace.Match{}, 40, ""},
	} {
		p := &program{paint: paint{color: true, width: c.columns}}
		got := strings.NewReplacer("\x1b[1;31m", "[", "\x1b[0m", "]").Replace(p.snippet(c.m))
		if got != c.want {
			t.Errorf("in %d columns:\n%q, want\n%q", c.columns, got, c.want)
		}
	}
}
