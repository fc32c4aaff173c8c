// Package crc32c computes CRC-32C (Castagnoli) checksums, and combines the
// checksums of parts.
package crc32c

import "hash/crc32"

func table() *crc32.Table { return crc32.MakeTable(crc32.Castagnoli) } // cached by the package

// Of returns the CRC-32C of data.
func Of(data []byte) uint32 { return crc32.Checksum(data, table()) }

// A Sum is the CRC-32C of some bytes and their number. The zero Sum is that of no
// bytes.
type Sum struct {
	CRC uint32
	N   int
}

// Add appends data.
func (s *Sum) Add(data []byte) {
	s.CRC = crc32.Update(s.CRC, table(), data)
	s.N += len(data)
}

// Join appends the bytes whose sum is next, without reading them.
func (s *Sum) Join(next Sum) {
	s.CRC = shift(s.CRC, next.N) ^ next.CRC
	s.N += next.N
}

// Without returns the sum of the bytes of s after those at its start whose sum is first.
func (s Sum) Without(first Sum) Sum {
	n := s.N - first.N
	return Sum{s.CRC ^ shift(first.CRC, n), n}
}

// shift returns the CRC after n zero bytes: as a polynomial over the field of two
// elements, crc times x to the power of 8n.
func shift(crc uint32, n int) uint32 {
	for k := 0; n > 0; k++ {
		if n&1 == 1 {
			crc = multiply(crc, powers[k%len(powers)])
		}
		n >>= 1
	}
	return crc
}

// powers are x to the power of 8 times 2 to the power of k, the highest bit being x to the
// power of 0. Each is the square of the one before, and the first that of the last.
var powers = [31]uint32{
	0x00800000, 0x00008000, 0x82f63b78, 0x6ea2d55c, 0x18b8ea18, 0x510ac59a, 0xb82be955, 0xb8fdb1e7,
	0x88e56f72, 0x74c360a4, 0xe4172b16, 0x0d65762a, 0x35d73a62, 0x28461564, 0xbf455269, 0xe2ea32dc,
	0xfe7740e6, 0xf946610b, 0x3c204f8f, 0x538586e3, 0x59726915, 0x734d5309, 0xbc1ac763, 0x7d0722cc,
	0xd289cabe, 0xe94ca9bc, 0x05b74f3f, 0xa51e1f42, 0x40000000, 0x20000000, 0x08000000,
}

// multiply returns the product of two polynomials modulo that of CRC-32C.
func multiply(a, b uint32) uint32 {
	var product uint32
	for ; a != 0; a <<= 1 {
		if a>>31 == 1 {
			product ^= b
		}
		carry := b & 1
		b >>= 1
		if carry == 1 {
			b ^= crc32.Castagnoli
		}
	}
	return product
}
