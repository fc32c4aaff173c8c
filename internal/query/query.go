// Package query searches texts for words and phrases.
//
// A query consists of words separated by white space. Each must occur in the text,
// possibly inside a longer word. "Words in double quotes" are a phrase: they must
// follow each other, separated by any white space. A term that begins with a
// hyphen, -word or -"a phrase", must not occur; a term that begins with two
// hyphens, such as a flag of a program, is a word. Case is ignored in all scripts,
// with Unicode's folding of single characters.
//
// A search has two steps: [Query.May] scans raw JSON without parsing it, and
// [Query.Find] searches texts. A Query is safe for concurrent use.
package query

import (
	"errors"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// A Query is a set of terms. The zero Query matches every text.
type Query struct {
	must, not []term
	needles   []needle // for those of must that have one
	fold      func() *folding
}

// A term is the folded words of a phrase, often a single one.
type term []string

// A Span is a byte range of a text: text[Start:End].
type Span struct{ Start, End int }

// Parse parses a query s, and words in which hyphens have no meaning. A text must
// match both. The error is for a person.
func Parse(s, words string) (*Query, error) {
	q := &Query{fold: sync.OnceValue(newFolding)}
	if err := q.parse(s, true); err != nil {
		return nil, err
	}
	if err := q.parse(words, false); err != nil {
		return nil, err
	}
	for _, t := range q.must {
		if n, ok := newNeedle(t); ok {
			q.needles = append(q.needles, n)
		}
	}
	slices.SortStableFunc(q.needles, func(a, b needle) int { return len(b.run) - len(a.run) })
	return q, nil
}

// parse adds the terms of s; if negates is true, a hyphen before a term excludes it.
func (q *Query) parse(s string, negates bool) error {
	for {
		s = strings.TrimLeftFunc(s, unicode.IsSpace)
		if s == "" {
			return nil
		}
		rest, not := strings.CutPrefix(s, "-")
		if not && (!negates || rest == "" || rest[0] == '-' || startsWithSpace(rest)) {
			rest, not = s, false
		}
		var said string
		if quoted, ok := strings.CutPrefix(rest, `"`); ok {
			if said, s, ok = strings.Cut(quoted, `"`); !ok {
				return errors.New("a phrase has no closing double quote")
			}
		} else {
			end := strings.IndexFunc(rest, unicode.IsSpace)
			if end < 0 {
				end = len(rest)
			}
			said, s = rest[:end], rest[end:]
		}
		t := term(strings.Fields(said))
		for i, word := range t {
			folded, _ := q.folded(word)
			t[i] = folded
		}
		switch {
		case len(t) == 0:
			return errors.New("a phrase has no words")
		case not:
			q.not = append(q.not, t)
		default:
			q.must = append(q.must, t)
		}
	}
}

func startsWithSpace(s string) bool {
	r, _ := utf8.DecodeRuneInString(s)
	return unicode.IsSpace(r)
}

// empty reports whether q has no terms.
func (q *Query) empty() bool { return len(q.must)+len(q.not) == 0 }

// Match reports whether text matches q.
func (q *Query) Match(text string) bool {
	if q.empty() {
		return true
	}
	folded, _ := q.folded(text)
	return q.match(folded)
}

func (q *Query) match(folded string) bool {
	for _, t := range q.must {
		if start, _ := t.next(folded, 0); start < 0 {
			return false
		}
	}
	for _, t := range q.not {
		if start, _ := t.next(folded, 0); start >= 0 {
			return false
		}
	}
	return true
}

// Find returns the occurrences of q's words and phrases in text, in order;
// overlapping ones are merged. It does not check [Query.Match].
func (q *Query) Find(text string) []Span {
	folded, places := q.folded(text)
	var all []Span
	for _, t := range q.must {
		for at := 0; ; {
			start, end := t.next(folded, at)
			if start < 0 {
				break
			}
			at = end
			all = append(all, Span{places.of(start), places.of(end)})
		}
	}
	slices.SortFunc(all, func(a, b Span) int { return a.Start - b.Start })
	apart := all[:0]
	for _, s := range all {
		if last := len(apart) - 1; last >= 0 && s.Start < apart[last].End {
			apart[last].End = max(apart[last].End, s.End)
			continue
		}
		apart = append(apart, s)
	}
	return apart
}

// next returns the first occurrence of t in a folded text that begins at from or
// later, or -1.
func (t term) next(folded string, from int) (start, end int) {
	for {
		i := strings.Index(folded[from:], t[0])
		if i < 0 {
			return -1, -1
		}
		start = from + i
		if end = t.after(folded, start+len(t[0])); end >= 0 {
			return start, end
		}
		_, size := utf8.DecodeRuneInString(folded[start:])
		from = start + size
	}
}

// after returns the end of t's words after the first if they begin at at, else -1.
func (t term) after(folded string, at int) int {
	for _, word := range t[1:] {
		rest := strings.TrimLeftFunc(folded[at:], unicode.IsSpace)
		space := len(folded) - at - len(rest)
		if space == 0 || !strings.HasPrefix(rest, word) {
			return -1
		}
		at += space + len(word)
	}
	return at
}
