package searcher

import (
	"fmt"
	"regexp"
	"slices"

	"github.com/bough-dev/bough/internal/query"
	"github.com/bough-dev/bough/workspace/search"
)

// A pattern is a query: words, and a regular expression.
type pattern struct {
	*query.Query
	re *regexp.Regexp // nil for none
}

// newPattern returns the pattern of o. The error is worded for the user.
func newPattern(o search.Options) (*pattern, error) {
	q, err := query.Parse(o.Text, o.Words)
	if err != nil {
		return nil, err
	}
	p := &pattern{Query: q}
	if o.Regexp != "" {
		if p.re, err = regexp.Compile(o.Regexp); err != nil {
			return nil, fmt.Errorf("invalid regular expression: %v", err)
		}
	}
	return p, nil
}

// Match reports whether text matches p.
func (p *pattern) Match(text string) bool {
	return p.Query.Match(text) && (p.re == nil || p.re.MatchString(text))
}

// Find returns the spans of text that match the words or the expression, in
// order; it merges overlapping spans. It considers only the first matches of
// the expression.
func (p *pattern) Find(text string) []query.Span {
	all := p.Query.Find(text)
	if p.re == nil {
		return all
	}
	const maxPlaces = 100_000 // including empty ones
	for _, at := range p.re.FindAllStringIndex(text, maxPlaces) {
		if at[0] < at[1] {
			all = append(all, query.Span{Start: at[0], End: at[1]})
		}
	}
	slices.SortFunc(all, func(a, b query.Span) int { return a.Start - b.Start })
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
