package server_test

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/bough-dev/bough/internal/sessionid"
	"github.com/bough-dev/bough/server"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace"
)

// differing matches what differs between the answers for two checkpoints of the same path:
// times, links, ids of events, and ids of sessions.
var differing = regexp.MustCompile(`"(created_at|updated_at|expire_at)":"[^"]*"|"url":"[^"]*"|"items":\[{"id":"[^"]*","session_id"|"data":{"id":"[^"]*","session_id"|session_\w+`)

// TestPacked: each route answers for a packed checkpoint as it does for a plain one of the
// same path.
func TestPacked(t *testing.T) {
	s := newSite(t, server.Options{})
	id := s.create(`{"configs":{"a":1},"user":"ann"}`).ID
	first := s.store(id, "one", "").ID
	s.store(id, "two", "")
	s.store(id, "beside", first)
	s.post("/api/v1/session/"+id+"/messages",
		field{"payload", "", "", `{"format":"acontext","blob":{"role":"user","parts":[{"type":"image","file_field":"f"}]}}`},
		field{"f", "i.png", "image/png", png}).want(201)
	var frozen []string // plain and packed
	var files []string
	for _, packed := range []bool{false, true} {
		cp, err := s.w.Checkpoint(t.Context(), "urn:uuid:"+id, workspace.SnapshotOptions{Name: "Frozen", Packed: packed})
		if err != nil {
			t.Fatal(err)
		}
		if cp.Packed != packed {
			t.Fatalf("packed is %v", cp.Packed)
		}
		frozen, files = append(frozen, sessionid.UUID(cp.ID)), append(files, cp.ID)
	}
	both := func(method, path string, body any) (status int) {
		t.Helper()
		var answers []string
		for _, id := range frozen {
			re := s.ask(method, strings.ReplaceAll(path, "ID", id), body)
			status = re.status
			text := strings.ReplaceAll(string(re.body), id, "ID")
			answers = append(answers, http.StatusText(re.status)+" "+differing.ReplaceAllString(text, ""))
		}
		if answers[0] != answers[1] {
			t.Errorf("%s %s of a packed checkpoint answers\n%s\nwant\n%s", method, path, answers[1], answers[0])
		}
		return status
	}
	items := s.read(frozen[1], "format=acontext").Items
	var last struct{ Parts []json.RawMessage }
	if err := json.Unmarshal(items[len(items)-1], &last); err != nil || len(last.Parts) != 1 {
		t.Fatalf("%v in %s", err, items[len(items)-1])
	}
	image := partOf(t, last.Parts[0])
	for _, c := range []struct {
		method, path, body string
		want               int
	}{
		{"GET", "/configs", "", 200},
		{"PUT", "/configs", `{"configs":{"a":2}}`, 200},
		{"GET", "/configs", "", 200},
		{"PATCH", "/configs", `{"configs":{"b":3}}`, 200},
		{"GET", "/configs", "", 200},
		{"GET", "/messages", "", 200},
		{"GET", "/messages?format=acontext", "", 200},
		{"GET", "/messages?format=openai", "", 200},
		{"GET", "/messages?format=anthropic", "", 200},
		{"GET", "/messages?format=gemini", "", 200},
		{"GET", "/messages?limit=1&time_desc=true", "", 200},
		{"GET", "/messages?leaf_id=" + first, "", 200},
		{"GET", "/messages?leaf_id=" + unknown, "", 404},
		{"GET", "/branches", "", 200},
		{"GET", "/token_counts", "", 200},
		{"GET", "/observing_status", "", 200},
		{"POST", "/flush", "", 200},
		{"GET", "/task", "", 200},
		{"POST", "/events", `{"type":"note","data":{"x":1}}`, 0},
		{"GET", "/events", "", 200},
		{"GET", "/asset/download?s3_key=" + image.Asset.Key, "", 200},
		{"POST", "/messages", `{"blob":{"role":"user","content":"x"}}`, 409},
		{"PATCH", "/messages/" + first + "/meta", `{"meta":{"a":1}}`, 409},
	} {
		var body any
		if c.body != "" {
			body = c.body
		}
		if status := both(c.method, "/api/v1/session/ID"+c.path, body); c.want != 0 && status != c.want {
			t.Errorf("%s %s: status %d, want %d", c.method, c.path, status, c.want)
		}
	}

	var page struct{ Items []sessionItem }
	s.ask("GET", "/api/v1/session?user=ann", nil).want(200).data(&page)
	if len(page.Items) != 3 || page.Items[1].ID != frozen[0] || page.Items[2].ID != frozen[1] {
		t.Errorf("listed: %+v", page.Items)
	}
	if compact(t, page.Items[1].Configs) != compact(t, page.Items[2].Configs) {
		t.Errorf("the configs are %s and %s", page.Items[1].Configs, page.Items[2].Configs)
	}
	if _, err := os.Stat(filepath.Join(s.w.Dir(), session.FileName(files[1]))); err == nil {
		t.Error("the packed checkpoint became a plain file")
	}

	var copied struct {
		Old string `json:"old_session_id"`
		New string `json:"new_session_id"`
	}
	s.ask("POST", "/api/v1/session/"+frozen[1]+"/copy", nil).want(200).data(&copied)
	if got, want := s.read(copied.New, "").Items, s.read(frozen[0], "").Items; copied.Old != frozen[1] || len(got) != 3 || !reflect.DeepEqual(got, want) {
		t.Errorf("the copy is %+v with %s, want %s", copied, got, want)
	}
	s.store(copied.New, "goes on", "")

	s.ask("DELETE", "/api/v1/session/"+frozen[1], nil).want(200)
	s.ask("GET", "/api/v1/session/"+frozen[1]+"/messages", nil).fails(404, "")
	if _, err := os.Stat(filepath.Join(s.w.Dir(), "packed", files[1]+".json")); err == nil {
		t.Error("the recipe of a deleted checkpoint exists")
	}
}

// TestPackedDelete: a session with a packed checkpoint is deleted, as one with a plain one
// is, and the checkpoint remains readable.
func TestPackedDelete(t *testing.T) {
	for _, packed := range []bool{false, true} {
		s := newSite(t, server.Options{})
		id := s.create(`{}`).ID
		s.store(id, "one", "")
		cp, err := s.w.Checkpoint(t.Context(), "urn:uuid:"+id, workspace.SnapshotOptions{Name: "Frozen", Packed: packed})
		if err != nil {
			t.Fatal(err)
		}
		frozen := sessionid.UUID(cp.ID)
		before := s.read(frozen, "").Items
		s.ask("DELETE", "/api/v1/session/"+id, nil).want(200)
		s.ask("GET", "/api/v1/session/"+id+"/messages", nil).fails(404, "")
		if after := s.read(frozen, "").Items; len(after) != 1 || !reflect.DeepEqual(after, before) {
			t.Errorf("packed %v: the checkpoint has %s, want %s", packed, after, before)
		}
		s.ask("DELETE", "/api/v1/session/"+frozen, nil).want(200)
		s.ask("GET", "/api/v1/session/"+frozen+"/messages", nil).fails(404, "")
	}
}
