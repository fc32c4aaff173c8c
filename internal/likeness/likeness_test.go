package likeness_test

import (
	"slices"
	"testing"

	"github.com/bough-dev/bough/internal/likeness"
)

func TestNormal(t *testing.T) {
	for in, want := range map[string]string{
		"Use a **mutex**!":     "use a mutex",
		"1,000.50 seconds":     "1000.5 seconds",
		"It isn't  so":         "it isnt so",
		"a-b = -1":             "a b = -1",
		"!ok && x":             "! ok & & x",
		"well-known, e\u0301t": "well known ét",
		"…":                    "…",
		"":                     "",
	} {
		if got := likeness.Normal(in); got != want {
			t.Errorf("Normal(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestSameName(t *testing.T) {
	for _, c := range []struct {
		a, b string
		same bool
	}{
		{"Use a worker pool", "use worker pools", true},
		{"The mutex", "a Mutex", true},
		{"Option 1", "Option 2", false},
		{"Plan A", "Plan B", false},
		{"Cache the results", "Do not cache the results", false},
		{"Merge sort", "Heap sort", false},
	} {
		if likeness.SameName(c.a, c.b) != c.same || likeness.SameName(c.b, c.a) != c.same {
			t.Errorf("%q and %q: want %v", c.a, c.b, c.same)
		}
	}
}

func TestOverlap(t *testing.T) {
	short, long := "sort a list of names", "how would you sort a list of names that does not fit in memory on a small machine"
	if o, l := likeness.Overlap(short, long), likeness.Of(short, long); o < 0.9 || o <= l {
		t.Errorf("Overlap = %v, Of = %v", o, l)
	}
	if o := likeness.Overlap("where is the sea", long); o > 0.3 {
		t.Errorf("Overlap of another text = %v", o)
	}
}

func TestDecisive(t *testing.T) {
	if got := likeness.Decisive("it isnt 42 or a + b"); !slices.Equal(got, []string{"+", "42", "isnt"}) {
		t.Errorf("got %q", got)
	}
}

func TestOf(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want float64
	}{
		{"", "", 1}, {"a", "", 0}, {"night", "night", 1}, {"night", "nacht", 0.2}, {"ab", "ab ab", 2. * 2 / (2 + 5)},
		{"use redis", "redis use", 0.8888888888888888}, {"größe", "grösse", 2. * 2 / (5 + 6)},
	} {
		if got := likeness.Of(c.a, c.b); got != c.want {
			t.Errorf("the similarity of %q and %q is %v, want %v", c.a, c.b, got, c.want)
		}
	}
}
