package redact

import (
	"strings"
	"testing"
)

func BenchmarkNew(b *testing.B) {
	for b.Loop() {
		New()
	}
}

// BenchmarkText measures typical output of programs, with keywords of rules in it.
func BenchmarkText(b *testing.B) {
	line := "func (s *Store) token(ctx context.Context, key string) (*auth.Token, error) { return s.api.Get(ctx, key) }\n" +
		"The access is checked once, and what comes after it is a long sentence of ordinary words without any of it.\n" +
		"ok  \tgithub.com/a/b/internal/store\t0.412s\n"
	s := strings.Repeat(line, 1<<20/len(line))
	r := New()
	b.SetBytes(int64(len(s)))
	for b.Loop() {
		r.Text(s)
	}
}

// BenchmarkJSON measures a record of a transcript, which is short.
func BenchmarkJSON(b *testing.B) {
	doc := []byte(`{"type":"assistant","uuid":"5f8e9d20-7f0e-4b7c-9d55-1c5a4e4e6f10","message":{"role":"assistant","content":[` +
		`{"type":"text","text":"I read the file, and the key of the map is the id of the message."},` +
		`{"type":"tool_use","id":"toolu_01Xk9mQ2vL8nR5tW1yB4cF7d","name":"Bash","input":{"command":"go test ./... 2>&1 | tail -5"}}]}}`)
	r := New()
	b.SetBytes(int64(len(doc)))
	for b.Loop() {
		if _, _, err := r.JSON(doc); err != nil {
			b.Fatal(err)
		}
	}
}
