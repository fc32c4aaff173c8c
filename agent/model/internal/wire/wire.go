// Package wire is the common part of models over HTTP: conversion to the form
// that a provider accepts, requests with retries and time limits, and errors.
package wire

import (
	"strings"
	"unicode/utf8"
)

// Line returns s on one line without control characters, cut to limit bytes, at
// the start if end is true.
func Line(s string, limit int, end bool) string {
	s = strings.Map(func(r rune) rune {
		if r < ' ' || r >= 0x7f && r < 0xa0 || r == utf8.RuneError {
			return ' '
		}
		return r
	}, s)
	s = strings.Join(strings.Fields(s), " ")
	switch {
	case len(s) <= limit:
		return s
	case end:
		at := len(s) - limit
		for at < len(s) && !utf8.RuneStart(s[at]) {
			at++
		}
		return "…" + s[at:]
	}
	return Cut(s, limit) + "…"
}

// Cut returns at most limit bytes of s, cut between characters.
func Cut(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	for limit > 0 && !utf8.RuneStart(s[limit]) {
		limit--
	}
	return s[:limit]
}
