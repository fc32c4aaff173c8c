package eraser

import (
	"encoding/json"
	"testing"

	"github.com/bough-dev/bough/internal/rawjson"
	"github.com/bough-dev/bough/workspace/imports"
	"github.com/bough-dev/bough/workspace/internal/importer"
)

// TestLedgerRow: a record of an import still names the conversation after it was encoded,
// and after its text was erased.
func TestLedgerRow(t *testing.T) {
	row := &importer.FileRow{}
	row.File.Path = "a.jsonl"
	row.File.Rows = []importer.LedgerImported{{Transcript: imports.Transcript{Session: "s", Title: "Secret", Notes: []string{"secret"}}, ID: "c", Last: "m"}}
	line := rawjson.Compact(row)
	for _, c := range []struct {
		line  []byte
		title string
		notes int
	}{
		{line, "Secret", 1},
		{newErasure([]string{"s"}, nil, nil).importLine(line), "", 0},
		{newErasure([]string{"other"}, nil, nil).importLine(line), "Secret", 1},
	} {
		var is importer.FileRow
		if err := json.Unmarshal(c.line, &is); err != nil || len(is.File.Rows) != 1 {
			t.Fatalf("%s: %v", c.line, err)
		}
		if r := is.File.Rows[0]; r.ID != "c" || r.Last != "m" || r.Session != "s" || r.Title != c.title || len(r.Notes) != c.notes {
			t.Errorf("%s is read as %+v", c.line, r)
		}
	}
}
