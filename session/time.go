package session

import (
	"strings"
	"time"
)

const (
	zoned = "2006-01-02T15:04:05.000000-07:00"
	naive = "2006-01-02T15:04:05.000000"
)

// Dialect is the format of links and times in a folder.
type Dialect int

const (
	// Bough writes links as lists and times in UTC with six digits and +00:00. All JSON
	// answers have their times in this form.
	Bough Dialect = iota
	// Penguin writes links as strings and times as local times without a zone.
	Penguin
)

func (d Dialect) String() string {
	if d == Penguin {
		return "penguin"
	}
	return "bough"
}

// Time formats t in the dialect d.
func (d Dialect) Time(t time.Time) string {
	if d == Penguin {
		return t.Local().Format(naive)
	}
	return t.UTC().Format(zoned)
}

// ParseTime parses a time in any of the forms found in session files and reports
// whether it could. A time without a zone is local. Typographic hyphens, which word
// processors insert, count as hyphens.
func ParseTime(s string) (time.Time, bool) {
	s = strings.TrimSpace(s)
	usual := naive
	if n := len(s); n > 6 && (s[n-1] == 'Z' || s[n-6] == '+') {
		usual = time.RFC3339
	}
	if t, err := time.ParseInLocation(usual, s, time.Local); err == nil {
		return t, true
	}
	s = strings.Map(plainHyphen, s)
	for _, layout := range []string{
		"2006-01-02T15:04:05Z07:00",
		"2006-01-02 15:04:05Z07:00",
		"2006-01-02T15:04:05Z0700",
		"2006-01-02T15:04Z07:00",
	} {
		if t, err := time.Parse(layout, s); err == nil {
			return t, true
		}
	}
	for _, layout := range []string{
		"2006-01-02T15:04:05",
		"2006-01-02 15:04:05",
		"2006-01-02T15:04",
		"2006-01-02",
	} {
		if t, err := time.ParseInLocation(layout, s, time.Local); err == nil {
			return t, true
		}
	}
	return time.Time{}, false
}

// plainHyphen maps hyphens, dashes and minus signs to '-'.
func plainHyphen(r rune) rune {
	switch r {
	case '\u2010', '\u2011', '\u2012', '\u2013', '\u2212':
		return '-'
	}
	return r
}
