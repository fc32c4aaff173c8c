// Package wire is the common part of models over HTTP: the form of a conversation
// that a provider accepts, timeouts, and readable errors.
package wire

import (
	"strings"
	"unicode/utf8"
)

// Line returns s on one line without control characters, cut to most bytes, from the
// end if end is true.
func Line(s string, most int, end bool) string {
	s = strings.Map(func(r rune) rune {
		if r < ' ' || r >= 0x7f && r < 0xa0 || r == utf8.RuneError {
			return ' '
		}
		return r
	}, s)
	s = strings.Join(strings.Fields(s), " ")
	switch {
	case len(s) <= most:
		return s
	case end:
		at := len(s) - most
		for at < len(s) && !utf8.RuneStart(s[at]) {
			at++
		}
		return "…" + s[at:]
	}
	return Cut(s, most) + "…"
}

// Cut returns at most a number of bytes of s, cut between characters.
func Cut(s string, most int) string {
	if len(s) <= most {
		return s
	}
	for most > 0 && !utf8.RuneStart(s[most]) {
		most--
	}
	return s[:most]
}
