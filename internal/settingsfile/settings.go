// Package settingsfile adds values to the settings files of other programs, and removes them
// again. A file is JSON, also with comments and trailing commas, or TOML.
//
// All functions are pure; [File] reads and replaces files. An addition changes only the
// bytes that it needs: it is a list of [Splice] values, text inserted into the old
// content. Removing it right away restores the old content byte for byte. If the content
// changed in between, [Remove] still removes only the added values: it parses the result
// and compares all other values with the old ones. Content that cannot be parsed is a
// *[SyntaxError], and a value in the way a *[ConflictError]; then nothing changes.
package settingsfile

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strings"
)

// A Syntax is the syntax of a settings file.
type Syntax string

const (
	JSON Syntax = "json" // with comments and trailing commas
	TOML Syntax = "toml"
)

// An Addition is a value to be added to a settings file.
type Addition struct {
	// Path lists the names of the members that lead to the value. Missing objects are
	// created. In TOML it is the name of a table.
	Path []string
	// Append appends the value to the array at Path, which is created if it is missing.
	Append bool
	// Value is JSON; in TOML an object without objects in it.
	Value []byte
}

// A Set is a set of additions to one file.
type Set struct {
	Syntax    Syntax
	Additions []Addition
	// Own returns the paths of all values of a decoded file that belong to the set, as it
	// is or as another version of this program added it. An element of an array is named by
	// its index.
	Own func(doc any) [][]string
}

// A Splice is text that is inserted into the old content of a file, before the byte at
// the offset At.
type Splice struct {
	At   int    `json:"at"`
	Text string `json:"text"`
}

// A SyntaxError reports content that cannot be parsed.
type SyntaxError struct {
	Line, Column int // 0 if unknown
	Err          error
}

func (e *SyntaxError) Error() string {
	if e.Line == 0 {
		return e.Err.Error()
	}
	return fmt.Sprintf("line %d, column %d: %s", e.Line, e.Column, e.Err)
}
func (e *SyntaxError) Unwrap() error { return e.Err }

// A ConflictError reports a value that is in the way of an addition.
type ConflictError struct {
	Path []string // of the value
	Line int      // 0 if unknown
	Want string   // what the addition needs there, such as "an object"; "" if the name is in use
}

func (e *ConflictError) Error() string {
	name := strings.Join(e.Path, ".")
	if name == "" {
		name = "the content"
	}
	text := name + " is in use"
	if e.Want != "" {
		text = name + " is not " + e.Want
	}
	if e.Line > 0 {
		text = fmt.Sprintf("line %d: %s", e.Line, text)
	}
	return text
}

// errChanged is the error if an edit would change values of the user. It is an error of
// this package.
var errChanged = errors.New("the edit would change other settings")

// Add returns the content of a file with the additions of a set, and how it differs from
// the content without them. A value that is there is not added again. Values of the set
// that are out of date are removed first; base is the content without them, to which the
// splices apply. If nothing is to be added, splices is nil and after is old.
func Add(old []byte, s *Set) (after, base []byte, splices []Splice, err error) {
	doc, err := decode(old, s.Syntax)
	if err != nil {
		return nil, nil, nil, err
	}
	own := s.Own(doc)
	if len(own) == len(s.Additions) && !slices.ContainsFunc(s.Additions, func(a Addition) bool { return !has(doc, a, own) }) {
		return old, old, nil, nil
	}
	base = old
	if len(own) > 0 {
		if base, err = Remove(old, s, nil, nil); err != nil {
			return nil, nil, nil, err
		}
	}
	after = base
	for _, a := range s.Additions {
		var added []Splice
		if s.Syntax == TOML {
			added, err = addTable(after, a)
		} else {
			added, err = addValue(after, a)
		}
		if err != nil {
			return nil, nil, nil, err
		}
		splices = compose(splices, added)
		after = Apply(base, splices)
	}
	return after, base, splices, sameRest(base, after, s)
}

// Remove returns the content of a file without the values of a set. If the splices with
// which they were added are known, it removes exactly their text where it is still as
// it was. Otherwise it removes the values, and the objects and arrays that this empties,
// except for those at the paths in kept.
func Remove(old []byte, s *Set, splices []Splice, kept [][]string) ([]byte, error) {
	doc, err := decode(old, s.Syntax)
	if err != nil {
		return nil, err
	}
	own := s.Own(doc)
	if len(own) == 0 {
		return old, nil
	}
	if after, ok := cut(old, splices); ok && sameRest(old, after, s) == nil && isFree(after, s) && isStrict(after, s.Syntax) == isStrict(old, s.Syntax) && !hasEmpty(after, s, kept) {
		return after, nil
	}
	var after []byte
	if s.Syntax == TOML {
		after, err = removeTables(old, own)
	} else {
		after, err = removeValues(old, own, prunable(s, kept))
	}
	if err != nil {
		return nil, err
	}
	if !isFree(after, s) {
		return nil, errChanged
	}
	return after, sameRest(old, after, s)
}

// hasEmpty reports whether a file has empty objects or arrays on the way to the additions
// of a set, except for those at the paths in kept.
func hasEmpty(data []byte, s *Set, kept [][]string) bool {
	doc, err := decode(data, s.Syntax)
	return err == nil && s.Syntax != TOML && slices.ContainsFunc(prunable(s, kept), func(path []string) bool {
		v, ok := lookup(doc, path)
		return ok && isEmpty(v)
	})
}

// Owned reports whether a file has values of a set.
func Owned(data []byte, s *Set) (any bool, err error) {
	doc, err := decode(data, s.Syntax)
	return err == nil && len(s.Own(doc)) > 0, err
}

// Containers returns the paths of the objects and arrays on the way to the additions of a
// set that a file has.
func Containers(data []byte, s *Set) [][]string {
	doc, err := decode(data, s.Syntax)
	if err != nil {
		return nil
	}
	var list [][]string
	for _, path := range prunable(s, nil) {
		if _, ok := lookup(doc, path); ok {
			list = append(list, path)
		}
	}
	return list
}

// Apply inserts splices, which are sorted, into data.
func Apply(data []byte, splices []Splice) []byte {
	var out []byte
	at := 0
	for _, s := range splices {
		out = append(append(out, data[at:s.At]...), s.Text...)
		at = s.At
	}
	return append(out, data[at:]...)
}

// compose returns one list of splices for two lists, of which the second one applies to
// the result of the first.
func compose(first, second []Splice) []Splice {
	out := slices.Clone(first)
	for n := len(second) - 1; n >= 0; n-- { // from the end, so that earlier offsets remain valid
		out = insert(out, second[n])
	}
	return out
}

// insert adds a splice that applies to the result of a list.
func insert(list []Splice, s Splice) []Splice {
	before := 0 // length of the inserted texts before
	for i, l := range list {
		start := l.At + before
		switch {
		case s.At < start:
			return slices.Insert(list, i, Splice{s.At - before, s.Text})
		case s.At <= start+len(l.Text):
			in := s.At - start
			list[i].Text = l.Text[:in] + s.Text + l.Text[in:]
			return list
		}
		before += len(l.Text)
	}
	return append(list, Splice{s.At - before, s.Text})
}

// cut removes the texts of splices from data. ok is false unless each of them occurs in
// it exactly once, in this order.
func cut(data []byte, splices []Splice) (out []byte, ok bool) {
	if len(splices) == 0 {
		return nil, false
	}
	if whole, ok := unapply(data, splices); ok {
		return whole, true
	}
	at := 0
	for _, s := range splices {
		text := []byte(s.Text)
		i := bytes.Index(data[at:], text)
		if i < 0 || bytes.Count(data, text) != 1 {
			return nil, false
		}
		out = append(out, data[at:at+i]...)
		at += i + len(text)
	}
	return append(out, data[at:]...), true
}

// unapply is the inverse of [Apply]. ok is false if the texts are not at their offsets.
func unapply(data []byte, splices []Splice) (out []byte, ok bool) {
	at, shift := 0, 0
	for _, s := range splices {
		begin := s.At + shift
		end := begin + len(s.Text)
		if begin < at || end > len(data) || string(data[begin:end]) != s.Text {
			return nil, false
		}
		out = append(out, data[at:begin]...)
		at, shift = end, shift+len(s.Text)
	}
	return append(out, data[at:]...), true
}

// prunable returns the paths of the objects and arrays on the way to the additions, the
// longest first, without those in kept.
func prunable(s *Set, kept [][]string) [][]string {
	var list [][]string
	for _, a := range s.Additions {
		n := len(a.Path)
		if !a.Append {
			n--
		}
		for ; n > 0; n-- {
			path := a.Path[:n]
			same := func(p []string) bool { return slices.Equal(p, path) }
			if !slices.ContainsFunc(list, same) && !slices.ContainsFunc(kept, same) {
				list = append(list, path)
			}
		}
	}
	slices.SortStableFunc(list, func(a, b []string) int { return len(b) - len(a) })
	return list
}

// has reports whether an addition is in a file, as one of its own values.
func has(doc any, a Addition, own [][]string) bool {
	want, err := decode(a.Value, JSON)
	if err != nil {
		return false
	}
	for _, path := range own {
		at := path
		if a.Append {
			at = path[:len(path)-1]
		}
		if value, ok := lookup(doc, path); ok && slices.Equal(at, a.Path) && equal(value, want) {
			return true
		}
	}
	return false
}

// isFree reports whether a file has no values of a set.
func isFree(data []byte, s *Set) bool {
	owned, err := Owned(data, s)
	return err == nil && !owned
}

// sameRest returns an error unless two versions of a file have the same values except
// for those of a set and empty objects and arrays on the way to them.
func sameRest(old, after []byte, s *Set) error {
	a, err := rest(old, s)
	if err != nil {
		return err
	}
	b, err := rest(after, s)
	if err != nil {
		return err
	}
	if !equal(a, b) {
		return errChanged
	}
	return nil
}

// rest returns the values of a file without those of a set.
func rest(data []byte, s *Set) (any, error) {
	doc, err := decode(data, s.Syntax)
	if err != nil {
		return nil, err
	}
	own := s.Own(doc)
	sortPaths(own)
	for _, path := range own {
		doc = without(doc, path)
	}
	for _, path := range prunable(s, nil) {
		if v, ok := lookup(doc, path); ok && isEmpty(v) {
			doc = without(doc, path)
		}
	}
	if doc == nil {
		return map[string]any{}, nil
	}
	return doc, nil
}

// equal reports whether two values are the same. NaN equals itself.
func equal(a, b any) bool {
	switch a := a.(type) {
	case map[string]any:
		b, ok := b.(map[string]any)
		return ok && maps.EqualFunc(a, b, equal)
	case []any:
		b, ok := b.([]any)
		return ok && slices.EqualFunc(a, b, equal)
	case float64:
		b, ok := b.(float64)
		return ok && math.Float64bits(a) == math.Float64bits(b)
	}
	return reflect.DeepEqual(a, b)
}
