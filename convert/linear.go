package convert

import (
	"slices"
)

// A linear log has messages one after the other, and marks that say that the program went
// back over some. What is not gone back over is live: the path that it goes on with.
type linear struct {
	live []*Message
	// turns says that a mark can lead to the place before a message.
	turns func(*Message) bool
}

// A step is what is written of a linear log: a mark that goes back over what was live,
// or a message, again if it was written before and was gone back over only because no
// mark leads to the place after it.
type step struct {
	over  []*Message
	m     *Message
	again bool
}

// back returns the steps that make the message of an id the last one that is live, the
// beginning for "". It reports false if no mark leads there.
func (l *linear) back(id string) ([]step, bool) {
	if n := len(l.live); n > 0 && l.live[n-1].ID == id {
		return nil, true
	}
	at := slices.IndexFunc(l.live, func(m *Message) bool { return m.ID == id })
	if at == len(l.live)-1 {
		return nil, true
	}
	to := at + 1
	for to >= 0 && !l.turns(l.live[to]) {
		to--
	}
	if to < 0 {
		return nil, false
	}
	steps := []step{{over: slices.Clone(l.live[to:])}}
	for _, m := range l.live[to : at+1] {
		steps = append(steps, step{m: m, again: true})
	}
	l.live = l.live[:at+1]
	return steps, true
}
