package session

import (
	"hash/maphash"
	"math/bits"
)

// An idTable is a hash table from ids to numbers. Numbers count from 0 in the order
// of addition. The table stores only hashes; the caller must compare the ids of the
// candidates that it returns.
type idTable struct {
	seed    maphash.Seed
	heads   []int32 // by the low bits of the hash: 1 + the last number with these bits, 0 for none
	entries []entry // by number
}

// An entry links to the previous number with the same low bits of the hash and
// holds the high bits of its own hash.
type entry struct {
	before int32 // 1 + the number, 0 for none
	high   uint32
}

// newIDTable returns a table with room for n ids. It grows as needed.
func newIDTable(n int) *idTable {
	t := &idTable{seed: maphash.MakeSeed()}
	t.reset(n)
	return t
}

// reset empties the table and makes room for n ids.
func (t *idTable) reset(n int) {
	size := 1 << bits.Len(uint(max(n, 8)))
	if cap(t.heads) < size {
		t.heads, t.entries = make([]int32, size), make([]entry, 0, n)
		return
	}
	t.heads, t.entries = t.heads[:size], t.entries[:0]
	clear(t.heads)
}

// hash returns the hash of an id.
func (t *idTable) hash(id string) uint64 { return maphash.String(t.seed, id) }

// hashBytes returns the hash of an id in bytes.
func (t *idTable) hashBytes(id []byte) uint64 { return maphash.Bytes(t.seed, id) }

// add adds the next number, whose id has the given hash.
func (t *idTable) add(hash uint64) {
	head := &t.heads[hash&uint64(len(t.heads)-1)]
	t.entries = append(t.entries, entry{*head, uint32(hash >> 32)})
	*head = int32(len(t.entries))
}

// last returns the last number whose id may have the hash, -1 for none.
func (t *idTable) last(hash uint64) int {
	return t.find(t.heads[hash&uint64(len(t.heads)-1)], uint32(hash>>32))
}

// before returns the last number before n whose id may have the same hash, -1 for
// none.
func (t *idTable) before(n int) int { return t.find(t.entries[n].before, t.entries[n].high) }

func (t *idTable) find(n int32, high uint32) int {
	for n != 0 && t.entries[n-1].high != high {
		n = t.entries[n-1].before
	}
	return int(n) - 1
}
