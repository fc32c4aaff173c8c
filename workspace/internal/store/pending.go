package store

// Above returns the ancestors of nodes.
func (l *Line) Above(nodes []int) map[int]bool {
	above := map[int]bool{}
	for _, n := range nodes {
		for n = l.Parent(n); n >= 0 && !above[n]; n = l.Parent(n) {
			above[n] = true
		}
	}
	return above
}

// Branch returns the node that identifies the branch at the end of a path: the
// last node that is not an oldest child, else the root.
func (l *Line) Branch(path []int, children [][]int) int {
	for i := len(path) - 1; i > 0; i-- {
		if children[path[i-1]][0] != path[i] {
			return path[i]
		}
	}
	return path[0]
}
