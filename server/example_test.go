package server_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/bough-dev/bough/internal/sessionid"
	"github.com/bough-dev/bough/server"
	"github.com/bough-dev/bough/session"
)

// TestExampleInFiles is the example of M1 to M8 in a conversation that another
// program wrote, in four files, with a fork in the second one.
func TestExampleInFiles(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, session.Dir), 0o700); err != nil {
		t.Fatal(err)
	}
	write := func(id, metadata, messages string) {
		text := fmt.Sprintf(`{"created_at":"2026-05-25T15:00:00+00:00","metadata":{%s},"messages":[%s]}`, metadata, messages)
		if err := os.WriteFile(filepath.Join(dir, session.FileName(id)), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	said := func(text string) string {
		return fmt.Sprintf(`{"id":%q,"role":"user","content":%[1]q,"timestamp":"2026-05-25T15:00:0%c+00:00"}`, text, text[1])
	}
	after := func(id string) string {
		return fmt.Sprintf(`{"id":"prompt after %s","role":"system","category":"SYSTEM","content":"Be brief."},`+
			`{"id":"after %[1]s","role":"system","metadata":{"type":"session_transition","previous_session":%[1]q}},`, id)
	}
	write("f1", `"continued_to":"f2"`, said("M1"))
	write("f2", `"continued_from":"f1","continued_to":"f3"`, after("f1")+said("M2")+","+said("M3"))
	write("f3", `"continued_from":"f2","continued_to":"f4"`, after("f2")+said("M4")+","+said("M5"))
	write("f4", `"continued_from":"f3"`, after("f3")+said("M6"))

	s := newSiteOf(t, dir, nil, server.Options{})
	id := sessionid.UUID("f1")
	uuid := func(message string) string { return sessionid.MessageUUID(id, message) }
	if got := s.branches(id); !slices.Equal(got, []leaf{{uuid("M6"), 6, "2026-05-25T15:00:06.000000+00:00"}}) {
		t.Errorf("before the fork the leaves are %v", got)
	}
	m7 := s.store(id, "M7", uuid("M2"))
	m8 := s.store(id, "M8", m7.ID)
	want := []leaf{{uuid("M6"), 6, "2026-05-25T15:00:06.000000+00:00"}, {m8.ID, 4, m8.CreatedAt}}
	if got := s.branches(id); !slices.Equal(got, want) {
		t.Errorf("the leaves are %v, want %v", got, want)
	}
	for leaf, want := range map[string]string{uuid("M6"): "M1 M2 M3 M4 M5 M6", m8.ID: "M1 M2 M7 M8", "": "M1 M2 M7 M8"} {
		list := s.read(id, "leaf_id="+leaf)
		if got := list.texts(t); got != want {
			t.Errorf("the path to %q is %s, want %s", leaf, got, want)
		}
	}
	var sessions struct{ Items []struct{ ID string } }
	s.ask("GET", "/api/v1/session", nil).want(200).data(&sessions)
	if len(sessions.Items) != 1 || sessions.Items[0].ID != id {
		t.Errorf("the sessions are %v", sessions.Items)
	}
}
