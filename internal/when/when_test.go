package when_test

import (
	"errors"
	"testing"
	"time"

	"github.com/bough-dev/bough/internal/when"
)

// zone has summer time from 2026-03-29 02:00 on.
func zone(t testing.TB) *time.Location {
	t.Helper()
	z, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Skipf("this system has no time zones: %v", err)
	}
	return z
}

func TestSpan(t *testing.T) {
	now := time.Date(2026, 3, 31, 12, 30, 15, 0, zone(t)) // a Tuesday
	at := func(month time.Month, day, hour int) time.Time {
		return time.Date(2026, month, day, hour, 0, 0, 0, now.Location())
	}
	ago := now.Add
	for _, c := range []struct {
		text       string
		start, end time.Time // end is start if zero
	}{
		{"2026-03-01", at(3, 1, 0), at(3, 2, 0)},
		{"2026\u201103\u201101", at(3, 1, 0), at(3, 2, 0)},
		{"2026-02", at(2, 1, 0), at(3, 1, 0)},
		{"2026", at(1, 1, 0), at(13, 1, 0)},
		{"2026-03-01T10:00", at(3, 1, 10), time.Time{}},
		{" 2026-03-01 10:00:00 ", at(3, 1, 10), time.Time{}},
		{"2026-03-01T10:00:00Z", time.Date(2026, 3, 1, 10, 0, 0, 0, time.UTC), time.Time{}},
		{"2026-03-01T10:00:00.250000+00:00", time.Date(2026, 3, 1, 10, 0, 0, 250_000_000, time.UTC), time.Time{}},
		{"2026-03-01T10:00:00-0500", time.Date(2026, 3, 1, 15, 0, 0, 0, time.UTC), time.Time{}},
		{"now", now, time.Time{}},
		{"today", at(3, 31, 0), at(4, 1, 0)},
		{"Yesterday", at(3, 30, 0), at(3, 31, 0)},
		{"this week", at(3, 30, 0), at(4, 6, 0)},
		{"last week", at(3, 23, 0), at(3, 30, 0)},
		{"this month", at(3, 1, 0), at(4, 1, 0)},
		{"last  month", at(2, 1, 0), at(3, 1, 0)},
		{"this year", at(1, 1, 0), at(13, 1, 0)},
		{"last year", at(-11, 1, 0), at(1, 1, 0)},
		{"monday", at(3, 30, 0), at(3, 31, 0)},
		{"Tuesday", at(3, 24, 0), at(3, 25, 0)},
		{"last wed", at(3, 25, 0), at(3, 26, 0)},
		{"7d", ago(-7*24*time.Hour + time.Hour), time.Time{}}, // the day of 23 hours is one of them
		{"7D", ago(-7*24*time.Hour + time.Hour), time.Time{}},
		{"7 days", ago(-7*24*time.Hour + time.Hour), time.Time{}},
		{"24h", ago(-24 * time.Hour), time.Time{}},
		{"1h30m", ago(-90 * time.Minute), time.Time{}},
		{"1 day 6 hours ago", at(3, 30, 6).Add(30*time.Minute + 15*time.Second), time.Time{}},
		{"2w", at(3, 17, 12).Add(30*time.Minute + 15*time.Second), time.Time{}},
		{"2 weeks ago", at(3, 17, 12).Add(30*time.Minute + 15*time.Second), time.Time{}},
		{"an hour ago", ago(-time.Hour), time.Time{}},
		{"a month ago", at(2, 28, 12).Add(30*time.Minute + 15*time.Second), time.Time{}},
		{"1mo", at(2, 28, 12).Add(30*time.Minute + 15*time.Second), time.Time{}},
		{"1y1mo", at(-10, 28, 12).Add(30*time.Minute + 15*time.Second), time.Time{}},
		{"0d", now, time.Time{}},
	} {
		if c.end.IsZero() {
			c.end = c.start
		}
		start, end, err := when.Span(c.text, now)
		if err != nil || !start.Equal(c.start) || !end.Equal(c.end) {
			t.Errorf("%q is %v to %v (%v), want %v to %v", c.text, start, end, err, c.start, c.end)
		}
	}
}

func TestSpanError(t *testing.T) {
	for _, text := range []string{
		"", " ", "7", "d", "ago", "a ago", "1.5d", "-7d", "-1h", "7x", "7d ago now", "2 weks ago",
		"nonsense", "2026-13", "2026-02-30", "26-02-03", "99999999d", "9999999999999999999999s",
		"4000000y", "4000000h", "9999y9999y", "1000000h1000000h", "next week", "last", "last 7d", "2026-03-01T25:00",
	} {
		_, _, err := when.Span(text, time.Now())
		var wrong *when.Error
		if !errors.As(err, &wrong) || wrong.Text != text {
			t.Errorf("%q: the error is %v", text, err)
		}
	}
}

func TestParseAge(t *testing.T) {
	now := time.Date(2026, 2, 15, 12, 0, 0, 0, time.UTC)
	for text, want := range map[string]time.Duration{
		"7d":         7 * 24 * time.Hour,
		"2 days ago": 48 * time.Hour,
		"720h":       720 * time.Hour,
		"1s":         time.Second,
		"yesterday":  36 * time.Hour,
		"2026-02":    14*24*time.Hour + 12*time.Hour,
	} {
		if got, err := when.ParseAge(text, now); err != nil || got != want {
			t.Errorf("%q is %v (%v), want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"2027", "-1s", "soon"} {
		if got, err := when.ParseAge(text, now); err == nil {
			t.Errorf("%q is %v, want an error", text, got)
		}
	}
}

// FuzzSpan: no span ends before it starts, an age is never in the future, and white space
// and case have no meaning.
func FuzzSpan(f *testing.F) {
	for _, s := range []string{"7d", "2 weeks ago", "yesterday", "2026-02", "2026-02-03T10:00:00Z", "last monday", "1y2mo3w4d5h6m7s"} {
		f.Add(s, int64(1_770_000_000))
	}
	f.Fuzz(func(t *testing.T, s string, unix int64) {
		now := time.Unix(unix%(1<<33), 0)
		start, end, err := when.Span(s, now)
		if err != nil {
			return
		}
		if end.Before(start) {
			t.Errorf("%q is %v to %v", s, start, end)
		}
		if age, err := when.ParseAge(s, now); err == nil && age < 0 {
			t.Errorf("%q is the age %v", s, age)
		}
		again, _, err := when.Span("  "+s+"\t", now)
		if err != nil || !again.Equal(start) {
			t.Errorf("%q in white space is %v (%v), want %v", s, again, err, start)
		}
	})
}
