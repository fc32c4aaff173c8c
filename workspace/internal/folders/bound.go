package folders

import (
	"slices"

	"github.com/bough-dev/bough/internal/states"
)

// A claim is a state, and whether it must be kept.
type claim struct {
	*states.State
	needed bool
}

// surplus returns the states to remove so that the others take at most limit bytes, oldest
// first: as many of the oldest ones that are not needed as must be. claims are all states,
// oldest first. costs returns how many bytes each state takes that those before it in its list
// do not.
func surplus(claims []claim, limit int64, costs func([]*states.State) ([]int64, error)) ([]*states.State, error) {
	var order []*states.State
	for _, needed := range []bool{true, false} {
		for _, c := range slices.Backward(claims) {
			if c.needed == needed {
				order = append(order, c.State)
			}
		}
	}
	sizes, err := costs(order)
	if err != nil {
		return nil, err
	}
	kept := slices.DeleteFunc(slices.Clone(claims), func(c claim) bool { return !c.needed })
	n := 0
	var all int64
	for i, size := range sizes {
		if all += size; i >= len(kept) && all > limit {
			break
		}
		n++
	}
	gone := order[n:]
	slices.Reverse(gone)
	return gone, nil
}
