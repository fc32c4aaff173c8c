package stream

import (
	"bytes"
	"testing"

	"github.com/bough-dev/bough/remote/seal"
)

// TestSmallFrames: the header of a frame has the size of its content, however small that is.
func TestSmallFrames(t *testing.T) {
	for n := 1; n <= 600; n++ {
		for _, content := range [][]byte{bytes.Repeat([]byte("a"), n), bytes.Repeat([]byte("a word, "), n)[:n]} {
			data := seal.Compress(content)
			if size, got, err := frameAt(data); err != nil || size != len(data) || got != int64(n) {
				t.Fatalf("%d bytes: %d of %d, %d, %v", n, size, len(data), got, err)
			}
		}
	}
}
