package stored_test

import (
	"reflect"
	"testing"
	"time"

	"github.com/bough-dev/bough/convert/content"
	"github.com/bough-dev/bough/convert/transcript"
	"github.com/bough-dev/bough/internal/stored"
	"github.com/bough-dev/bough/session"
)

// TestOf: a message of a transcript is the same after it was stored.
func TestOf(t *testing.T) {
	at := time.Date(2026, 5, 25, 15, 32, 0, 0, time.UTC)
	for _, m := range []*transcript.Message{
		{ID: "a", Time: at},
		{ID: "b", Parent: "a", Time: at, Kind: transcript.Compaction, Model: "m-1", CopyOf: "x", Format: "pi", Guessed: true},
		{ID: "c", Parent: "gone", Joined: "a", Open: true, Format: "pi"},
	} {
		m.Message = content.Message{Role: "assistant", Parts: []content.Part{{Type: content.TypeText, Text: "Hello"}}}
		raw := stored.Of(m, session.Bough, at).Encode()
		back := transcript.FromSession(session.Message{ID: m.ID, Raw: raw}, m.Parent)
		if when, ok := (session.Message{Raw: raw}).Time(); !ok || !when.Equal(at) {
			t.Errorf("%s is of %v, %v", m.ID, when, ok)
		}
		back.Raw, back.Time, back.Message = nil, m.Time, m.Message
		if !reflect.DeepEqual(back, m) {
			t.Errorf("it is\n%+v\nwas\n%+v\nstored as %s", back, m, raw)
		}
	}
}
