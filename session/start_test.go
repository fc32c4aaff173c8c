package session

import (
	"runtime"
	"strings"
	"testing"
)

// TestFirstWords: the opening of a long line is made of its beginning, and not of a copy of the line.
func TestFirstWords(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"\n \t\n  one\ttwo  \nthree", "one two"},
		{strings.Repeat("é", maxWords), strings.Repeat("é", maxWords)},
		{strings.Repeat("é", maxWords+1), strings.Repeat("é", maxWords-1) + "…"},
		{strings.Repeat("a ", maxWords), strings.Repeat("a ", maxWords/2-1) + "a…"},
		{"a\xffb", "a\xffb"},
	} {
		if got := firstWords(c.in); got != c.want {
			t.Errorf("of %q: %q, want %q", c.in, got, c.want)
		}
	}
	line := strings.Repeat("x", 1<<20)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	firstWords(line)
	runtime.ReadMemStats(&after)
	if n := after.TotalAlloc - before.TotalAlloc; n > 1<<16 {
		t.Errorf("of a line of 1 MiB, %d bytes are allocated", n)
	}
}
