package session_test

import (
	"errors"
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

// TestSingle: the item of a single message is the separator and the message, whether the run
// has it or makes it.
func TestSingle(t *testing.T) {
	stopped := errors.New("stopped")
	for name, tt := range map[string]struct {
		run  session.Run
		want string
		err  error
	}{
		"raw":    {run: session.Run{Raw: []byte(m("a"))}, want: session.Separator + m("a")},
		"made":   {run: session.Run{Make: func() ([]byte, error) { return []byte(m("b")), nil }}, want: session.Separator + m("b")},
		"failed": {run: session.Run{Make: func() ([]byte, error) { return []byte(m("c")), stopped }}, err: stopped},
	} {
		if got, err := tt.run.Single(); string(got) != tt.want || err != tt.err {
			t.Errorf("%s: the item is %q, error %v", name, got, err)
		}
	}
}
