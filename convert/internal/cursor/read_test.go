package cursor

import "testing"

// TestManyCopies: a hostile list that has one message many times is read in time that is linear in their number.
func TestManyCopies(t *testing.T) {
	s, seen := &said{}, map[string]bool{}
	for range 20_000 {
		s.model([]byte(`{"role":"system","content":"You are an agent."}`))
		last := s.list[len(s.list)-1].ID
		if seen[last] {
			t.Fatal("two messages have one id")
		}
		seen[last] = true
	}
}
