package transcript

import "slices"

// ActiveLast returns the indexes of messages in an order in which leaf comes last, if it
// has no children: the path to it after the last fork moves behind all other messages,
// whose order does not change. Parents stay before their children. The ids must be unique.
func ActiveLast(ids, parents []string, leaf string) []int {
	order := make([]int, len(ids))
	for i := range order {
		order[i] = i
	}
	if len(ids) == 0 || leaf == "" || ids[len(ids)-1] == leaf {
		return order
	}
	at := make(map[string]int, len(ids))
	children := make(map[string]int, len(ids))
	for i, id := range ids {
		at[id] = i
		children[parents[i]]++
	}
	active := make([]bool, len(ids))
	for id, most := leaf, 0; children[id] == most; most = 1 {
		i, ok := at[id]
		if !ok {
			break
		}
		active[i] = true
		id = parents[i]
	}
	slices.SortStableFunc(order, func(a, b int) int {
		switch {
		case active[a] == active[b]:
			return 0
		case active[b]:
			return -1
		}
		return 1
	})
	return order
}
