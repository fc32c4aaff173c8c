package scan_test

import (
	"encoding/json"
	"testing"

	"github.com/bough-dev/bough/internal/scan"
)

// FuzzLeft: a path that a state does not hold keeps its bytes in JSON, whatever they are.
func FuzzLeft(f *testing.F) {
	f.Add("a/b", 1, int64(2))
	f.Add("caf\xe9", 0, int64(0))
	f.Add("\uFFFD\x00\xff", -1, int64(1)<<60)
	f.Fuzz(func(t *testing.T, path string, files int, bytes int64) {
		want := scan.Left{Path: path, Why: "large", Files: files, Bytes: bytes}
		data, err := json.Marshal(want)
		if err != nil {
			t.Fatal(err)
		}
		var got scan.Left
		if err := json.Unmarshal(data, &got); err != nil || got != want {
			t.Errorf("%s is %+v, want %+v: %v", data, got, want, err)
		}
	})
}
