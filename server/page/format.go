package page

import (
	"strconv"
	"time"

	"github.com/bough-dev/bough/internal/plural"
	"github.com/bough-dev/bough/internal/sentence"
)

// count formats a number with a noun.
func count(n int, noun string) string { return plural.Number(n) + " " + plural.Noun(n, noun) }

// ago says how long ago a time was, "" for the zero time.
func ago(t, now time.Time) string {
	since := now.Sub(t)
	span := sentence.Span(since)
	switch {
	case t.IsZero():
		return ""
	case span == "":
		return "now"
	case since < 0:
		return "in " + span
	}
	return span + " ago"
}

// durationText formats how long something took, in its two largest units.
func durationText(d time.Duration) string {
	if d < 10*time.Second {
		return strconv.FormatFloat(max(d, 0).Seconds(), 'f', 1, 64) + " s"
	}
	d = d.Round(time.Second)
	hours, minutes, seconds := int(d/time.Hour), int(d/time.Minute%60), int(d/time.Second%60)
	text := func(n int, unit string, m int, smaller string) string {
		if m == 0 {
			return strconv.Itoa(n) + " " + unit
		}
		return strconv.Itoa(n) + " " + unit + " " + strconv.Itoa(m) + " " + smaller
	}
	switch {
	case hours > 0:
		return text(hours, "h", minutes, "min")
	case minutes > 0:
		return text(minutes, "min", seconds, "s")
	}
	return strconv.Itoa(seconds) + " s"
}

// clock formats a time for a reader, without the date if it is of today.
func clock(t, now time.Time) string {
	t, now = t.Local(), now.Local()
	switch {
	case t.IsZero():
		return ""
	case t.Year() == now.Year() && t.YearDay() == now.YearDay():
		return t.Format("15:04")
	case t.Year() == now.Year():
		return t.Format("2 Jan, 15:04")
	}
	return t.Format("2 Jan 2006, 15:04")
}

// A moment is a time as the page shows it.
type moment struct {
	Stamp string // for programs, "" if the time is unknown
	Text  string
	Full  string
}

// momentOf returns a moment that shows when it was.
func momentOf(t, now time.Time) moment {
	if t.IsZero() {
		return moment{}
	}
	return moment{t.UTC().Format(time.RFC3339), clock(t, now), t.Local().Format("Monday, 2 January 2006, 15:04:05")}
}

// ageOf returns a moment that shows how long ago it was.
func ageOf(t, now time.Time) moment {
	m := momentOf(t, now)
	m.Text = ago(t, now)
	return m
}

// bytesText formats a number of bytes.
func bytesText(n int64) string {
	for _, unit := range []struct {
		name string
		size int64
	}{{"GB", 1e9}, {"MB", 1e6}, {"kB", 1e3}} {
		if n >= unit.size {
			return strconv.FormatFloat(float64(n)/float64(unit.size), 'f', 1, 64) + " " + unit.name
		}
	}
	return plural.Of(int(n), "byte")
}

// clip returns the beginning of a title, or of another text that the page shows in several
// places: other programs write titles of any length.
func clip(s string) string {
	const most = 300
	n := 0
	for i := range s {
		if n++; n > most {
			return s[:i] + "…"
		}
	}
	return s
}
