package workspace_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/bough-dev/bough/convert"
	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/imports"
	"github.com/tidwall/gjson"
)

// plan is a conversation of a web service. Most formats give its messages new ids.
const plan = `{"title":"Soup","create_time":1763550000,"current_node":"d2","mapping":{
"d0":{"id":"d0","message":null,"parent":null,"children":["d1"]},
"d1":{"id":"d1","message":{"id":"d1","author":{"role":"user"},"create_time":1763550001,"content":{"content_type":"text","parts":["Which soup?"]}},"parent":"d0","children":["d2"]},
"d2":{"id":"d2","message":{"id":"d2","author":{"role":"assistant"},"create_time":1763550002,"content":{"content_type":"text","parts":["Leek."]},"metadata":{"model_slug":"gpt-5"}},"parent":"d1","children":[]}},
"conversation_id":"d9999999-0000-4000-8000-000000000000"}`

// exported exports the conversation that ref names.
func (s *space) exported(ref string, f *convert.Format) *workspace.Export {
	s.t.Helper()
	e, err := s.Export(s.t.Context(), ref, workspace.ExportOptions{Format: f})
	if err != nil {
		s.t.Fatal(err)
	}
	return e
}

// TestCheckpointImportedAgain: an exported checkpoint is imported as one branch of it, however
// often it is imported.
func TestCheckpointImportedAgain(t *testing.T) {
	t.Parallel()
	for _, f := range formatsBothWays(t) {
		t.Run(f.Name, func(t *testing.T) {
			s := openSpace(t, t.TempDir(), 0)
			session := string(importBytes(t, s, "plan.json", []byte(plan)).Session)
			made, err := s.Checkpoint(t.Context(), session, workspace.SnapshotOptions{})
			if err != nil {
				t.Fatal(err)
			}
			longer, _ := continued(t, f, s.exported(made.ID, f))
			first := importBytes(t, s, "longer", longer)
			if first.Status != imports.Updated || first.Added != 2 || string(first.Session) == made.ID || string(first.Session) == session {
				t.Fatalf("first: %+v", first)
			}
			if got, want := s.shown(string(first.Session)), s.shown(made.ID)+"user: and now?\nassistant: now this\n"; got != want {
				t.Errorf("the branch has\n%s\nwant\n%s", got, want)
			}
			count := len(s.every())
			again := importBytes(t, s, "again", longer)
			if again.Status != imports.Unchanged || again.Session != first.Session || len(s.every()) != count {
				t.Errorf("again: %+v, want unchanged in %s", again, first.Session)
			}
			data := []byte(s.member(string(first.Session), "bough"))
			if n := len(gjson.GetBytes(data, "sources").Array()); n != 2 || bytes.Count(data, []byte(`"sources"`)) != 1 {
				t.Errorf("the branch has %d sources:\n%s", n, data)
			}
			healthy(t, s)
		})
	}
}

// TestCopyImportedAgain: a copy of an exported conversation by its program, recognizable by
// message ids only, is imported as the exported conversation.
func TestCopyImportedAgain(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"claude-code", "pi"} {
		f, err := convert.Named(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, imported := range []bool{false, true} {
			s := openSpace(t, t.TempDir(), 0)
			session := string(importBytes(t, s, "plan.json", []byte(plan)).Session)
			e := s.exported(session, f)
			if imported {
				importBytes(t, s, "as it was", e.Data)
			}
			count := len(s.every())
			longer, _ := continued(t, f, e)
			longer = []byte(strings.ReplaceAll(string(longer), e.ID, "5c0375b4-0000-4000-8000-0000000000a3"))
			got := importBytes(t, s, "copy", longer)
			if got.Status != imports.Updated || got.Added != 2 || string(got.Session) != session {
				t.Fatalf("%s: %+v", name, got)
			}
			if got := importBytes(t, s, "again", longer); got.Status != imports.Unchanged {
				t.Errorf("%s again: %+v", name, got)
			}
			if n := len(s.every()); n != count+2 {
				t.Errorf("%s: %d messages, want %d", name, n, count+2)
			}
			healthy(t, s)
		}
	}
}
