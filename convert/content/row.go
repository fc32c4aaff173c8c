package content

// A row is an ordered list of indexes that supports removal from the front, from
// the middle, and of any element, each in constant time.
type row struct {
	next, prev []int // by index + 1, with 0 before the first and after the last
	len        int
	mid        int // index + 1
	before     int // number of elements before mid
}

// newRow returns a row of indexes below n.
func newRow(places []int, n int) *row {
	r := &row{next: make([]int, n+1), prev: make([]int, n+1), len: len(places)}
	last := 0
	for _, p := range places {
		r.next[last], r.prev[p+1] = p+1, last
		last = p + 1
	}
	r.prev[0] = last
	r.mid = r.next[0]
	return r
}

func (r *row) first() int { return r.next[0] - 1 }

// middle returns the index with half of all elements, rounded down, before it.
func (r *row) middle() int {
	for ; r.before > r.len/2; r.before-- {
		r.mid = r.prev[r.mid]
	}
	for ; r.before < r.len/2; r.before++ {
		r.mid = r.next[r.mid]
	}
	return r.mid - 1
}

// remove removes an index.
func (r *row) remove(place int) {
	i := place + 1
	r.next[r.prev[i]], r.prev[r.next[i]] = r.next[i], r.prev[i]
	r.len--
	switch {
	case i < r.mid:
		r.before--
	case i == r.mid && r.next[i] == 0:
		r.mid = r.prev[i]
		r.before--
	case i == r.mid:
		r.mid = r.next[i]
	}
}
