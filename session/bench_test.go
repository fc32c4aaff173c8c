package session_test

import (
	"testing"
	"time"

	"github.com/bough-dev/bough/internal/rawjson"
	"github.com/bough-dev/bough/internal/testchat"
	"github.com/bough-dev/bough/session"
)

// BenchmarkDecode measures Decode of the 12 files of a chat of 10,000 messages,
// about 19 MB, and separately the JSON validation alone. The metric x-copy is the
// ratio to the time of copying the same bytes into a reused buffer in the same run.
func BenchmarkDecode(b *testing.B) {
	files := testchat.Chat{Messages: 10_000, PerFile: 834, Text: 1530}.Files()
	size := 0
	var buf []byte
	for _, f := range files {
		size += len(f.Data)
		buf = append(buf[:0], f.Data...)
	}
	for _, c := range []struct {
		name string
		f    func(testchat.File) error
	}{
		{"walk", func(f testchat.File) error { return rawjson.Check(f.Data) }},
		{"decode", func(f testchat.File) error {
			_, err := session.Decode(f.ID, f.Data)
			return err
		}},
	} {
		b.Run(c.name, func(b *testing.B) {
			var work, raw time.Duration
			for b.Loop() {
				for _, f := range files {
					start := time.Now()
					buf = append(buf[:0], f.Data...)
					raw += time.Since(start)
					start = time.Now()
					if err := c.f(f); err != nil {
						b.Fatal(err)
					}
					work += time.Since(start)
				}
			}
			b.ReportMetric(float64(size*b.N)/1e6/work.Seconds(), "MB/s")
			b.ReportMetric(float64(work)/float64(raw), "x-copy")
		})
	}
}
