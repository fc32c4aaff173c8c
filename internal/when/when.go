// Package when parses the times and ages that people type.
//
// A time is one of:
//
//	2026-02-03T10:00, 2026-02-03 10:00:30, 2026-02-03T10:00:30.5+01:00   an instant
//	2026-02-03, 2026-02, 2026                                            a day, a month, a year
//	today, yesterday, now
//	this week, last month                                                a week begins on Monday
//	monday, last monday                                                  the most recent one before today
//	7d, 2w, 3mo, 1y, 12h, 1h30m, 45s                                     an age
//	7 days, 2 weeks ago, an hour ago, 1 day 6 hours ago                  an age in words
//
// Case is ignored. A time without a zone is in the zone of now. Days, weeks,
// months and years of an age are those of the calendar, hours are 60 minutes.
// An unknown word is an error.
//
// A text for more than an instant has a start and an end: [Parse] returns the
// start, and [Span] both. The end is the first instant after it.
package when

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// An Error reports a text that is not a time or an age.
type Error struct {
	Text string
	Age  bool // an age was expected; Text may be a future time
}

func (e *Error) Error() string {
	if e.Age {
		return fmt.Sprintf("invalid age %q", e.Text)
	}
	return fmt.Sprintf("invalid time %q", e.Text)
}

// Span parses a time and returns its start and end, which are equal for an
// instant. The error is an *[Error].
func Span(text string, now time.Time) (start, end time.Time, err error) {
	s := normalize(text)
	if start, end, ok := date(s, now.Location()); ok {
		return start, end, nil
	}
	words := strings.Fields(strings.ToLower(s))
	if start, end, ok := calendar(words, now); ok {
		return start, end, nil
	}
	if t, ok := age(words, now); ok {
		return t, t, nil
	}
	return time.Time{}, time.Time{}, &Error{Text: text}
}

// ParseAge returns how long before now a time is: "7d" and "7 days ago" are the
// same age, and "2026-02" is the time since that month began. The error is an
// *[Error], also for a future time.
func ParseAge(text string, now time.Time) (time.Duration, error) {
	t, _, err := Span(text, now)
	if err != nil || t.After(now) {
		return 0, &Error{Text: text, Age: true}
	}
	return now.Sub(t), nil
}

// normalize replaces typographic hyphens, which dates copied from a document
// may have.
func normalize(s string) string {
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		switch r {
		case '\u2010', '\u2011', '\u2012', '\u2013', '\u2212':
			return '-'
		}
		return r
	}, s))
}

// date parses a date or time in digits.
func date(s string, zone *time.Location) (start, end time.Time, ok bool) {
	for _, form := range [...]struct {
		layout              string
		years, months, days int // length of the period
	}{
		{"2006-01-02", 0, 0, 1},
		{"2006-01", 0, 1, 0},
		{"2006", 1, 0, 0},
		{layout: "2006-01-02T15:04:05"},
		{layout: "2006-01-02T15:04"},
		{layout: "2006-01-02T15:04:05Z07:00"},
		{layout: "2006-01-02T15:04:05Z0700"},
		{layout: "2006-01-02T15:04Z07:00"},
	} {
		at := strings.Replace(s, " ", "T", 1)
		if t, err := time.ParseInLocation(form.layout, at, zone); err == nil {
			return t, t.AddDate(form.years, form.months, form.days), true
		}
	}
	return time.Time{}, time.Time{}, false
}

// calendar parses the names of days, and of the days, weeks, months and years around now.
func calendar(words []string, now time.Time) (start, end time.Time, ok bool) {
	year, month, day := now.Date()
	today := time.Date(year, month, day, 0, 0, 0, 0, now.Location())
	span := func(t time.Time, years, months, days int) (start, end time.Time, ok bool) {
		return t, t.AddDate(years, months, days), true
	}
	switch name := strings.Join(words, " "); name {
	case "now":
		return now, now, true
	case "today":
		return span(today, 0, 0, 1)
	case "yesterday":
		return span(today.AddDate(0, 0, -1), 0, 0, 1)
	case "this week", "last week":
		monday := today.AddDate(0, 0, -(int(today.Weekday())+6)%7)
		if name == "last week" {
			monday = monday.AddDate(0, 0, -7)
		}
		return span(monday, 0, 0, 7)
	case "this month":
		return span(time.Date(year, month, 1, 0, 0, 0, 0, now.Location()), 0, 1, 0)
	case "last month":
		return span(time.Date(year, month-1, 1, 0, 0, 0, 0, now.Location()), 0, 1, 0)
	case "this year":
		return span(time.Date(year, 1, 1, 0, 0, 0, 0, now.Location()), 1, 0, 0)
	case "last year":
		return span(time.Date(year-1, 1, 1, 0, 0, 0, 0, now.Location()), 1, 0, 0)
	}
	if len(words) == 2 && words[0] == "last" {
		words = words[1:]
	}
	if len(words) != 1 {
		return time.Time{}, time.Time{}, false
	}
	for weekday := time.Sunday; weekday <= time.Saturday; weekday++ {
		name := strings.ToLower(weekday.String())
		if words[0] == name || words[0] == name[:3] {
			back := (int(today.Weekday()-weekday)+6)%7 + 1
			return span(today.AddDate(0, 0, -back), 0, 0, 1)
		}
	}
	return time.Time{}, time.Time{}, false
}

// Limits of ages, for each kind of unit, so that sums do not overflow.
const (
	maxYears  = 9999
	maxNumber = 100_000_000 // in seconds: three years
	maxClock  = time.Duration(math.MaxInt64 / 2)
)

// age parses numbers with units, and returns the time this long before now.
func age(words []string, now time.Time) (time.Time, bool) {
	if n := len(words); n > 1 && words[n-1] == "ago" {
		words = words[:n-1]
	}
	rest := strings.Join(words, " ")
	months, days, clock := 0, 0, time.Duration(0)
	for rest != "" {
		number, after, ok := cutNumber(rest)
		if !ok || number > maxNumber {
			return time.Time{}, false
		}
		unit := after
		if end := strings.IndexFunc(after, func(r rune) bool { return !unicode.IsLetter(r) }); end >= 0 {
			unit = after[:end]
		}
		rest = strings.TrimLeft(after[len(unit):], " ")
		var each time.Duration
		switch unit {
		case "y", "year", "years":
			months += 12 * number
		case "mo", "month", "months":
			months += number
		case "w", "week", "weeks":
			days += 7 * number
		case "d", "day", "days":
			days += number
		case "h", "hour", "hours":
			each = time.Hour
		case "m", "min", "mins", "minute", "minutes":
			each = time.Minute
		case "s", "sec", "secs", "second", "seconds":
			each = time.Second
		default:
			return time.Time{}, false
		}
		if months > 12*maxYears || days > 366*maxYears {
			return time.Time{}, false
		}
		if each > 0 && time.Duration(number) > (maxClock-clock)/each {
			return time.Time{}, false
		}
		clock += time.Duration(number) * each
	}
	if len(words) == 0 {
		return time.Time{}, false
	}
	return monthsBefore(now, months).AddDate(0, 0, -days).Add(-clock), true
}

// cutNumber cuts a number, or "a" or "an", from the beginning of s.
func cutNumber(s string) (number int, after string, ok bool) {
	for _, article := range []string{"a ", "an "} {
		if after, ok := strings.CutPrefix(s, article); ok {
			return 1, after, true
		}
	}
	end := strings.IndexFunc(s, func(r rune) bool { return r < '0' || r > '9' })
	if end <= 0 {
		return 0, "", false
	}
	n, err := strconv.ParseInt(s[:end], 10, 32)
	return int(n), strings.TrimLeft(s[end:], " "), err == nil
}

// monthsBefore returns the time n months before t. If that month is too short,
// it is the last day of the month.
func monthsBefore(t time.Time, n int) time.Time {
	year, month, day := t.Date()
	last := time.Date(year, month-time.Month(n)+1, 0, 0, 0, 0, 0, t.Location()).Day()
	hour, minute, second := t.Clock()
	return time.Date(year, month-time.Month(n), min(day, last), hour, minute, second, t.Nanosecond(), t.Location())
}
