package server_test

import (
	"fmt"
	"io/fs"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bough-dev/bough/internal/sessionid"
	"github.com/bough-dev/bough/server"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace"
)

// snapshot returns the content of every file of a workspace, except caches.
func snapshot(t testing.TB, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		name, _ := filepath.Rel(dir, path)
		switch name = filepath.ToSlash(name); {
		case err != nil || d.IsDir() || strings.HasPrefix(name, ".bough/cache") || strings.HasPrefix(name, ".bough/lock"):
			return err
		}
		data, err := os.ReadFile(path)
		files[name] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// TestRefused: invalid requests are answered with the error and write nothing.
func TestRefused(t *testing.T) {
	s := newSite(t, server.Options{Limits: server.Limits{Parts: 3}})
	id := s.create(nil).ID
	m := s.store(id, "one", "")
	foreign := s.store(s.create(nil).ID, "elsewhere", "").ID
	before := snapshot(t, s.w.Dir())
	blob := `"blob":{"role":"user","content":"x"}`
	long := strings.Repeat("x", 70<<10)
	for _, c := range []struct {
		body   string
		status int
		msg    string
	}{
		{``, 400, "blob"},
		{`{}`, 400, "blob"},
		{`[]`, 400, "object"},
		{`{"blob":null}`, 400, "blob"},
		{`{"blob":"x"}`, 400, "object"},
		{`{"blob":{}}`, 400, "role"},
		{`{"blob":{"role":"nobody","content":"x"}}`, 400, "role"},
		{`{"blob":{"role":"user"}}`, 400, "content"},
		{`{"format":"xml",` + blob + `}`, 400, "format"},
		{`{"format":1,` + blob + `}`, 400, "format has the wrong type"},
		{`{"format":"anthropic","blob":{"role":"system","content":"x"}}`, 400, "role"},
		{`{"format":"gemini","blob":{"role":"user","parts":[{"functionResponse":{"name":"f","response":{}}}]}}`, 400, "no call"},
		{`{"format":"acontext","blob":{"role":"user","parts":[{"type":"x"}]}}`, 400, "type"},
		{`{"format":"acontext","blob":{"role":"user","parts":[{"type":"file","file_field":"f"}]}}`, 400, `missing file "f"`},
		{`{"format":"acontext","blob":{"role":"user","parts":[` + strings.Repeat(`{"type":"text","text":"x"},`, 3) + `{"type":"text","text":"x"}]}}`, 400, "too many parts"},
		{`{"meta":[],` + blob + `}`, 400, "meta must be an object"},
		{`{"meta":{"x":"` + long + `"},` + blob + `}`, 400, "meta is too large"},
		{`{"parent_id":"nonsense",` + blob + `}`, 400, "parent_id is not a UUID"},
		{`{"parent_id":"` + m.ID + `x",` + blob + `}`, 400, "parent_id is not a UUID"},
		{`{"parent_id":7,` + blob + `}`, 400, "parent_id is not a UUID"},
		{`{"parent_id":[],` + blob + `}`, 400, "parent_id is not a UUID"},
		{`{"parent_id":false,` + blob + `}`, 400, "parent_id is not a UUID"},
		{`{"parent_id":"` + unknown + `",` + blob + `}`, 404, unknown},
		{`{"parent_id":"` + foreign + `",` + blob + `}`, 404, foreign},
		{`{"parent_id":"` + id + `",` + blob + `}`, 404, id},
	} {
		s.ask("POST", "/api/v1/session/"+id+"/messages", c.body).fails(c.status, c.msg)
	}
	for query, want := range map[string]int{
		"leaf_id=nonsense": 400, "leaf_id=" + unknown: 404, "leaf_id=" + foreign: 404, "leaf_id=" + id: 404,
		"format=xml": 400, "limit=-1": 400, "limit=201": 400, "limit=x": 400, "time_desc=x": 400, "with_events=x": 400,
		"with_asset_public_url=x": 400, "cursor=x": 400, "cursor=MTIzfA": 400, "edit_strategies=x": 400, "edit_strategies=%7B%7D": 400,
		"edit_strategies=" + url.QueryEscape(`[{"type":"x"}]`): 400, "edit_strategies=" + url.QueryEscape(`[{"type":"token_limit"}]`): 400,
		"pin_editing_strategies_at_message=x": 400,
	} {
		re := s.ask("GET", "/api/v1/session/"+id+"/messages?"+query, nil)
		re.fails(want, "")
		name, _, _ := strings.Cut(query, "=")
		if want == 400 && !strings.Contains(re.Msg, name) {
			t.Errorf("%s: %q does not name the error", query, re.Msg)
		}
	}
	s.ask("PATCH", "/api/v1/session/"+id+"/messages/x/meta", `{"meta":{}}`).fails(400, "message_id")
	for _, message := range []string{unknown, foreign} {
		s.ask("PATCH", "/api/v1/session/"+id+"/messages/"+message+"/meta", `{"meta":{}}`).fails(404, message)
	}
	for _, body := range []string{`{}`, `{"meta":null}`, `{"meta":[]}`, `{"meta":{"x":"` + long + `"}}`} {
		s.ask("PATCH", "/api/v1/session/"+id+"/messages/"+m.ID+"/meta", body).fails(400, "meta")
	}
	if after := snapshot(t, s.w.Dir()); !maps.Equal(before, after) {
		for name := range after {
			if before[name] != after[name] {
				t.Errorf("%s changed", name)
			}
		}
	}
}

// TestCheckpoint reads a checkpoint like any session and writes nothing to it.
func TestCheckpoint(t *testing.T) {
	s := newSite(t, server.Options{})
	id := s.create(`{"configs":{"a":1}}`).ID
	for i := range 3 {
		s.store(id, fmt.Sprint(i), "")
	}
	cp, err := s.w.Checkpoint(t.Context(), "urn:uuid:"+id, workspace.SnapshotOptions{})
	if err != nil {
		t.Fatal(err)
	}
	frozen := sessionid.UUID(cp.ID)
	if list := s.read(frozen, ""); list.texts(t) != "0 1 2" {
		t.Errorf("it holds %s", list.texts(t))
	}
	if got := s.branches(frozen); len(got) != 1 || got[0].Depth != 3 {
		t.Errorf("its leaves are %v", got)
	}
	first := s.read(frozen, "").IDs[0]
	before := snapshot(t, s.w.Dir())
	s.ask("POST", "/api/v1/session/"+frozen+"/messages", `{"blob":{"role":"user","content":"x"}}`).fails(409, "checkpoint")
	s.ask("POST", "/api/v1/session/"+frozen+"/messages", `{"blob":{"role":"user","content":"x"},"parent_id":"`+first+`"}`).fails(409, "checkpoint")
	s.ask("PATCH", "/api/v1/session/"+frozen+"/messages/"+first+"/meta", `{"meta":{"a":1}}`).fails(409, "checkpoint")
	if !maps.Equal(before, snapshot(t, s.w.Dir())) {
		t.Error("something was written")
	}
	var page struct{ Items []sessionItem }
	s.ask("GET", "/api/v1/session", nil).want(200).data(&page)
	if len(page.Items) != 2 || page.Items[1].ID != frozen {
		t.Errorf("listed: %+v", page.Items)
	}
}

// TestDamagedOrLocked: answers for a damaged or locked workspace.
func TestDamagedOrLocked(t *testing.T) {
	s := newSiteOf(t, t.TempDir(), &workspace.Options{Wait: -1}, server.Options{})
	good, bad := s.create(nil).ID, s.create(nil).ID
	s.store(good, "x", "")
	s.store(bad, "x", "")
	l, err := s.w.Line("urn:uuid:" + bad).Entry(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(s.w.Dir(), session.FileName(l.ID))
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, data[:len(data)-5], 0o600); err != nil {
		t.Fatal(err)
	}
	re := s.ask("GET", "/api/v1/session/"+bad+"/messages", nil)
	re.fails(500, l.ID)
	s.ask("POST", "/api/v1/session/"+bad+"/messages", `{"blob":{"role":"user","content":"x"}}`).fails(500, l.ID)
	s.read(good, "")
	s.ask("GET", "/api/v1/session", nil).want(200)

	release := hold(t, s.w.Dir())
	re = s.ask("POST", "/api/v1/session/"+good+"/messages", `{"blob":{"role":"user","content":"x"}}`)
	re.fails(503, "locked")
	if re.header.Get("Retry-After") == "" {
		t.Error("the answer has no Retry-After")
	}
	s.read(good, "")
	release()
	s.store(good, "y", "")
}
