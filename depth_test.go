package bough_test

import (
	"bytes"
	"strings"
	"testing"
)

// TestDepth: gjson.Valid recurses without a limit, so that six million brackets in a file end the
// program. json.Valid stops at 10,000.
func TestDepth(t *testing.T) {
	for _, f := range goFiles(t) {
		if f.own && !strings.HasSuffix(f.path, "_test.go") && (bytes.Contains(f.source, []byte("gjson.Valid(")) || bytes.Contains(f.source, []byte("gjson.ValidBytes("))) {
			t.Errorf("%s calls gjson.Valid; use json.Valid", f.path)
		}
	}
}
