package gitindex

import (
	"encoding/binary"
	"errors"
	"sort"
)

// A bitmap is a set of positions, as the ranges that it consists of, in ascending order.
type bitmap []span

// A span is the positions from first to before end.
type span struct{ first, end int }

// has reports whether a position is in the set.
func (b bitmap) has(i int) bool {
	n := sort.Search(len(b), func(k int) bool { return b[k].end > i })
	return n < len(b) && b[n].first <= i
}

// count returns the number of positions.
func (b bitmap) count() int {
	n := 0
	for _, s := range b {
		n += s.end - s.first
	}
	return n
}

// add adds the positions from first to before end, which are after all others.
func (b bitmap) add(first, end int) bitmap {
	if n := len(b); n > 0 && b[n-1].end == first {
		b[n-1].end = end
		return b
	}
	return append(b, span{first, end})
}

var errBitmap = errors.New("a bitmap of the split index is damaged")

// bitmap reads a bitmap in the form EWAH: the number of bits, the number of words, words of
// 64 bits, and the position of the last of those words that describe others. Such a word
// has, from its lowest bit, a bit and how many words repeat it (32 bits), then how many words
// follow as they are (31 bits).
func (r *reader) bitmap() (bitmap, error) {
	header, err := r.take(8)
	if err != nil {
		return nil, errBitmap
	}
	bits := int64(binary.BigEndian.Uint32(header))
	words := int64(binary.BigEndian.Uint32(header[4:]))
	if words > int64(len(r.data)-r.at)/8 {
		return nil, errBitmap
	}
	body, err := r.take(int(words) * 8)
	if err != nil {
		return nil, errBitmap
	}
	if _, err := r.take(4); err != nil {
		return nil, errBitmap
	}
	var b bitmap
	at := int64(0)
	for len(body) > 0 {
		marker := binary.BigEndian.Uint64(body)
		body = body[8:]
		repeated := int64(marker>>1&0xffffffff) * 64
		if marker&1 != 0 && repeated > 0 && at < bits {
			b = b.add(int(at), int(min(at+repeated, bits)))
		}
		at += repeated
		literal := marker >> 33
		if literal > uint64(len(body)/8) {
			return nil, errBitmap
		}
		for ; literal > 0; literal-- {
			word := binary.BigEndian.Uint64(body)
			body = body[8:]
			for i := range int64(64) {
				if word&(1<<i) != 0 && at+i < bits {
					b = b.add(int(at+i), int(at+i+1))
				}
			}
			at += 64
		}
	}
	return b, nil
}
