package zed

import (
	"bytes"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
)

// TestDocumentLimit: a document that is larger than the limit is an error before it fills the
// memory, also if its frame does not state a size, or if there are several.
func TestDocumentLimit(t *testing.T) {
	const limit = 1 << 20
	document := func(n int) []byte { return []byte(`{"a":"` + strings.Repeat("x", n-8) + `"}`) }
	var stream bytes.Buffer // it does not state the size
	w, err := zstd.NewWriter(&stream, zstd.WithEncoderConcurrency(1))
	if err != nil {
		t.Fatal(err)
	}
	compressed := func(data []byte) []byte { return w.EncodeAll(data, nil) }
	if _, err := w.Write(document(4 * limit)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		what  string
		data  []byte
		error string
	}{
		{"as large as the limit", compressed(document(limit)), ""},
		{"a byte larger", compressed(document(limit + 1)), "more than 1 MiB"},
		{"of unknown size", stream.Bytes(), "more than 1 MiB"},
		{"in several frames", bytes.Repeat(compressed(document(limit/2)), 4), "more than 1 MiB"},
	} {
		d := &reader{}
		got, err := d.document("zstd", c.data, limit)
		if (err == nil) != (c.error == "") || err != nil && !strings.Contains(err.Error(), c.error) || cap(got) > 2*limit {
			t.Errorf("%s: %d bytes, %v", c.what, len(got), err)
		}
		d.close()
	}
}
