package server_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bough-dev/bough/internal/sessionid"
	"github.com/bough-dev/bough/server"
	"github.com/bough-dev/bough/workspace"
)

// TestTip: without leaf_id or parent_id the newest leaf counts by its time, not by
// its position; among equal times the last one; the format of the time does not
// matter.
func TestTip(t *testing.T) {
	const name = "session_20260525_153200_4b9ad01c"
	for _, c := range []struct {
		name         string
		times        [4]string // of root, a, b below a, c below root
		want, parent string
	}{
		{"the last place is the newest", [4]string{"10:00:00", "10:00:01", "10:00:02", "10:00:03"}, "root c", "c"},
		{"the last place is not the newest", [4]string{"10:00:00", "10:00:01", "10:00:03", "10:00:02"}, "root a b", "b"},
		{"a tie", [4]string{"10:00:00", "10:00:01", "10:00:02", "10:00:02"}, "root c", "c"},
		{"a tie of all", [4]string{"10:00:00", "10:00:00", "10:00:00", "10:00:00"}, "root c", "c"},
		{"a clock that runs backwards", [4]string{"10:00:09", "10:00:08", "10:00:07", "10:00:06"}, "root a b", "b"},
		{"an inner message is the newest", [4]string{"10:00:00", "10:00:09", "10:00:01", "10:00:02"}, "root c", "c"},
		{"another zone", [4]string{"10:00:00", "10:00:01", "12:00:03+02:00", "10:00:02Z"}, "root a b", "b"},
		{"no time", [4]string{"10:00:00", "10:00:01", "10:00:02", "never"}, "root a b", "b"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			if err := os.Mkdir(filepath.Join(dir, "conversations"), 0o700); err != nil {
				t.Fatal(err)
			}
			var messages []string
			for i, id := range []string{"root", "a", "b", "c"} {
				at := "2026-05-25T" + c.times[i]
				if !strings.ContainsAny(c.times[i], "Z+") {
					at += "Z"
				}
				parent := ""
				if id == "c" {
					parent = `"parent_id":"root"`
				}
				messages = append(messages, fmt.Sprintf(`{"id":%q,"role":"user","content":%q,"timestamp":%q,"metadata":{%s}}`, id, id, at, parent))
			}
			file := fmt.Sprintf(`{"id":%q,"metadata":{"continued_from":[]},"messages":[%s]}`, name, strings.Join(messages, ","))
			if err := os.WriteFile(filepath.Join(dir, "conversations", name+".json"), []byte(file), 0o600); err != nil {
				t.Fatal(err)
			}
			s := newSiteOf(t, dir, nil, server.Options{})
			id := sessionid.UUID(name)
			path := func() string {
				list := s.read(id, "")
				return list.texts(t)
			}
			if got := path(); got != c.want {
				t.Errorf("without leaf_id the path is %q, want %q", got, c.want)
			}
			if m := s.store(id, "new", ""); *m.Parent != sessionid.MessageUUID(id, c.parent) {
				t.Errorf("without parent_id the parent is %s, want %s", *m.Parent, c.parent)
			}
			if got := path(); got != c.want+" new" {
				t.Errorf("after it the path is %q", got)
			}
		})
	}
}

// TestCheckpointConfigs: the configs distinguish checkpoints, and no client can
// make another session look like one.
func TestCheckpointConfigs(t *testing.T) {
	s := newSite(t, server.Options{})
	id := s.create(`{"configs":{"a":1,"bough":{"kind":"checkpoint"}}}`).ID
	plain := s.create(nil).ID
	s.store(id, "0", "")
	var frozen []string
	for _, auto := range []bool{false, true} {
		s.store(id, "1", "")
		cp, err := s.w.Checkpoint(t.Context(), "urn:uuid:"+id, workspace.SnapshotOptions{Auto: auto})
		if err != nil {
			t.Fatal(err)
		}
		frozen = append(frozen, sessionid.UUID(cp.ID))
	}
	configs := func(id string) string {
		t.Helper()
		var item struct{ Configs json.RawMessage }
		s.ask("GET", "/api/v1/session/"+id+"/configs", nil).want(200).data(&item)
		var v any
		if err := json.Unmarshal(item.Configs, &v); err != nil {
			t.Fatal(err)
		}
		data, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	want := func(id, want string) {
		t.Helper()
		if got := configs(id); got != want {
			t.Errorf("the configs are %s, want %s", got, want)
		}
	}
	want(id, `{"a":1}`)
	want(plain, `null`)
	want(frozen[0], `{"a":1,"bough":{"auto":false,"kind":"checkpoint"}}`)
	want(frozen[1], `{"a":1,"bough":{"auto":true,"kind":"checkpoint"}}`)
	for _, c := range []struct {
		filter string
		want   int
	}{{`{"bough":{"kind":"checkpoint"}}`, 2}, {`{"bough":{"auto":true}}`, 1}, {`{"a":1}`, 3}} {
		var page struct{ Items []sessionItem }
		s.ask("GET", "/api/v1/session?filter_by_configs="+strings.NewReplacer("{", "%7B", "}", "%7D", `"`, "%22").Replace(c.filter), nil).want(200).data(&page)
		if len(page.Items) != c.want {
			t.Errorf("%s: %d sessions, want %d", c.filter, len(page.Items), c.want)
		}
	}
	for _, method := range []string{"PUT", "PATCH"} {
		s.ask(method, "/api/v1/session/"+id+"/configs", `{"configs":{"a":2,"bough":{"kind":"checkpoint"}}}`).want(200)
		want(id, `{"a":2}`)
		s.ask(method, "/api/v1/session/"+frozen[0]+"/configs", `{"configs":{"a":3,"bough":null}}`).want(200)
		want(frozen[0], `{"a":3,"bough":{"auto":false,"kind":"checkpoint"}}`)
	}
}
