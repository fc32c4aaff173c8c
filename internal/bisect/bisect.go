// Package bisect finds the step that made something go wrong, by halving: it is pure, and the
// caller tests the steps.
package bisect

// A Verdict is what the test of a step says.
type Verdict int

const (
	Untested Verdict = iota
	Good
	Bad
	Skip // it cannot be tested
)

// A Search finds the first bad one of a list of steps, of which the first is good and the last is
// bad, and so are all steps after a bad one.
type Search struct {
	verdicts  []Verdict
	good, bad int // the last known good step, and the first known bad one
}

// New returns a search among n steps, at least two.
func New(n int) *Search {
	s := &Search{verdicts: make([]Verdict, n), bad: n - 1}
	s.verdicts[0], s.verdicts[n-1] = Good, Bad
	return s
}

// Next returns the step to test next. ok is false if the search is over: see [Search.Found].
//
// It is the one in the middle of those that can be the first bad one. If steps in the middle
// cannot be tested, it is the nearest one to them.
func (s *Search) Next() (step int, ok bool) {
	middle := (s.good + s.bad) / 2
	for d := 0; d < s.bad-s.good; d++ {
		for _, i := range []int{middle - d, middle + d} {
			if i > s.good && i < s.bad && s.verdicts[i] == Untested {
				return i, true
			}
		}
	}
	return 0, false
}

// Record records the verdict of a step that Next returned.
func (s *Search) Record(step int, v Verdict) {
	s.verdicts[step] = v
	switch {
	case v == Good && step > s.good:
		s.good = step
	case v == Bad && step < s.bad:
		s.bad = step
	}
}

// Left returns how many steps can still be the first bad one, and about how many tests are left.
func (s *Search) Left() (steps, tests int) {
	for i := s.good + 1; i < s.bad; i++ {
		if s.verdicts[i] == Untested {
			steps++
		}
	}
	for n := steps; n > 0; n /= 2 {
		tests++
	}
	return steps + 1, tests
}

// Found returns the last good step and the first bad one. Those between them were skipped: each
// of them can be the first bad one too.
func (s *Search) Found() (good, bad int) { return s.good, s.bad }
