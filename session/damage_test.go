package session_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/bough-dev/bough/internal/testsize"
	"github.com/bough-dev/bough/session"
)

// others are the bytes that have a meaning in JSON.
const others = "\x00\xff\"{}[]\\,:0 "

// changes calls f with data after every change of one byte: each bit flipped, and
// each byte of others in its place. It returns the number of changes.
func changes(data []byte, f func(at int, changed []byte)) (n int) {
	changed := bytes.Clone(data)
	step := testsize.Of(13, 3, 1)
	for at, was := range data {
		if at%step != 0 {
			continue
		}
		try := func(is byte) {
			if is != was {
				changed[at] = is
				f(at, changed)
				n++
			}
		}
		for bit := range 8 {
			try(was ^ 1<<bit)
		}
		for i := range len(others) {
			try(others[i])
		}
		changed[at] = was
	}
	return n
}

// skeleton returns a document without white space and without the content of its
// strings and numbers. Adjacent numbers count as one, because a digit or a point
// could have replaced the comma between them. A single blank in brackets could also
// have been a 0; no input has one.
func skeleton(data []byte) string {
	var b strings.Builder
	for i := 0; i < len(data); i++ {
		switch c := data[i]; {
		case c == '"':
			for i++; data[i] != '"'; i++ {
				if data[i] == '\\' {
					i++
				}
			}
			b.WriteString(`""`)
		case c == '-' && data[i+1] == 'I': // a sign is part of the number
		case strings.IndexByte("-+.0123456789eE", c) >= 0:
			for i+1 < len(data) && strings.IndexByte("-+.,0123456789eE", data[i+1]) >= 0 {
				i++
			}
			if data[i] == ',' {
				i--
			}
			b.WriteByte('0')
		case c > ' ':
			b.WriteByte(c)
		}
	}
	return b.String()
}

// damaged reports whether err is a DamageError with an offset in a file of size
// bytes.
func damaged(err error, size int) bool {
	var damage *session.DamageError
	return errors.As(err, &damage) && damage.Offset >= 0 && damage.Offset <= size && damage.Problem != ""
}

// TestEveryPrefix: a truncated file is damaged at its end, or at the incomplete
// character.
func TestEveryPrefix(t *testing.T) {
	n := 0
	for name, data := range smallSessions() {
		for cut := range len(bytes.TrimSpace(data)) {
			_, err := session.Decode("s", data[:cut:cut])
			var damage *session.DamageError
			if !errors.As(err, &damage) || damage.Offset > cut || damage.Offset < cut-3 || damage.Offset < cut && damage.Problem != "invalid UTF-8" {
				t.Errorf("%s cut at %d: %v", name, cut, err)
			}
			n++
		}
	}
	t.Logf("%d prefixes", n)
}

// TestEveryChange: a file with one changed byte is damaged at an offset in it, or
// the change is in one string or number: the number of messages is the same, and
// the others are unchanged.
func TestEveryChange(t *testing.T) {
	for name, data := range smallSessions() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			whole := decode(t, "s", data)
			bones, refused := skeleton(data), 0
			n := changes(data, func(at int, changed []byte) {
				s, err := session.Decode("s", changed)
				if err != nil {
					if refused++; !damaged(err, len(data)) {
						t.Errorf("with %q at %d: %v", changed[at], at, err)
					}
					return
				}
				if skeleton(changed) != bones || len(s.Messages) != len(whole.Messages) {
					t.Fatalf("with %q at %d another document decodes", changed[at], at)
				}
				for i, m := range whole.Messages {
					if start := whole.Offset(i); (at < start || at >= start+len(m.Raw)) && (s.Messages[i].ID != m.ID || !bytes.Equal(s.Messages[i].Raw, m.Raw)) {
						t.Errorf("with %q at %d message %d is %s", changed[at], at, i, s.Messages[i].Raw)
					}
				}
				if inside := at >= whole.Offset(0) && at < whole.Offset(0)+len(whole.Region(0, len(whole.Messages))); inside && whole.Meta.Sealed != nil && s.FitsSeal {
					t.Errorf("with %q at %d it fits its seal", changed[at], at)
				}
			})
			t.Logf("%d changes, of which %d are damage", n, refused)
		})
	}
}
