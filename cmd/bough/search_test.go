package main

import (
	"strings"
	"testing"

	"github.com/bough-dev/bough/workspace/search"
)

// TestSnippet: the first match is visible on a terminal of any width.
func TestSnippet(t *testing.T) {
	far := search.Match{
		Snippet: "…there is a place where we sleep, and \x1b another one for the 日本 sea",
		Spans:   [][2]int{{27, 32}, {40, 47}, {60, 62}},
	}
	wide := search.Match{Snippet: "海海海海海海海海海海海海海海海海海海海海 日本 日本", Spans: [][2]int{{21, 23}, {24, 26}}}
	for _, c := range []struct {
		m       search.Match
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
		{search.Match{}, 40, ""},
	} {
		p := &program{paint: paint{color: true, width: c.columns}}
		got := strings.NewReplacer("\x1b[1;31m", "[", "\x1b[0m", "]").Replace(p.snippet(c.m))
		if got != c.want {
			t.Errorf("in %d columns:\n%q, want\n%q", c.columns, got, c.want)
		}
	}
}
