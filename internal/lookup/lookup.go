// Package lookup finds what a word refers to, by one rule for sessions, messages,
// agents, their trees, queued messages, explorations and branches of these. In
// order of precedence, a word is a label, an id, a title, a title ignoring case,
// or a unique prefix of an id.
package lookup

import (
	"fmt"
	"strings"

	"github.com/bough-dev/bough/workspace/fault"
)

// A Name is a set of names of one thing. Any field may be empty.
type Name struct {
	Label string // matches only as a whole; takes precedence over ids
	ID    string // matches as a whole, or by a prefix
	Title string // matches as a whole, also ignoring case
	Short string // the part of ID that lists show; matches as a whole, or by a prefix
}

// A Kind describes the things in a list.
type Kind[T any] struct {
	What      string                  // for errors: "agent", …
	Next      fault.Step              // for the error if nothing matches
	Names     func(T) []Name          // the names of a thing, each of which it can be found by
	Candidate func(T) fault.Candidate // for the error if several match
}

// Find returns the thing in list that word refers to. The errors are those of
// [Missing] and [Ambiguous].
func (k Kind[T]) Find(word string, list []T) (T, error) {
	var names []Name
	var owner []int // for each name, the index of its thing
	for i, thing := range list {
		for _, name := range k.Names(thing) {
			names, owner = append(names, name), append(owner, i)
		}
	}
	var found []T
	last := -1
	for _, i := range match(word, names) {
		if owner[i] != last {
			found, last = append(found, list[owner[i]]), owner[i]
		}
	}
	var none T
	switch len(found) {
	case 0:
		return none, Missing(k.What, word, k.Next)
	case 1:
		return found[0], nil
	}
	return none, Ambiguous(k.What, word, found, k.Candidate)
}

// match returns the indices of the names that match word. The first rule with a
// match applies: equal label, equal id, equal title, equal title ignoring case,
// [Abbreviated].
func match(word string, names []Name) []int {
	if word == "" {
		return nil
	}
	for _, matches := range []func(Name) bool{
		func(n Name) bool { return n.Label == word },
		func(n Name) bool { return n.ID == word },
		func(n Name) bool { return n.Title == word },
		func(n Name) bool { return strings.EqualFold(n.Title, word) },
	} {
		var found []int
		for i, n := range names {
			if matches(n) {
				found = append(found, i)
			}
		}
		if len(found) > 0 {
			return found
		}
	}
	return Abbreviated(word, len(names), func(i int) Name { return names[i] })
}

// Abbreviated returns the indices of the names, of which there are n, whose
// short part is prefix; if there is none, those whose id or short part
// [abbreviates].
func Abbreviated(prefix string, n int, name func(i int) Name) []int {
	if !IsPrefix(prefix) {
		return nil
	}
	var whole, begun []int
	for i := range n {
		switch name := name(i); {
		case name.Short == prefix:
			whole = append(whole, i)
		case abbreviates(prefix, name.ID), abbreviates(prefix, name.Short):
			begun = append(begun, i)
		}
	}
	if len(whole) > 0 {
		return whole
	}
	return begun
}

// Missing returns the error for a word that refers to nothing.
func Missing(what, word string, next fault.Step) *fault.Error {
	return &fault.Error{Code: fault.NotFound, Message: fmt.Sprintf("no %s %q", what, word), Next: next}
}

// maxCandidates is how many candidates an error holds.
const maxCandidates = 12

// Ambiguous returns the error for a word that matches several things. found are
// these, in the order in which candidates are listed.
func Ambiguous[T any](what, word string, found []T, candidate func(T) fault.Candidate) error {
	e := &fault.AmbiguousError{What: what, Name: word, Total: len(found)}
	for _, thing := range found[:min(len(found), maxCandidates)] {
		e.Candidates = append(e.Candidates, candidate(thing))
	}
	return e
}
