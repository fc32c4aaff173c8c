package folders

import (
	"slices"

	"github.com/bough-dev/bough/internal/states"
	"github.com/bough-dev/bough/workspace/origin"
)

// An author says what changed a folder between two states.
type author struct {
	by  string // of package origin
	run *run   // if by is a turn
	end *states.State
	// shared is true if other turns ran too, or if the time after the turn counts.
	shared bool
	others []*run // that ran too
}

// sure reports whether nothing else may have changed the folder, as far as states say.
func (a author) sure() bool { return !a.shared && (a.run == nil || a.run.ended) }

// A run is a turn, from its prompt to its end.
type run struct {
	conversation string
	prompt       *states.State // nil if there is no state before it
	last         *states.State // the last one that belongs to it, nil if there is none
	ended        bool          // it has a state of its end
}

// authorsOf returns what changed a folder before each of its states, and after the last one.
// list has the states in the order in which they were taken, and conversation returns a name for
// that of a state, "" if it is unknown.
//
// As for a restore, what changed between a prompt and the end of its turn is the turn's, and what
// changed from an end to the next prompt is the user's. If several turns ran at the same time, it
// is that of the state, else of the one that began last.
func authorsOf(list []*states.State, conversation func(*states.State) string) []author {
	authors := make([]author, 0, len(list)+1)
	var running []*run
	before := map[string]*states.State{} // by conversation its last state
	turns := map[string]bool{}           // the conversations with states of turns
	for i, st := range list {
		name := conversation(st)
		own := slices.IndexFunc(running, func(r *run) bool { return r.conversation == name })
		if own < 0 && st.At == states.End {
			// The conversation of its prompt is unknown if that was its first one.
			if own = slices.IndexFunc(running, func(r *run) bool { return r.conversation == "" }); own < 0 {
				own, running = len(running), append(running, &run{conversation: name})
			}
		}
		a := author{by: origin.ByYou}
		switch {
		case i == 0:
			a.by = origin.ByOlder
		case st.Since != "":
			a.by = origin.ByRestore
		case len(running) > 0:
			r := running[len(running)-1]
			if own >= 0 && st.At != states.Prompt {
				r = running[own]
			}
			a = author{by: origin.ByTurn, run: r, end: st, shared: len(running) > 1, others: slices.Clone(running)}
		case name != "" && !turns[name] && before[name] != nil && before[name].MessageID != st.MessageID:
			a = author{by: origin.ByTurn, run: &run{conversation: name, last: st}, end: st, shared: true}
		}
		authors = append(authors, a)
		before[name] = st
		switch {
		case st.At == states.Prompt:
			if own >= 0 {
				running = slices.Delete(running, own, own+1)
			}
			running = append(running, &run{conversation: name, prompt: st})
			turns[name] = true
		case own >= 0 && (st.At == states.End || st.Since != ""):
			running[own].last, running[own].ended = st, true
			running = slices.Delete(running, own, own+1)
			turns[name] = true
		case own >= 0 && st.At != states.Restore:
			running[own].last = st
		}
	}
	after := author{by: origin.ByYou}
	if n := len(running); n > 0 {
		after = author{by: origin.ByTurn, run: running[n-1], shared: true}
	}
	return append(authors, after)
}
