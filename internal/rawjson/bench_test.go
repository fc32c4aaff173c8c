package rawjson_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/bough-dev/bough/internal/rawjson"
)

// BenchmarkWalk measures walking through documents of 800 messages with 1,500 bytes
// of text each, without examining the values. The metric x-copy is the ratio to the
// time of copying the same bytes into a reused buffer in the same run.
func BenchmarkWalk(b *testing.B) {
	for _, c := range []struct{ name, text string }{
		{"plain", "The branch of a conversation holds what came before it. "},
		{"quoted", `A path is found from its leaf, so that \"going back\" costs nothing.\n`},
		{"escaped", `\u4fdd\u5b58\u5bf9\u8bdd\u7684\u5206\u652f\uff0c`},
		{"chinese", "保存对话的分支，"},
	} {
		b.Run(c.name, func(b *testing.B) {
			doc := messages(c.text)
			buf := make([]byte, len(doc))
			var walk, raw time.Duration
			for b.Loop() {
				start := time.Now()
				copy(buf, doc)
				raw += time.Since(start)
				start = time.Now()
				if err := rawjson.Check(doc); err != nil {
					b.Fatal(err)
				}
				walk += time.Since(start)
			}
			b.ReportMetric(float64(len(doc)*b.N)/1e6/walk.Seconds(), "MB/s")
			b.ReportMetric(float64(walk)/float64(raw), "x-copy")
		})
	}
}

// messages returns a document with the layout of session files.
func messages(text string) []byte {
	doc := []byte("{\n  \"messages\": [")
	for i := range 800 {
		if i > 0 {
			doc = append(doc, ',')
		}
		doc = fmt.Appendf(doc, `
    {
      "role": "user",
      "content": "%s",
      "id": "msg_%06x",
      "timestamp": "2026-05-25T15:32:00.%06d",
      "metadata": {
        "tool_call_id": "call_%d"
      },
      "tokens": 0,
      "agent_id": null
    }`, strings.Repeat(text, 1500/len(text)), i, i, i)
	}
	return append(doc, "\n  ]\n}"...)
}
