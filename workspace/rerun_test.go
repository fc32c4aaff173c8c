package workspace_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/bough-dev/bough/convert"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace"
)

// TestExportRerun: if a file changes while an export reads the workspace, the export
// starts again, and reports each loss once.
func TestExportRerun(t *testing.T) {
	s := openSpace(t, t.TempDir(), 0)
	s.messages("first", `"title":"Bread","continued_to":["second"]`, `{"id":"a","role":"user","content":[`+
		`{"type":"file","filename":"a.txt","asset":{"sha256":"9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"}}]}`)
	// The second file has records, but no messages: an export reads it last.
	second := `{"id":"second","metadata":{"continued_from":["first"],"continued_to":["third"]},"messages":[],"tool_call_records":[{"call_id":"c1"}]}`
	s.write(session.FileName("second"), second)
	s.messages("third", `"continued_from":["second"]`, `{"id":"b"`) // torn: an export of what is there notes it

	changes := 0
	w, err := workspace.Open(t.Context(), s.Dir(), &workspace.Options{Note: func(note string) {
		if changes == 0 && strings.HasSuffix(note, "what is there is taken") {
			changes++
			s.replace(session.FileName("second"), strings.Replace(second, "c1", "c2", 1))
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	penguin, err := convert.Named("penguin")
	if err != nil {
		t.Fatal(err)
	}
	e, err := w.Export(t.Context(), "first", workspace.ExportOptions{
		Format:     penguin,
		CutOptions: workspace.CutOptions{ReadOptions: workspace.ReadOptions{Partial: true}},
	})
	if err != nil {
		t.Fatal(err)
	}
	if changes != 1 || !strings.Contains(string(e.Data), `"c2"`) {
		t.Fatalf("the export did not start again: %d changes, %s", changes, e.Data)
	}
	want := []convert.Loss{{What: "contents of attachments, which are only named", Count: 1}}
	if !slices.Equal(e.Lost, want) {
		t.Errorf("lost %v, want %v", e.Lost, want)
	}
}
