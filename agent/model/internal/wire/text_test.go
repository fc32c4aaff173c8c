package wire

import (
	"strings"
	"testing"
	"unicode/utf8"
)

// FuzzText: if a text is split anywhere, the parts that are passed on are valid UTF-8 and
// concatenate to the text.
func FuzzText(f *testing.F) {
	f.Add("größer ✓ 😀\n\n", 3, false)
	f.Add("a\n\nb\r\n", 1, true)
	f.Add("caf\xe9 \xf0\x9f", 2, true)
	f.Fuzz(func(t *testing.T, s string, size int, trim bool) {
		size = min(max(size, 1), 1<<20)
		var pieces []string
		text := Text{Trim: trim, Stream: func(p string) { pieces = append(pieces, p) }}
		for rest := s; rest != ""; {
			n := min(size, len(rest))
			text.Add(rest[:n])
			rest = rest[n:]
		}
		want := s
		if trim {
			want = strings.TrimRight(s, "\r\n")
		}
		got := text.End()
		if strings.Join(pieces, "") != got || text.Streamed() != (got != "") {
			t.Errorf("%q is passed on as %q, and is %q", s, pieces, got)
		}
		if utf8.ValidString(s) && (got != want || text.Broken) {
			t.Errorf("%q became %q, broken %v", s, got, text.Broken)
		}
		if !utf8.ValidString(want) && !text.Broken {
			t.Errorf("%q became %q, without a report of invalid text", s, got)
		}
		for _, p := range pieces {
			if p == "" || !utf8.ValidString(p) {
				t.Errorf("%q is passed on as %q", s, pieces)
			}
		}
	})
}

func TestLine(t *testing.T) {
	for _, c := range []struct {
		s    string
		end  bool
		want string
	}{
		{"one\n\ttwo\x1b[0m", false, "one two [0m"},
		{"abcdefghijklmnop", false, "abcdefghijkl…"},
		{"abcdefghijklmnop", true, "…efghijklmnop"},
		{"ääääääää", false, "ääääää…"},
		{"xäääääääy", true, "…äääääy"},
	} {
		if got := Line(c.s, 12, c.end); got != c.want {
			t.Errorf("%q is %q, want %q", c.s, got, c.want)
		}
	}
}
