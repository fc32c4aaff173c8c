package redact

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/bough-dev/bough/internal/rawjson"
)

// TestSamples prints the findings in the files of the folder BOUGH_SAMPLES, for review:
// go test -v -run TestSamples.
func TestSamples(t *testing.T) {
	dir := os.Getenv("BOUGH_SAMPLES")
	if dir == "" {
		return
	}
	r := New()
	var size, docs, strings, touched int
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		lines := [][]byte{data}
		if rawjson.Check(data) != nil {
			lines = bytes.Split(data, []byte("\n"))
		}
		for _, doc := range lines {
			if rawjson.Check(doc) != nil {
				continue
			}
			docs++
			size += len(doc)
			strings += bytes.Count(doc, []byte(`"`)) / 2
			out, found, err := r.JSON(doc)
			if err != nil || rawjson.Check(out) != nil {
				t.Errorf("%s: %v", path, err)
			}
			for _, f := range found {
				touched++
				t.Logf("%s: %s at %.200q", path, f.Rule, out[max(0, f.At-80):])
			}
		}
		return nil
	})
	if err != nil || docs == 0 {
		t.Fatal(docs, err)
	}
	t.Logf("%d findings in %d documents with about %d strings and keys, %d bytes", touched, docs, strings, size)
}
