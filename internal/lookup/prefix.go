package lookup

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/bough-dev/bough/internal/sessionid"
)

const (
	minPrefix = 4 // in characters
	shortSize = 8 // in bytes
)

// Short returns the part of an id that lists show: its last eight bytes.
func Short(id string) string { return id[max(0, len(id)-shortSize):] }

// IsPrefix reports whether word is long enough to be a prefix of an id and is
// not a generated id itself: the id of a removed session must not match a
// longer one.
func IsPrefix(word string) bool {
	return utf8.RuneCountInString(word) >= minPrefix && !sessionid.Generated(word)
}

// abbreviates reports whether id begins with prefix and prefix is unlikely to be a
// whole id: "plan" abbreviates "planning", but not "plan-backup", nor does "plan1"
// abbreviate "plan10". Generated ids all have the same length, so any prefix
// abbreviates one.
func abbreviates(prefix, id string) bool {
	rest, ok := strings.CutPrefix(id, prefix)
	if !ok || rest == "" || !IsPrefix(prefix) {
		return false
	}
	if sessionid.Generated(id) {
		return true
	}
	if last, _ := utf8.DecodeLastRuneInString(prefix); unicode.IsDigit(last) {
		if after := strings.TrimLeftFunc(rest, unicode.IsDigit); after == "" {
			return false
		} else if len(after) < len(rest) {
			rest = after
		}
	}
	next, _ := utf8.DecodeRuneInString(rest)
	return unicode.IsLetter(next) || unicode.IsDigit(next)
}
