package lookup

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/bough-dev/bough/workspace/fault"
)

// TestMatch holds the order of precedence, with one case per rule.
func TestMatch(t *testing.T) {
	names := []Name{
		{Label: "plan", ID: "aaaa1111-0000-4000-8000-00000000000a", Title: "Fix Hooks"},
		{ID: "plan", Title: "fix hooks", Short: "4b9ad01c"},
		{ID: "planning", Title: "plan"},
		{ID: "planner", Title: "PLAN", Short: "4b9affff"},
		{ID: "aaaa2222-0000-4000-8000-00000000000b", Title: "4b9ad01c-x"},
		{ID: "session_20200525_150000_4b9ad01c", Short: "4b9ad01cff"},
	}
	for _, c := range []struct {
		word string
		want []int
	}{
		{"", nil},
		{"plan", []int{0}},
		{"planning", []int{2}},
		{"Plan", []int{2, 3}},
		{"Fix Hooks", []int{0}},
		{"FIX HOOKS", []int{0, 1}},
		{"plann", []int{2, 3}},
		{"planni", []int{2}},
		{"pla", nil},
		{"aaaa", []int{0, 4}},
		{"aaaa2", []int{4}},
		{"4b9ad01c", []int{1}},
		{"4b9a", []int{1, 3, 5}},
		{"lanner", nil},
	} {
		if got := match(c.word, names); !slices.Equal(got, c.want) {
			t.Errorf("%q matches %v, not %v", c.word, got, c.want)
		}
	}
}

// TestFind: a candidate that matches by two of its names counts once, and the error of many
// candidates has some of them and their number.
func TestFind(t *testing.T) {
	kind := Kind[int]{
		What: "number", Next: fault.Do(fault.ListAgents, "x"),
		Names: func(n int) []Name {
			return []Name{{ID: fmt.Sprintf("numeral%c", 'a'+n)}, {ID: fmt.Sprintf("numeric%c", 'a'+n)}}
		},
		Candidate: func(n int) fault.Candidate { return fault.Candidate{Title: fmt.Sprint(n)} },
	}
	list := make([]int, 20)
	for i := range list {
		list[i] = i
	}
	if n, err := kind.Find("numericc", list); n != 2 || err != nil {
		t.Errorf("numericc is %d, %v", n, err)
	}
	if n, err := kind.Find("nume", list[3:4]); n != 3 || err != nil {
		t.Errorf("nume is %d, %v", n, err)
	}
	var missing *fault.Error
	_, err := kind.Find("nothing", list)
	if !errors.As(err, &missing) || missing.Code != fault.NotFound || missing.Message != `no number "nothing"` || missing.Next.Do != fault.ListAgents {
		t.Errorf("nothing: %+v", err)
	}
	var several *fault.AmbiguousError
	_, err = kind.Find("numer", list)
	if !errors.As(err, &several) || !errors.Is(err, fault.Ambiguous) || errors.Is(err, fault.Usage) || several.Total != 20 || len(several.Candidates) != maxCandidates || several.Candidates[11].Title != "11" || several.Error() != `"numer" is ambiguous: 20 numbers` {
		t.Errorf("numer: %+v", err)
	}
	_, err = kind.Find("num", nil)
	if !errors.Is(err, fault.NotFound) {
		t.Errorf("none: %v", err)
	}
}
