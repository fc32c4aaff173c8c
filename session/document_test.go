package session_test

import (
	"testing"

	"github.com/bough-dev/bough/session"
)

// TestItemOfSpaced: the bytes of an item are those between two messages, whatever they are,
// and its hash is known only if they are the separator.
func TestItemOfSpaced(t *testing.T) {
	for gap, want := range map[string]bool{
		session.Separator: true, ",": false, " " + session.Separator: false, session.Separator + " ": false, "\n" + session.Separator[:1] + "    ": false,
	} {
		f := files{"p": `{"messages":[` + m("a") + gap + m("b") + `]}`}
		run := session.Run{Part: f.outline(t, "p"), To: 2}
		at, size, _, known := run.Item(1)
		if got := f["p"][at : at+size]; got != gap+m("b") || known != want {
			t.Errorf("after %q the item is %q, and its hash is known: %v", gap, got, known)
		}
	}
}
