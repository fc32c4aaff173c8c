package session

import (
	"hash/maphash"
	"iter"
	"math/bits"
)

// An idTable finds things by their id. It keeps no ids: things are numbered
// from 0 in the order in which they are added, and whoever asks knows the id of
// each number.
type idTable struct {
	seed  maphash.Seed
	heads []int32 // by hash: 1 + the last number that has it, 0 for none
	next  []int32 // by number: 1 + the one before it with the same hash
}

// newIDTable returns a table made for n ids; more may be added.
func newIDTable(n int) *idTable {
	size := 1 << bits.Len(uint(max(n, 8)))
	return &idTable{maphash.MakeSeed(), make([]int32, size), make([]int32, 0, n)}
}

func (t *idTable) slot(id string) *int32 {
	return &t.heads[maphash.String(t.seed, id)&uint64(len(t.heads)-1)]
}

// add takes in the id of the next number.
func (t *idTable) add(id string) {
	head := t.slot(id)
	t.next = append(t.next, *head)
	*head = int32(len(t.next))
}

// candidates returns the numbers that may have the id, the last one first.
func (t *idTable) candidates(id string) iter.Seq[int] {
	return func(yield func(int) bool) {
		for n := *t.slot(id); n != 0; n = t.next[n-1] {
			if !yield(int(n - 1)) {
				return
			}
		}
	}
}
