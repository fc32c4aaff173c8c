package importer

import (
	"bytes"
	"testing"
)

// TestSpoolSizes: messages of any size are read as they were written, from memory and from the
// file; a large one is not copied in memory.
func TestSpoolSizes(t *testing.T) {
	for _, limit := range []int64{0, 1000, 1 << 20} {
		s := &Spool{maxMemory: limit}
		var at []int64
		var want [][]byte
		for i, size := range []int{1, 400, spoolWindow, 7, spoolWindow - 1, 3 * spoolWindow, 0, 9, 2} {
			raw := bytes.Repeat([]byte{byte('a' + i)}, size)
			at, want = append(at, s.size), append(want, raw)
			if err := s.put(raw); err != nil {
				t.Fatal(err)
			}
			if s.temp != nil && cap(s.memory) >= 3*spoolWindow {
				t.Errorf("with a limit of %d, after message %d there are %d bytes in memory", limit, i, cap(s.memory))
			}
		}
		for i := range want {
			got := make([]byte, len(want[i]))
			if err := s.read(got, at[i]); err != nil || !bytes.Equal(got, want[i]) {
				t.Errorf("with a limit of %d, message %d is %.5q, %v", limit, i, got, err)
			}
		}
		s.drop()
	}
}
