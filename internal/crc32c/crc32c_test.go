package crc32c

import (
	"math/rand/v2"
	"testing"
)

// TestSum: the sums of parts combine to the sum of the whole.
func TestSum(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	data := make([]byte, 1<<17)
	for i := range data {
		data[i] = byte(random.Uint32())
	}
	for range 200 {
		whole := data[:random.IntN(len(data))]
		var got Sum
		for rest := whole; len(rest) > 0; {
			n := 1 + random.IntN(len(rest))
			var piece Sum
			piece.Add(rest[:n])
			got.Join(piece)
			rest = rest[n:]
		}
		if want := (Sum{Of(whole), len(whole)}); got != want {
			t.Fatalf("the sum of pieces of %d bytes is %v, want %v", len(whole), got, want)
		}
	}
}

// TestPowers: each power is the square of the one before, and the first that of the last.
func TestPowers(t *testing.T) {
	if powers[0] != 1<<23 {
		t.Errorf("the first power is %#x", powers[0])
	}
	for k, power := range powers {
		if next := powers[(k+1)%len(powers)]; next != multiply(power, power) {
			t.Errorf("power %d is %#x, want %#x", k+1, next, multiply(power, power))
		}
	}
}

// BenchmarkJoin measures appending 128 KiB.
func BenchmarkJoin(b *testing.B) {
	piece := Sum{CRC: 0x12345678, N: 128 << 10}
	var s Sum
	for b.Loop() {
		s.N = 0
		s.Join(piece)
	}
}
