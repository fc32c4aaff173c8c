package workspace

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/bough-dev/bough/session"
)

const (
	minPrefix = 4 // in characters
	shownSize = 8 // in bytes
)

// shown returns the part of a session's id that lists show.
func shown(id string) string { return id[max(0, len(id)-shownSize):] }

// isPrefix reports whether name is long enough to be a prefix of an id and has
// not the form of a whole id: the id of a removed session must not match a
// longer one.
func isPrefix(name string) bool {
	return utf8.RuneCountInString(name) >= minPrefix && !session.Generated(name)
}

// abbreviates reports whether id begins with prefix and prefix is unlikely to be a
// whole id: "plan" abbreviates "planning", but not "plan-backup", nor does "plan1"
// abbreviate "plan10". Generated ids all have the same length, so any prefix
// abbreviates one.
func abbreviates(prefix, id string) bool {
	rest, ok := strings.CutPrefix(id, prefix)
	if !ok || rest == "" || !isPrefix(prefix) {
		return false
	}
	if session.Generated(id) {
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

// A candidate is something that a name may refer to.
type candidate struct {
	id, title string // either may be empty
	shown     string // the part of the id that lists show, "" if they show its beginning
}

// match returns the indices in list of the candidates for name. The first rule
// with a match applies: equal id, equal title, equal title ignoring case, equal
// displayed part of the id, abbreviated id.
func match(name string, list []candidate) []int {
	if name == "" {
		return nil
	}
	for _, fits := range []func(candidate) bool{
		func(n candidate) bool { return n.id == name },
		func(n candidate) bool { return n.title == name },
		func(n candidate) bool { return strings.EqualFold(n.title, name) },
		func(n candidate) bool { return n.shown == name && isPrefix(name) },
		func(n candidate) bool { return abbreviates(name, n.id) || abbreviates(name, n.shown) },
	} {
		var found []int
		for i, n := range list {
			if fits(n) {
				found = append(found, i)
			}
		}
		if len(found) > 0 {
			return found
		}
	}
	return nil
}
