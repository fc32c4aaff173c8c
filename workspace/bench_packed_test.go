package workspace_test

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/bough-dev/bough/workspace"
)

// BenchmarkPacked measures automatic packed checkpoints of the chat as ratios to a raw copy
// of it: "first", with the chat seen before or not; "next", after 20 new messages.
func BenchmarkPacked(b *testing.B) {
	files := chat.Files()
	tail := files[len(files)-1].ID
	var names []string
	for _, f := range files {
		names = append(names, "conversations/"+f.ID+".json")
	}
	take := func(b *testing.B, s *space) *workspace.Snapshot {
		snap, err := s.Checkpoint(b.Context(), tail, workspace.SnapshotOptions{Packed: true})
		if err != nil {
			b.Fatal(err)
		}
		return snap
	}
	first := func(b *testing.B, before func(*space)) {
		s := benchSpace(b, files)
		var raw, verb []time.Duration
		for b.Loop() {
			raw = append(raw, timed(func() { s.copyRaw(names, "raw") }))
			s.removeRaw()
			before(s)
			verb = append(verb, timed(func() { take(b, s) }))
			if err := os.RemoveAll(filepath.Join(s.Dir(), "packed")); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(ratio(verb, raw), "x-raw")
	}
	b.Run("first/seen", func(b *testing.B) { first(b, func(*space) {}) })
	b.Run("first/unseen", func(b *testing.B) { first(b, (*space).forget) })
	b.Run("next", func(b *testing.B) {
		s := benchSpace(b, files)
		take(b, s)
		var raw, verb []time.Duration
		for i := 0; b.Loop(); i++ {
			raw = append(raw, timed(func() { s.copyRaw(names, "raw") }))
			s.removeRaw()
			for k := range 20 {
				s.append(workspace.Append{Session: tail, Text: fmt.Sprintf("message %d of round %d %s", k, i, strings.Repeat("some words of text ", 80))})
			}
			verb = append(verb, timed(func() { take(b, s) }))
		}
		b.ReportMetric(ratio(verb, raw), "x-raw")
	})
	b.Run("disk", func(b *testing.B) {
		for b.Loop() {
			s := benchSpace(b, files[:len(files)-1])
			at := files[len(files)-2].ID
			one := int64(0)
			for _, f := range files {
				one += int64(len(f.Data))
			}
			for i := range 50 {
				if i > 0 {
					for k := range 17 {
						s.append(workspace.Append{Session: at, Text: fmt.Sprintf("message %d of round %d %s", k, i, strings.Repeat("some words of text ", 80))})
					}
				}
				if _, err := s.Checkpoint(b.Context(), at, workspace.SnapshotOptions{Auto: true}); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(s.sizeOf("packed"))/float64(one), "x-chat")
		}
	})
}

// sizeOf returns the size of the files below a folder.
func (s *space) sizeOf(dir string) (bytes int64) {
	s.t.Helper()
	err := fs.WalkDir(os.DirFS(s.Dir()), dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err == nil {
			bytes += info.Size()
		}
		return err
	})
	if err != nil {
		s.t.Fatal(err)
	}
	return bytes
}
