package workspace_test

import (
	"path/filepath"
	"testing"

	"github.com/bough-dev/bough/internal/testchat"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/imports"
	"github.com/bough-dev/bough/workspace/mirror"
)

// BenchmarkMirror receives 10,000 messages of another workspace: as a new session, and as additions
// to one. For comparison it imports the same session, and lists the facts with nothing new.
func BenchmarkMirror(b *testing.B) {
	from := machines(b, 1000, 1)[0]
	file := testchat.Chat{Messages: 10_000, PerFile: 10_000, Text: 500}.Files()[0]
	if err := testchat.Write(from.Dir(), []testchat.File{file}); err != nil {
		b.Fatal(err)
	}
	s := from.facts(mirror.Known{}).Sessions[0]
	messages := from.messages(s.ID)
	empty := func() *machine { return machines(b, 1000, 1)[0] }
	b.Run("import", func(b *testing.B) {
		for b.Loop() {
			b.StopTimer()
			m := empty()
			b.StartTimer()
			if _, err := m.Import(b.Context(), []string{filepath.Join(from.Dir(), session.Dir, s.ID+".json")}, imports.Options{}); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("new", func(b *testing.B) {
		for b.Loop() {
			b.StopTimer()
			m := empty()
			b.StartTimer()
			m.apply(mirror.Changes{New: []mirror.NewSession{{Session: s, Messages: messages}}})
		}
	})
	b.Run("more", func(b *testing.B) {
		for b.Loop() {
			b.StopTimer()
			m := empty()
			m.apply(mirror.Changes{New: []mirror.NewSession{{Session: s, Messages: messages[:1]}}})
			b.StartTimer()
			m.apply(mirror.Changes{Messages: []mirror.NewMessages{{Session: s.ID, Messages: messages}}})
		}
	})
	b.Run("one more", func(b *testing.B) {
		last := messages[len(messages)-1]
		for b.Loop() {
			b.StopTimer()
			m := empty()
			m.apply(mirror.Changes{New: []mirror.NewSession{{Session: s, Messages: messages[:len(messages)-1]}}})
			b.StartTimer()
			m.apply(mirror.Changes{Messages: []mirror.NewMessages{{Session: s.ID, Messages: []mirror.Message{last}}}})
		}
	})
	b.Run("facts", func(b *testing.B) {
		w, err := workspace.Open(b.Context(), from.Dir(), nil)
		if err != nil {
			b.Fatal(err)
		}
		known := mirror.Known{Projects: from.facts(mirror.Known{}).Projects, Versions: func() map[string]string { return map[string]string{s.ID: s.Version} }}
		for b.Loop() {
			if _, err := w.Mirror().Facts(b.Context(), known); err != nil {
				b.Fatal(err)
			}
		}
	})
}
