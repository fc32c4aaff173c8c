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
	power := uint32(1) << 23 // x to the power of 8, the highest bit being x to the power of 0
	for ; n > 0; n >>= 1 {
		if n&1 == 1 {
			crc = multiply(crc, power)
		}
		power = multiply(power, power)
	}
	return crc
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
