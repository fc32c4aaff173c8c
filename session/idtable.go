package session

import (
	"hash/maphash"
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
	t := &idTable{seed: maphash.MakeSeed()}
	t.reset(n)
	return t
}

// reset empties the table and makes it ready for n ids.
func (t *idTable) reset(n int) {
	size := 1 << bits.Len(uint(max(n, 8)))
	if cap(t.heads) < size {
		t.heads, t.next = make([]int32, size), make([]int32, 0, n)
		return
	}
	t.heads, t.next = t.heads[:size], t.next[:0]
	clear(t.heads)
}

// hash returns what the table knows an id by.
func (t *idTable) hash(id string) uint64 { return maphash.String(t.seed, id) }

// hashBytes returns the hash of an id that is not yet a string.
func (t *idTable) hashBytes(id []byte) uint64 { return maphash.Bytes(t.seed, id) }

// add takes in the next number, whose id has the hash.
func (t *idTable) add(hash uint64) {
	head := &t.heads[hash&uint64(len(t.heads)-1)]
	t.next = append(t.next, *head)
	*head = int32(len(t.next))
}

// last returns the last number whose id may have the hash, -1 for none.
func (t *idTable) last(hash uint64) int { return int(t.heads[hash&uint64(len(t.heads)-1)]) - 1 }

// before returns the number before n whose id may have the same hash, -1 for none.
func (t *idTable) before(n int) int { return int(t.next[n]) - 1 }
