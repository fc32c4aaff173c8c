package folders

import (
	"fmt"
	"strings"
	"testing"

	"github.com/bough-dev/bough/internal/states"
)

// TestAuthorsOf: who changed a folder between two states, for several conversations.
func TestAuthorsOf(t *testing.T) {
	// A state is CONVERSATION:MOMENT or CONVERSATION:MOMENT:MESSAGE. An author is what it is by,
	// with the conversation of a turn, and a "?" if others may have done it.
	for _, c := range []struct{ states, want string }{
		{"a:prompt a:end", "older a you"},
		{"a:prompt a:end a:prompt a:end", "older a you a you"},
		{"a:prompt b:prompt a:end b:end", "older a a? b you"},
		{"a:prompt a:prompt a:end", "older a? a you"}, // the first turn was stopped
		{"a:prompt a:checkpoint a:end a:manual", "older a a you you"},
		{"a:prompt", "older a?"}, // it runs
		{":prompt a:end b:prompt", "older  you b?"},
		{"a:end a:prompt a:end", "older you a you"},
		{"a:prompt a:end a:restore a:since", "older a you restore you"},
		{"a:prompt a:since a:manual", "older restore you you"}, // a restore ends a turn
		{":manual :manual", "older you you"},
		{"a:manual:1 a:manual:1 a:manual:2", "older you a? you"},
		{"a:prompt a:end a:manual:1 a:manual:2", "older a you you you"},
		{"", "you"},
	} {
		var list []*states.State
		names := map[*states.State]string{}
		for i, word := range strings.Fields(c.states) {
			parts := append(strings.Split(word, ":"), "")
			st := &states.State{ID: fmt.Sprint(i), At: states.Moment(parts[1]), MessageID: parts[2]}
			if parts[1] == "since" {
				st.At, st.Since = states.Restore, fmt.Sprint(i-1)
			}
			list, names[st] = append(list, st), parts[0]
		}
		var got []string
		for _, a := range authorsOf(list, func(st *states.State) string { return names[st] }) {
			word := a.by
			if a.run != nil {
				word = a.run.conversation
			}
			if !a.sure() {
				word += "?"
			}
			got = append(got, word)
		}
		if got := strings.Join(got, " "); got != c.want {
			t.Errorf("%s: %q, want %q", c.states, got, c.want)
		}
	}
}
