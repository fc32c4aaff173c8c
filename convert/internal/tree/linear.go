package tree

import (
	"slices"

	"github.com/bough-dev/bough/convert/transcript"
)

// A Linear log has messages in sequence, and marks that discard some of them.
// The remaining messages are live: the active path.
type Linear struct {
	Live []*transcript.Message
	// turns says that a mark can lead to the place before a message.
	Turns func(*transcript.Message) bool
}

// A Step is one write to a linear log: a mark that discards live messages, or a
// message; again, if it was written before and discarded because no mark leads to the
// position after it.
type Step struct {
	Over    []*transcript.Message
	Message *transcript.Message
	again   bool
}

// Back returns the steps that make a message the last live one, or the log
// empty for "". It returns false if no mark can do that.
func (l *Linear) Back(id string) ([]Step, bool) {
	if n := len(l.Live); n > 0 && l.Live[n-1].ID == id {
		return nil, true
	}
	at := slices.IndexFunc(l.Live, func(m *transcript.Message) bool { return m.ID == id })
	if at == len(l.Live)-1 {
		return nil, true
	}
	to := at + 1
	for to >= 0 && !l.Turns(l.Live[to]) {
		to--
	}
	if to < 0 {
		return nil, false
	}
	steps := []Step{{Over: slices.Clone(l.Live[to:])}}
	for _, m := range l.Live[to : at+1] {
		steps = append(steps, Step{Message: m, again: true})
	}
	l.Live = l.Live[:at+1]
	return steps, true
}
