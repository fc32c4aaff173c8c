package stream

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/bough-dev/bough/remote/record"
	"github.com/bough-dev/bough/remote/seal"
)

// FuzzFrames: no content of a pack makes reading panic, and the result has no more items than the
// body says.
func FuzzFrames(f *testing.F) {
	line, err := json.Marshal(record.Item{ID: "a", Raw: json.RawMessage(`{"content":"x"}`)})
	if err != nil {
		f.Fatal(err)
	}
	lines := []byte(strings.Repeat(string(line)+"\n", 10))
	frames := append(seal.Compress(lines), seal.Compress(lines)...)
	f.Add(frames, int64(0), int64(len(lines)), 10)
	f.Add(frames, int64(len(lines)), int64(len(lines)), 10)
	f.Add(frames[:len(frames)-3], int64(len(lines)/2), int64(len(lines)), 10)
	f.Add([]byte("\x28\xb5\x2f\xfd\xa0\xff\xff\xff\x0f\x03\x00\x00a"), int64(5), int64(50), 1)
	f.Fuzz(func(t *testing.T, frames []byte, at, size int64, count int) {
		if at < 0 || size < 0 || count < 0 || int64(count) > size {
			return // not a body, see package seal
		}
		n := 0
		_, err := eachItem(frames, frame{}, &record.Body{At: at, Size: size, Count: count}, func(*record.Item) bool {
			n++
			return true
		})
		if n > count || err == nil && n != count {
			t.Errorf("%d of %d items, %v", n, count, err)
		}
	})
}
