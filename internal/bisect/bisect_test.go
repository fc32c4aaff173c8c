package bisect_test

import (
	"math/bits"
	"math/rand/v2"
	"testing"

	"github.com/bough-dev/bough/internal/bisect"
)

// run searches among n steps of which first is the first bad one and skipped cannot be tested,
// and returns what it finds and the number of tests.
func run(n, first int, skipped map[int]bool) (good, bad, tests int) {
	s := bisect.New(n)
	for step, ok := s.Next(); ok; step, ok = s.Next() {
		switch tests++; {
		case skipped[step]:
			s.Record(step, bisect.Skip)
		case step >= first:
			s.Record(step, bisect.Bad)
		default:
			s.Record(step, bisect.Good)
		}
	}
	good, bad = s.Found()
	return good, bad, tests
}

// TestSearch: the first bad step is found in log n tests, wherever it is.
func TestSearch(t *testing.T) {
	for n := 2; n < 70; n++ {
		for first := 1; first < n; first++ {
			good, bad, tests := run(n, first, nil)
			if bad != first || good != first-1 || tests > bits.Len(uint(n-2)) {
				t.Errorf("%d steps, first bad %d: good %d, bad %d after %d tests", n, first, good, bad, tests)
			}
		}
	}
}

// TestSkip: with steps that cannot be tested, the first bad one is the one that is found, or one of
// the skipped ones just before it.
func TestSkip(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 5000 {
		n := 2 + r.IntN(40)
		first := 1 + r.IntN(n-1)
		skipped := map[int]bool{}
		for range r.IntN(n) {
			skipped[1+r.IntN(n-1)] = true
		}
		delete(skipped, n-1)
		good, bad, _ := run(n, first, skipped)
		if good >= first || bad < first {
			t.Fatalf("%d steps, first bad %d, skipped %v: good %d, bad %d", n, first, skipped, good, bad)
		}
		for i := good + 1; i < bad; i++ {
			if !skipped[i] {
				t.Fatalf("%d steps, first bad %d, skipped %v: %d was not tested", n, first, skipped, i)
			}
		}
	}
}

// TestLeft: the numbers that are shown fall to one step and no test.
func TestLeft(t *testing.T) {
	s := bisect.New(9)
	if steps, tests := s.Left(); steps != 8 || tests != 3 {
		t.Errorf("%d steps, %d tests", steps, tests)
	}
	for step, ok := s.Next(); ok; step, ok = s.Next() {
		s.Record(step, bisect.Good)
	}
	if steps, tests := s.Left(); steps != 1 || tests != 0 {
		t.Errorf("%d steps, %d tests at the end", steps, tests)
	}
}
