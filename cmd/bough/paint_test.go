package main

import (
	"math"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"
)

// FuzzClean: cleaned text has no control sequence, and cleaning it again does not change
// it.
func FuzzClean(f *testing.F) {
	f.Add("\x1b[2J\r\n\u202e\x9b")
	f.Fuzz(func(t *testing.T, s string) {
		got := clean(s)
		for _, r := range got {
			if r != '\n' && r != '\t' && (unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) && r != '\u061c' && r != '\u200e' && r != '\u200f') {
				t.Errorf("clean(%q) holds %U", s, r)
			}
		}
		if !utf8.ValidString(got) || clean(got) != got {
			t.Errorf("clean(%q) = %q", s, got)
		}
		if strings.Contains(line(s), "\n") {
			t.Errorf("line(%q) = %q", s, line(s))
		}
	})
}

func TestFit(t *testing.T) {
	terminal := paint{width: 80}
	for _, c := range []struct {
		s       string
		columns int
		want    string
	}{
		{"Plan the trip", 13, "Plan the trip"},
		{"Plan the trip", 12, "Plan the tr…"},
		{"Plan the trip", 3, "Plan th…"},
		{"東京への旅行", 12, "東京への旅行"},
		{"東京への旅行", 11, "東京への旅…"},
		{"東京への旅行", 10, "東京への…"},
		{"e\u0301te\u0301 a\u0300 la mer", 10, "e\u0301te\u0301 a\u0300 la …"},
		{"👩\u200d👧 family", 8, "👩\u200d👧 fami…"},
	} {
		if got := terminal.fit(c.s, c.columns); got != c.want {
			t.Errorf("fit(%q, %d) = %q, want %q", c.s, c.columns, got, c.want)
		}
	}
	if got := (paint{}).fit("Plan the trip", 3); got != "Plan the trip" {
		t.Errorf("off a terminal, fit cuts to %q", got)
	}
}

func TestPad(t *testing.T) {
	for s, want := range map[string]string{
		"":        "    |",
		"ab":      "ab  |",
		"東京":      "東京|",
		"abcde":   "abcde|",
		"e\u0301": "e\u0301   |",
	} {
		if got := pad(s, 4) + "|"; got != want {
			t.Errorf("pad(%q, 4) = %q, want %q", s, got, want)
		}
	}
}

func TestAgo(t *testing.T) {
	const day = 24 * time.Hour
	for _, c := range []struct {
		d    time.Duration
		want string
	}{
		{0, "just now"},
		{time.Minute - 1, "just now"},
		{1 - time.Minute, "just now"},
		{time.Minute, "1 minute ago"},
		{-time.Minute, "1 minute from now"},
		{time.Hour - 1, "59 minutes ago"},
		{time.Hour, "1 hour ago"},
		{day - 1, "23 hours ago"},
		{day, "1 day ago"},
		{7*day - 1, "6 days ago"},
		{29 * day, "4 weeks ago"},
		{-30 * day, "1 month from now"},
		{365*day - 1, "12 months ago"},
		{365 * day, "1 year ago"},
		{math.MaxInt64, "292 years ago"},
		{math.MinInt64, "292 years from now"},
	} {
		if got := ago(c.d); got != c.want {
			t.Errorf("ago(%v) = %q, want %q", c.d, got, c.want)
		}
	}
}

func TestCount(t *testing.T) {
	for n, want := range map[int]string{
		-1000:   "-1,000 things",
		-100:    "-100 things",
		0:       "0 things",
		1:       "1 thing",
		999:     "999 things",
		1000:    "1,000 things",
		1234567: "1,234,567 things",
	} {
		if got := count(n, "thing"); got != want {
			t.Errorf("count(%d) = %q, want %q", n, got, want)
		}
	}
}

func TestSize(t *testing.T) {
	for n, want := range map[int64]string{
		0:             "0 B",
		999:           "999 B",
		1000:          "1.0 kB",
		9949:          "9.9 kB",
		9950:          "10 kB",
		999_499:       "999 kB",
		999_500:       "1.0 MB",
		18_800_000:    "19 MB",
		1_900_000_000: "1.9 GB",
		math.MaxInt64: "9.2 EB",
	} {
		if got := size(n); got != want {
			t.Errorf("size(%d) = %q, want %q", n, got, want)
		}
	}
}
