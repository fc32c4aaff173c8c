package session_test

import (
	"bytes"
	"testing"

	"github.com/bough-dev/bough/internal/testchat"
	"github.com/bough-dev/bough/session"
)

// FuzzOutline: no bytes cause a panic, and a decoded outline encodes to the same bytes.
func FuzzOutline(f *testing.F) {
	seeds := []string{`{"messages":[]}`, string(sealed(m("a"), under("a", "b"))), string(file(`"continued_from":"p"`, m("h"), marker("p", ""), message("b", `"tool_call_id":"c1"`)))}
	for _, file := range (testchat.Chat{Messages: 24, PerFile: 12, Text: 20, Odd: true}).Files() {
		seeds = append(seeds, string(file.Data))
	}
	for _, seed := range seeds {
		s, err := session.Decode("s", []byte(seed))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(session.Encode(s.Outline))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var o, again session.Outline
		if o.UnmarshalBinary(data) != nil {
			return
		}
		for i := range o.Len() {
			o.MessageID(i)
			o.Time(i)
			o.Tools(i)
			o.Offset(i)
		}
		encoded, err := o.MarshalBinary()
		if err != nil || again.UnmarshalBinary(encoded) != nil || !bytes.Equal(session.Encode(&again), encoded) {
			t.Errorf("%q is read as %+v, and that as %+v, %v", data, o, again, err)
		}
	})
}
