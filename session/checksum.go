package session

import (
	"fmt"
	"hash/crc32"
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func checksum(data []byte) uint32 { return crc32.Checksum(data, castagnoli) }

// hexSum returns a CRC-32C as a seal has it: eight hexadecimal digits.
func hexSum(crc uint32) string { return fmt.Sprintf("%08x", crc) }

// A sum is the CRC-32C of some bytes, and how many they are.
type sum struct {
	crc uint32
	n   int
}

// add goes on with data.
func (s *sum) add(data []byte) {
	s.crc = crc32.Update(s.crc, castagnoli, data)
	s.n += len(data)
}

// join goes on with bytes whose sum is next, without looking at them.
func (s *sum) join(next sum) {
	s.crc = shift(s.crc, next.n) ^ next.crc
	s.n += next.n
}

// shift returns what a CRC becomes by n zero bytes after it: as a polynomial
// over the field of two elements, crc times x to the power of 8n.
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
