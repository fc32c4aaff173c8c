package sessions_test

import (
	"testing"
	"time"

	"github.com/bough-dev/bough/internal/sessions"
	"github.com/bough-dev/bough/internal/testchat"
	"github.com/bough-dev/bough/session"
)

// BenchmarkOutlines measures the start of every verb: reading the cached outlines
// of a line of 12 files and 10,000 messages, and building its tree.
func BenchmarkOutlines(b *testing.B) {
	files := map[string]string{}
	var ids []string
	for _, f := range (testchat.Chat{Messages: 10_000, PerFile: 834, Text: 1530}).Files() {
		files[session.FileName(f.ID)] = string(f.Data)
		ids = append(ids, f.ID)
	}
	f, _ := folder(b, files)
	time.Sleep(60 * time.Millisecond) // for the file system's clock to advance
	recall := func() (parts []*session.Outline) {
		for _, id := range ids {
			o, err := f.Outline(id)
			if err != nil {
				b.Fatal(err)
			}
			parts = append(parts, o)
		}
		return parts
	}
	parts := recall()
	for _, o := range parts {
		f.Remember(o)
	}
	b.Run("recall", func(b *testing.B) {
		for b.Loop() {
			if o := recall()[0]; !sessions.Remembered(f, o) {
				b.Fatal("the outline is not cached")
			}
		}
	})
	b.Run("tree", func(b *testing.B) {
		for b.Loop() {
			if _, err := session.NewTree(parts, f.Open); err != nil {
				b.Fatal(err)
			}
		}
	})
}
