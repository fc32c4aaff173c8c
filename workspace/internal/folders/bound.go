package folders

import (
	"slices"

	"github.com/bough-dev/bough/internal/states"
)

// A claim is a state, and whether it must be kept. States of a group are kept or removed
// together, see [together].
type claim struct {
	*states.State
	needed bool
	group  int
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

// together returns a number for each state; states with the same one go together, because what
// happened between others would be attributed wrongly: the prompt and the end of a turn, and the
// states before and after a restore. list has the states in the order in which they were taken,
// and turn returns a name for the conversation, or the turn, of a state.
func together(list []*states.State, turn func(*states.State) string) []int {
	group := make([]int, len(list))
	for i := range group {
		group[i] = i
	}
	find := func(i int) int {
		for group[i] != i {
			i = group[i]
		}
		return i
	}
	begun, at := map[string]int{}, map[string]int{} // by turn, and by state
	for i, st := range list {
		name := st.Folder + " " + turn(st)
		at[st.ID] = i
		switch {
		case st.At == states.Prompt:
			begun[name] = i
		case st.At == states.End, st.Since != "":
			if j, ok := begun[name]; ok {
				group[find(i)] = find(j)
				delete(begun, name)
			}
		}
		if j, ok := at[st.Since]; ok && st.Since != "" {
			group[find(i)] = find(j)
		}
	}
	for i := range group {
		group[i] = find(i)
	}
	return group
}

// complete returns the claims whose group has one of the states gone.
func complete(gone []*states.State, claims []claim) (list []*states.State) {
	groups := map[int]bool{}
	for _, c := range claims {
		if slices.Contains(gone, c.State) {
			groups[c.group] = true
		}
	}
	for _, c := range claims {
		if groups[c.group] {
			list = append(list, c.State)
		}
	}
	return list
}
