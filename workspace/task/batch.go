package task

import "slices"

// A Message is a message on a path, reduced to the properties that matter for
// batches.
type Message struct {
	Open bool // tracked and pending
	Fork bool // it has more than one child
}

// Sizes are the limits of a batch.
type Sizes struct {
	Max    int // maximum number of messages in a batch, at least 1
	Before int // number of context messages before each of them
}

// A Batch is the next part of a path to process, as indexes of messages. The zero
// Batch means that nothing is pending.
type Batch struct {
	New   []int // pending messages, from the first one on
	Shown []int // these and their context, in order
}

// Next returns the next batch of a path. It begins with the first pending message
// and ends at a fork, because tasks found before a fork belong to all its branches.
func Next(path []Message, s Sizes) Batch {
	var b Batch
	shown := 0 // exclusive end of Shown
	for i, m := range path {
		if m.Open {
			b.New = append(b.New, i)
			for k := max(shown, i-s.Before); k <= i; k++ {
				b.Shown = append(b.Shown, k)
			}
			shown = i + 1
		}
		if len(b.New) > 0 && (m.Fork || len(b.New) == s.Max) {
			break
		}
	}
	return b
}

// Context returns the shown messages before the batch, and the others.
func (b Batch) Context() (before, rest []int) {
	if len(b.New) == 0 {
		return nil, nil
	}
	at, _ := slices.BinarySearch(b.Shown, b.New[0])
	return b.Shown[:at], b.Shown[at:]
}
