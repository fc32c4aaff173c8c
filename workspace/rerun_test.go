package workspace_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/bough-dev/bough/checkpoint"
	"github.com/bough-dev/bough/convert"
	"github.com/bough-dev/bough/convert/transcript"
	"github.com/bough-dev/bough/internal/durable"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/imports"
)

// TestExportRerun: if a file changes while an export reads the workspace, the export
// starts again, and reports each loss and each note once.
func TestExportRerun(t *testing.T) {
	t.Parallel()
	s := openSpace(t, t.TempDir(), 0)
	s.messages("first", `"title":"Bread","continued_to":["second"]`, `{"id":"a","role":"user","content":[`+
		`{"type":"file","filename":"a.txt","asset":{"sha256":"9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"}}]}`)
	// The second file has records, but no messages: an export reads it last.
	second := `{"id":"second","metadata":{"continued_from":["first"],"continued_to":["third"]},"messages":[],"tool_call_records":[{"call_id":"c1"}]}`
	s.write(session.FileName("second"), second)
	s.messages("third", `"continued_from":["second"]`, `{"id":"b"`) // torn: a partial export notes it

	notes := 0
	w, err := workspace.Open(t.Context(), s.Dir(), &workspace.Options{Note: func(note string) {
		if !strings.HasSuffix(note, "the remaining messages are used") {
			return
		}
		if notes++; notes == 1 {
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
		CutOptions: checkpoint.CutOptions{ReadOptions: session.ReadOptions{Partial: true}},
	})
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(e.Data), `"c2"`) {
		t.Fatalf("the export did not start again: %s", e.Data)
	}
	want := []transcript.Loss{{What: "contents of attachments (only their names were written)", Count: 1}}
	if !slices.Equal(e.Lost, want) {
		t.Errorf("lost %v, want %v", e.Lost, want)
	}
	if notes != 1 {
		t.Errorf("the missing file is noted %d times, want 1", notes)
	}
}

// TestImportRerun: if another program adds the origin of a conversation while it is being
// stored, the conversation continues from its origin and has no note of the run that did
// not find it.
func TestImportRerun(t *testing.T) {
	const (
		origin, goesOn, longer = "session_20260101_000000_aaaaaaaa", "session_20260101_000000_bbbbbbbb", "session_20260101_000000_cccccccc"
		message                = `{"id":%q,"role":"user","content":%[1]q,"timestamp":"2026-01-01T00:00:0%d.000000+00:00","metadata":{}}`
	)
	file := func(id, metadata string, messages ...string) string {
		list := make([]string, len(messages))
		for i, m := range messages {
			list[i] = fmt.Sprintf(message, m, i)
		}
		return writeFile(t, id+".json", fmt.Sprintf(`{"id":%q,"created_at":"2026-01-01T00:00:00.000000+00:00","metadata":{%s},"messages":[%s],"tool_call_records":[]}`,
			id, metadata, strings.Join(list, ",")))
	}
	other := openSpace(t, t.TempDir(), 0)
	importOne(t, other, file(origin, `"title":"Origin"`, "o1", "o2"), imports.Options{})

	s := openSpace(t, t.TempDir(), 0)
	importOne(t, s, file(longer, `"title":"Longer"`, "l1"), imports.Options{})
	added := 0
	s.meanwhile(durable.Sync, longer, 1, func() {
		added++
		s.sayForeign(longer, "theirs")
		s.write(session.FileName(origin), other.read(session.FileName(origin)))
	})
	paths := []string{file(longer, `"title":"Longer"`, "l1", "l2"), file(goesOn, `"continued_from":["`+origin+`"]`, "g1")}
	list, err := s.Import(t.Context(), paths, imports.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if added != 1 || len(list.Imported) != 2 {
		t.Fatalf("%d changes, imported %+v", added, list.Imported)
	}
	for _, r := range list.Imported {
		if r.Status != imports.Updated || len(r.Notes) > 0 || len(r.Problems) > 0 {
			t.Errorf("imported %+v", r)
		}
	}
	if got := s.texts(longer); got != "l1 l2" || !strings.Contains(s.read(session.FileName(longer)), "theirs") {
		t.Errorf("the longer conversation is %q", got)
	}
	if got := s.texts(origin); got != "o1 o2 g1" {
		t.Errorf("the origin continues as %q", got)
	}
	healthy(t, s)
}
