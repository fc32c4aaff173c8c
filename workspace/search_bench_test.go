package workspace_test

import (
	"bytes"
	"testing"
	"time"

	"github.com/bough-dev/bough/internal/parallel"
	"github.com/bough-dev/bough/internal/testchat"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace"
)

// BenchmarkSearch measures Workspace.Search of 200,000 messages in 24 conversations of
// 10 files each. The metric x-scan is how many times as long it takes as to read the same
// files through reused buffers, as many at once as there are processors, and to look in
// each for the word as it stands, in one case and unescaped.
func BenchmarkSearch(b *testing.B) {
	s, files := searchSpace(b)
	for _, c := range []struct {
		name, text, plain string
		limit, want       int // want is how many there are, at least
	}{
		{"rare", "sesame", "sesame", 50, 1},
		{"none", "kilometre", "kilometre", 50, 0},
		{"common", "conversation", "conversation", 50, 50},
		{"beyond ASCII", "γραμματική", `\u03b3\u03c1`, 50, 1},
		{"phrase", `"sesame street"`, "sesame street", 50, 1},
		{"two words", "sesame branch", "sesame", 50, 1},
		{"no text", "timestamp", `timestamp`, 50, 0},
		{"all of a common word", "conversation", "conversation", 0, 10_000},
	} {
		b.Run(c.name, func(b *testing.B) {
			var raw, search []time.Duration
			for b.Loop() {
				raw = append(raw, timed(func() { s.scan(files, []byte(c.plain)) }))
				search = append(search, timed(func() {
					f, err := s.Search(b.Context(), workspace.SearchOptions{Text: c.text, Limit: c.limit})
					if err != nil || len(f.Matches) < c.want || c.want == 0 && len(f.Matches) > 0 {
						b.Fatalf("%d matches, %v", len(f.Matches), err)
					}
				}))
			}
			b.ReportMetric(ratio(search, raw), "x-scan")
			b.ReportMetric(float64(median(search).Microseconds())/1000, "ms")
		})
	}
}

// searchSpace makes a workspace to search, in which one message of a million bytes says
// something rare.
func searchSpace(b *testing.B) (*space, []testchat.File) {
	var files []testchat.File
	for seed := range 24 {
		c := testchat.Chat{Messages: 2_000, PerFile: 200, Text: 1530, Seed: uint64(seed + 1)}
		files = append(files, c.Files()...)
	}
	for i := range files {
		if i%50 == 25 {
			at := bytes.LastIndex(files[i].Data, []byte(`"role": "user",`))
			said := []byte(`"content": "Open Sesame Street, \u0393\u03c1\u03b1\u03bc\u03bc\u03b1\u03c4\u03b9\u03ba\u03ae branch, `)
			rest := bytes.Replace(files[i].Data[at:], []byte(`"content": "`), said, 1)
			files[i].Data = append(files[i].Data[:at:at], rest...)
		}
	}
	s := benchSpace(b, files)
	if _, err := s.Tree(b.Context(), ""); err != nil {
		b.Fatal(err) // and what is remembered of the files is there
	}
	return s, files
}

// scan reads files and looks for word.
func (s *space) scan(files []testchat.File, word []byte) (found int) {
	buffers := make(chan []byte, 16)
	hits := make([]bool, len(files))
	parallel.Do(len(files), func(i int) {
		var buf []byte
		select {
		case buf = <-buffers:
		default:
			buf = make([]byte, 8<<20)
		}
		hits[i] = bytes.Count(s.readRaw(session.FileName(files[i].ID), buf), word) > 0
		buffers <- buf
	})
	for _, hit := range hits {
		if hit {
			found++
		}
	}
	return found
}
