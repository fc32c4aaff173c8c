package page

import (
	"net/url"
	"slices"
	"strings"
	"sync"

	"github.com/bough-dev/bough/workspace/compare"
)

// maxSummaries is how many comparisons by models the page remembers.
const maxSummaries = 100

// summaries remembers what models said about comparisons that the page asked them for, the newest
// last. It is safe for concurrent use.
type summaries struct {
	mu   sync.Mutex
	list []askedSummary
}

// An askedSummary is what a model said about the paths with certain ends.
type askedSummary struct {
	ends string
	compare.Summary
}

// endsOf identifies the paths of a comparison: a longer path is another one.
func endsOf(c *compare.Comparison) string {
	var ends []string
	for _, s := range c.Sides {
		ends = append(ends, refOf(s.Session, string(s.Message)))
	}
	return strings.Join(ends, "\n")
}

// add remembers the result of an action if it is a comparison by a model.
func (s *summaries) add(result any) {
	c, ok := result.(*compare.Comparison)
	if !ok || c.Summary == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.list = append(s.list, askedSummary{endsOf(c), *c.Summary})
	if n := len(s.list) - maxSummaries; n > 0 {
		s.list = slices.Delete(s.list, 0, n)
	}
}

// of returns the last summary of a comparison, nil if there is none.
func (s *summaries) of(c *compare.Comparison) *compare.Summary {
	ends := endsOf(c)
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range slices.Backward(s.list) {
		if s.list[i].ends == ends {
			found := s.list[i].Summary
			return &found
		}
	}
	return nil
}

// toCompared returns the path of a comparison.
func toCompared(_ any, in url.Values) string {
	refs := in["refs"]
	return compareAddress(refs[:min(len(refs), maxSides)]...)
}
