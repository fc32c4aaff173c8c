package task

import "slices"

// A Message is a message on a path, as far as it matters for who looks for tasks.
type Message struct {
	Open bool // it is tracked, and pending
	Fork bool // more than one message answers it
}

// Sizes say how much is looked at together.
type Sizes struct {
	Most   int // how many messages a batch has at most, at least 1
	Before int // how many of those before each of them are shown with it
}

// A Batch is what is looked at next on a path, by the places of the messages in it.
// The zero Batch is that of a path on which nothing is pending.
type Batch struct {
	New   []int // those that are pending, from the first one on
	Shown []int // these and what is shown with them, in order
}

// Next returns the next batch of a path. It begins with the first message that is
// pending, and does not go beyond a fork: what is found before one belongs to all
// branches that leave there.
func Next(path []Message, s Sizes) Batch {
	var b Batch
	shown := 0 // up to here
	for i, m := range path {
		if m.Open {
			b.New = append(b.New, i)
			for k := max(shown, i-s.Before); k <= i; k++ {
				b.Shown = append(b.Shown, k)
			}
			shown = i + 1
		}
		if len(b.New) > 0 && (m.Fork || len(b.New) == s.Most) {
			break
		}
	}
	return b
}

// Context returns those of the messages shown that come before the batch, and the
// others.
func (b Batch) Context() (before, rest []int) {
	if len(b.New) == 0 {
		return nil, nil
	}
	at, _ := slices.BinarySearch(b.Shown, b.New[0])
	return b.Shown[:at], b.Shown[at:]
}
