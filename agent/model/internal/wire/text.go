package wire

import (
	"strings"
	"unicode/utf8"
)

// A Text collects the streamed text of a reply, and passes it on in valid UTF-8
// chunks.
type Text struct {
	Stream func(piece string) // may be nil
	Trim   bool               // drop line breaks at the end
	Broken bool               // invalid UTF-8 was replaced with U+FFFD

	all  strings.Builder
	rest []byte // a partial character, or trailing line breaks
}

// Add adds a chunk, which may begin and end within a character.
func (t *Text) Add(piece string) {
	b := append(t.rest, piece...)
	n := len(b)
	for i := 1; i <= min(len(b), utf8.UTFMax-1); i++ {
		if c := b[len(b)-i]; utf8.RuneStart(c) {
			if !utf8.FullRune(b[len(b)-i:]) {
				n = len(b) - i
			}
			break
		}
	}
	for t.Trim && n > 0 && (b[n-1] == '\n' || b[n-1] == '\r') {
		n--
	}
	t.give(b[:n])
	t.rest = append([]byte(nil), b[n:]...)
}

// End returns the complete text.
func (t *Text) End() string {
	rest := t.rest
	t.rest = nil
	if t.Trim {
		rest = []byte(strings.TrimRight(string(rest), "\r\n"))
	}
	t.give(rest)
	return t.all.String()
}

// Streamed reports whether any text was passed on.
func (t *Text) Streamed() bool { return t.all.Len() > 0 }

func (t *Text) give(b []byte) {
	if len(b) == 0 {
		return
	}
	s := string(b)
	if !utf8.ValidString(s) {
		t.Broken = true
		s = strings.ToValidUTF8(s, "\ufffd")
	}
	t.all.WriteString(s)
	if t.Stream != nil {
		t.Stream(s)
	}
}
