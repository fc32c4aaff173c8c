package workspace_test

import (
	"bytes"
	"testing"
	"time"

	"github.com/bough-dev/bough/internal/parallel"
	"github.com/bough-dev/bough/internal/testchat"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace/search"
)

// BenchmarkSearch measures Workspace.Search of 48,000 messages in 24 conversations of 10
// files each, about 90 MB. The metric x-scan is its time divided by the time to read the
// same files through reused buffers, in parallel on all processors, and to count a literal
// word in each, case-sensitive and without JSON escapes.
func BenchmarkSearch(b *testing.B) {
	files := searchFiles()
	s := benchSpace(b, files)
	s.see()
	for _, c := range []struct {
		name, text, plain string
		limit, want       int // want is the minimum number of matches
	}{
		{"a rare word", "sesame", "sesame", 50, 5},
		{"no such word", "harbour", "harbour", 50, 0},
		{"no such letter", "kilometre", "kilometre", 50, 0},
		{"a common word", "conversation", "conversation", 50, 50},
		{"beyond ASCII", "γραμματική", `\u03b3\u03c1`, 50, 5},
		{"a phrase", `"sesame street"`, "sesame street", 50, 5},
		{"two words", "sesame branch", "sesame", 50, 5},
		{"around the messages", "timestamp", "timestamp", 50, 0},
		{"all of a common word", "conversation", "conversation", 0, 40_000},
	} {
		b.Run(c.name, func(b *testing.B) {
			s.measureSearch(b, files, c.plain, search.Options{Text: c.text, Limit: c.limit, PerSession: perSession(c.limit)}, c.want)
		})
	}
}

// BenchmarkSearchCopies does the same where most of the bytes are copies: 10 checkpoints of
// a conversation of 10,000 messages.
func BenchmarkSearchCopies(b *testing.B) {
	files := chat.Files()
	s := benchSpace(b, files)
	for range 10 {
		s.checkpoint(files[len(files)-1].ID)
	}
	list, err := s.List(b.Context(), "")
	if err != nil {
		b.Fatal(err)
	}
	files = files[:0]
	for _, e := range list.Sessions {
		files = append(files, testchat.File{ID: e.ID})
	}
	s.see()
	for _, c := range []struct {
		name, text string
		want       int
	}{{"no such word", "harbour", 0}, {"a common word", "conversation", 5}} {
		b.Run(c.name, func(b *testing.B) {
			s.measureSearch(b, files, c.text, search.Options{Text: c.text, Limit: 50, PerSession: 5}, c.want)
		})
	}
}

// perSession returns the limit of the command per conversation, or 0 for all.
func perSession(limit int) int {
	if limit == 0 {
		return 0
	}
	return 5
}

// see lets bough fill its cache.
func (s *space) see() {
	if _, err := s.Tree(s.t.Context(), ""); err != nil {
		s.t.Fatal(err)
	}
}

func (s *space) measureSearch(b *testing.B, files []testchat.File, plain string, o search.Options, want int) {
	var raw, search []time.Duration
	for b.Loop() {
		raw = append(raw, timed(func() { s.scan(files, []byte(plain)) }))
		search = append(search, timed(func() {
			f, err := s.Search(b.Context(), o)
			if err != nil || len(f.Matches) < want || want == 0 && len(f.Matches) > 0 {
				b.Fatalf("%d matches, %v", len(f.Matches), err)
			}
		}))
	}
	b.ReportMetric(ratio(search, raw), "x-scan")
	b.ReportMetric(float64(median(search).Microseconds())/1000, "ms")
}

// searchFiles makes conversations in which few messages have a rare word.
func searchFiles() []testchat.File {
	var files []testchat.File
	for seed := range 24 {
		c := testchat.Chat{Messages: 2_000, PerFile: 200, Text: 1530, Seed: uint64(seed + 1)}
		files = append(files, c.Files()...)
	}
	const rare = `"content": "Open Sesame Street, \u0393\u03c1\u03b1\u03bc\u03bc\u03b1\u03c4\u03b9\u03ba\u03ae branch, `
	for i := 25; i < len(files); i += 50 {
		data := files[i].Data
		at := bytes.LastIndex(data, []byte(`"role": "user",`))
		files[i].Data = append(data[:at:at], bytes.Replace(data[at:], []byte(`"content": "`), []byte(rare), 1)...)
	}
	return files
}

// scan reads files and counts a word.
func (s *space) scan(files []testchat.File, word []byte) {
	parallel.Do(len(files), func(i int) {
		var buf []byte
		select {
		case buf = <-scanBuffers:
		default:
			buf = make([]byte, 32<<20)
		}
		bytes.Count(s.readRaw(session.FileName(files[i].ID), buf), word)
		scanBuffers <- buf
	})
}

var scanBuffers = make(chan []byte, 64)
