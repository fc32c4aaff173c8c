package rawjson

import (
	"encoding/binary"
	"math/bits"
)

// A block is 64 bytes of a document that contain a part of a string, with their
// scan state. Strings are most of a document, so they are not scanned byte by byte:
// words of eight bytes are examined with arithmetic, and only a block with the end
// of a string or with a suspicious byte is examined bit by bit.
type block struct {
	end    int    // offset in the document of the end of the block
	stops  uint64 // bit n is set if byte n ends a string or is invalid
	carry  uint64 // 1 if the byte after the block is escaped
	backs  uint64 // not 0 if there were backslashes since the block was begun
	beyond uint64 // not 0 if there were non-ASCII bytes since then
}

const (
	ones  = 0x0101010101010101
	highs = 0x80 * ones
)

// next advances to the next block with a stop: an unescaped quote, a control
// character, or a byte that is not a valid escape after a backslash. There is
// always a stop after the last byte of data.
//
// Until a stop is found, bit k of byte n of a mask represents byte n of word k.
func (b *block) next(data []byte) {
	var own [64]byte
	for b.stops = 0; b.stops == 0; b.end += 64 {
		p := &own
		if len(data)-b.end >= 64 {
			p = (*[64]byte)(data[b.end:])
		} else {
			own = [64]byte{}
			copy(own[:], data[b.end:])
		}
		beyond := (word(p[0:8]) | word(p[8:16]) | word(p[16:24]) | word(p[24:32]) |
			word(p[32:40]) | word(p[40:48]) | word(p[48:56]) | word(p[56:64])) & highs
		if beyond != 0 {
			b.beyond = beyond
			ascii(&own, p)
			p = &own
		}

		quotes, backs, graphic := marks(word(p[0:8]), 0, 0, highs)
		quotes, backs, graphic = marks(word(p[8:16]), quotes, backs, graphic)
		quotes, backs, graphic = marks(word(p[16:24]), quotes, backs, graphic)
		quotes, backs, graphic = marks(word(p[24:32]), quotes, backs, graphic)
		quotes, backs, graphic = marks(word(p[32:40]), quotes, backs, graphic)
		quotes, backs, graphic = marks(word(p[40:48]), quotes, backs, graphic)
		quotes, backs, graphic = marks(word(p[48:56]), quotes, backs, graphic)
		quotes, backs, graphic = marks(word(p[56:64]), quotes, backs, graphic)
		quotes, backs = ^quotes, ^backs
		b.backs |= backs

		// In these masks the next byte is in byte n+1, and after byte 7 of a word
		// in byte 0 of the next word.
		after := bits.RotateLeft64(backs, 8)
		escaped := after&^0xff | after<<1&0xff | b.carry
		b.carry = after >> 7 & 1
		if escaped&backs != 0 {
			escaped, b.carry = escapedInRun(transpose(backs), escaped&1)
		}
		stops := quotes &^ escaped
		escaped &^= backs
		if graphic == highs {
			escaped &^= quotes
		}
		for ; escaped != 0; escaped &= escaped - 1 {
			n := bits.TrailingZeros64(escaped)
			rest := data[min(b.end+n&7*8+n>>3, len(data)):]
			if len(rest) > 4 && rest[0] == 'u' && hex(binary.LittleEndian.Uint32(rest[1:])) {
				continue
			}
			if len(rest) == 0 || !short(rest[0]) {
				stops |= 1 << n
			}
		}
		if stops != 0 {
			b.stops = transpose(stops)
		}
	}
}

// marks adds the next word v of a block, which is ASCII, to the masks of the
// preceding words: quotes has a bit for bytes that are neither quotes nor control
// characters; backs has one for bytes that are not backslashes. graphic is highs as
// long as there is no control character.
func marks(v, quotes, backs, graphic uint64) (uint64, uint64, uint64) {
	return quotes>>1 | (v^ones*2+ones*0x5f)&highs,
		backs>>1 | (v^ones*'\\'+ones*0x7f)&highs,
		graphic & (v + ones*0x60)
}

// escapedInRun returns which bytes of a block are escaped, and 1 if the byte after it is,
// for blocks with adjacent backslashes, where only a sequential scan shows which of
// them are escaped themselves. The lowest bit of backs is the first byte, which is
// escaped if carry is 1.
func escapedInRun(backs, carry uint64) (escaped, after uint64) {
	escaped = carry
	for left := backs &^ carry; left != 0; {
		first := left & -left
		escaped |= first << 1
		left &^= first | first<<1
	}
	return transpose(escaped), (backs &^ escaped) >> 63
}

// short reports whether a backslash and c are a complete escape.
func short(c byte) bool {
	switch c {
	case 'n', 'r', 't', 'b', 'f', '/', '"', '\\':
		return true
	}
	return false
}

// hex reports whether the four bytes of v are hexadecimal digits.
func hex(v uint32) bool {
	const ones, highs = 0x01010101, 0x80808080
	low := v &^ highs
	digit := (low + ones*(0x80-'0')) &^ (low + ones*(0x7f-'9'))
	low |= ones * 0x20
	letter := (low + ones*(0x80-'a')) &^ (low + ones*(0x7f-'f'))
	return (digit|letter)&^v&highs == highs
}

// ascii copies p to a, with 0x7f in place of non-ASCII bytes.
func ascii(a, p *[64]byte) {
	for i := 0; i < 64; i += 8 {
		v := word(p[i : i+8])
		beyond := v & highs
		binary.LittleEndian.PutUint64(a[i:i+8], v&^beyond|(beyond-beyond>>7))
	}
}

func word(b []byte) uint64 { return binary.LittleEndian.Uint64(b) }

// transpose sets bit n of byte k to bit k of byte n.
func transpose(x uint64) uint64 {
	t := (x ^ x>>7) & 0x00AA00AA00AA00AA
	x ^= t ^ t<<7
	t = (x ^ x>>14) & 0x0000CCCC0000CCCC
	x ^= t ^ t<<14
	t = (x ^ x>>28) & 0x00000000F0F0F0F0
	return x ^ t ^ t<<28
}
