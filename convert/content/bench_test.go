package content_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/bough-dev/bough/convert/content"
	"github.com/tidwall/gjson"
)

// BenchmarkItems measures reading and writing a path of 10,000 messages in a
// format, in nanoseconds per byte, and as a ratio to scanning the same bytes with
// gjson, and to decoding them with encoding/json, in the same run.
func BenchmarkItems(b *testing.B) {
	path := longPath(10_000)
	size := 0
	for _, raw := range path {
		size += len(raw)
	}
	for _, f := range []content.Format{content.OpenAI, content.Anthropic, content.Gemini} {
		b.Run(string(f), func(b *testing.B) {
			var items, scan, decode time.Duration
			for b.Loop() {
				start := time.Now()
				list := make([]*content.Message, len(path))
				for i, raw := range path {
					list[i] = content.Read(raw)
				}
				if n := len(content.Items(f, list, nil)); n != len(path) {
					b.Fatalf("%d items", n)
				}
				items += time.Since(start)
				start = time.Now()
				for _, raw := range path {
					if !gjson.ValidBytes(raw) {
						b.Fatal("not JSON")
					}
				}
				scan += time.Since(start)
				start = time.Now()
				for _, raw := range path {
					var m struct {
						Role     string
						Content  json.RawMessage
						Metadata json.RawMessage
					}
					if err := json.Unmarshal(raw, &m); err != nil {
						b.Fatal(err)
					}
				}
				decode += time.Since(start)
			}
			b.ReportMetric(float64(items)/float64(b.N*size), "ns/byte")
			b.ReportMetric(float64(items)/float64(scan), "x-scan")
			b.ReportMetric(float64(items)/float64(decode), "x-decode")
		})
	}
}

// longPath returns messages as in session files: questions and answers of a page,
// calls and results in bough's and Penguin's formats.
func longPath(n int) [][]byte {
	page := strings.Repeat(`The branch of a conversation holds what came before it.\nIts leaf is \"here\" — `, 12)
	var list [][]byte
	for i := range n {
		role, said, metadata := "user", `"`+page+`"`, `{}`
		switch i % 6 {
		case 1:
			role = "assistant"
		case 2:
			role, metadata = "assistant", `{
          "bough": {
            "format": "anthropic"
          }
        }`
			said = fmt.Sprintf(`[
        {
          "type": "text",
          "text": "%s"
        },
        {
          "type": "tool-call",
          "meta": {
            "id": "call_%d",
            "name": "read_file",
            "arguments": "{\"path\":\"a/b/c.go\",\"lines\":[1,200]}",
            "type": "tool_use"
          }
        }
      ]`, page, i)
		case 3:
			role = "tool"
			said = fmt.Sprintf(`[
        {
          "type": "tool-result",
          "text": "%s",
          "meta": {
            "tool_call_id": "call_%d"
          }
        }
      ]`, page, i-1)
		case 4:
			role = "assistant"
			metadata = fmt.Sprintf(`{"tool_calls": [{"id": "call_%d", "type": "function", "function": {"name": "run", "arguments": "{\"cmd\": \"go test ./...\"}"}}]}`, i)
		case 5:
			role = "tool"
			metadata = fmt.Sprintf(`{"tool_call_id": "call_%d", "action_type": "run", "status": "completed"}`, i-1)
		}
		list = append(list, fmt.Appendf(nil, `{
      "role": "%s",
      "content": %s,
      "category": "DIALOG",
      "id": "0f0e8a3c-7f4e-4c1b-9a51-%012d",
      "timestamp": "2026-05-25T15:32:00.%06d+00:00",
      "metadata": %s,
      "tokens": 0,
      "agent_id": null,
      "recipient_id": null,
      "message_type": "message"
    }`, role, said, i, i, metadata))
	}
	return list
}
