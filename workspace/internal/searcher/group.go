package searcher

import (
	"iter"
	"slices"

	"github.com/bough-dev/bough/workspace/search"
)

// allFound is all matches of the conversations that were searched.
type allFound struct {
	matches     []hit
	notSearched int // number of conversations
}

// apart returns the matches in files, in order, without duplicates: all, or
// those of enough conversations to exceed the limit.
func (s *finder) apart(files []*searchFile) (allFound, error) {
	for s.limit = s.o.Limit; ; s.limit *= 2 {
		all, left, err := s.all(files)
		if err != nil {
			return allFound{}, err
		}
		all = once(all)
		if left == 0 || wantedOf(all, s.o.PerSession) > s.o.Limit {
			return allFound{all, left}, nil
		}
	}
}

// wantedOf counts matches, at most per of each conversation; 0 means no limit.
func wantedOf(all []hit, per int) int {
	n := 0
	for list := range bySession(all) {
		n += AtMost(len(list), per)
	}
	return n
}

// bySession returns the matches of each conversation.
func bySession(all []hit) iter.Seq[[]hit] {
	return func(yield func([]hit) bool) {
		for start := 0; start < len(all); {
			end := start + 1
			for end < len(all) && all[end].Session == all[start].Session {
				end++
			}
			if !yield(all[start:end:end]) {
				return
			}
			start = end
		}
	}
}

// AtMost returns n, or limit if that is less and not 0.
func AtMost(n, limit int) int {
	if limit == 0 {
		return n
	}
	return min(n, limit)
}

// chosen returns the matches within the limits of o, those of each conversation
// by speaker, and what
// was found without them.
func (a allFound) chosen(o search.Options) (hits []hit, f *search.Result) {
	f = &search.Result{Matches: []search.Match{}, Sessions: []search.Session{}, Total: len(a.matches), NotSearched: a.notSearched}
	for list := range bySession(a.matches) {
		slices.SortStableFunc(list, func(a, b hit) int { return a.Speaker.Rank() - b.Speaker.Rank() })
		n := AtMost(len(list), o.PerSession)
		if o.Limit > 0 {
			n = min(n, o.Limit-len(hits))
		}
		if n == 0 {
			break
		}
		hits = append(hits, list[:n]...)
		l := list[0].line
		f.Sessions = append(f.Sessions, search.Session{Session: l.id, Title: l.title, LastActive: l.active, Total: len(list), AtLeast: l.cut})
	}
	f.More = len(hits) < f.Total
	return hits, f
}

// once removes duplicates: messages that were found in several conversations of
// one family because the original is missing.
func once(all []hit) []hit {
	type key struct {
		family, id string
		words      uint64
	}
	seen := make(map[key]string, len(all))
	return slices.DeleteFunc(all, func(m hit) bool {
		k := key{m.family, m.ID, m.copied.words}
		if other, ok := seen[k]; ok {
			return other != m.Session
		}
		seen[k] = m.Session
		return false
	})
}
