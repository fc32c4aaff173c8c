package server_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/bough-dev/bough/internal/sessionid"
	"github.com/bough-dev/bough/server"
	"github.com/bough-dev/bough/workspace"
)

type sessionItem struct {
	ID        string          `json:"id"`
	User      *string         `json:"user_id"`
	Untracked bool            `json:"disable_task_tracking"`
	Configs   json.RawMessage `json:"configs"`
}

// create creates a session and returns it.
func (s *site) create(body any) sessionItem {
	s.t.Helper()
	var item sessionItem
	s.ask("POST", "/api/v1/session", body).want(201).data(&item)
	return item
}

const (
	unknown = "00000000-0000-4000-8000-00000000ffff"
	sample  = "123E4567-E89B-42D3-A456-426614174000"
)

func TestCreate(t *testing.T) {
	s := newSite(t, server.Options{})
	for _, c := range []struct {
		body      any
		configs   string
		untracked bool
		user      bool
	}{
		{nil, "null", false, false},
		{"{}", "null", false, false},
		{`{"configs":null,"use_uuid":"","user":"","space_id":"x"}`, "null", false, false},
		{`{"configs":{}}`, "{}", false, false},
		{`{"configs":{"a":[1,null,{"b":12345678901234567890}]},"disable_task_tracking":true,"user":"ann"}`,
			`{"a":[1,null,{"b":12345678901234567890}]}`, true, true},
	} {
		item := s.create(c.body)
		if got := compact(t, item.Configs); got != c.configs || item.Untracked != c.untracked || (item.User != nil) != c.user {
			t.Errorf("%v made %+v, configs %s", c.body, item, got)
		}
		var again sessionItem
		s.ask("GET", "/api/v1/session/"+item.ID+"/configs", nil).want(200).data(&again)
		if again.ID != item.ID || compact(t, again.Configs) != c.configs {
			t.Errorf("read again: %+v", again)
		}
	}
}

func compact(t *testing.T, raw json.RawMessage) string {
	t.Helper()
	if raw == nil {
		return "null"
	}
	var b strings.Builder
	if err := json.NewEncoder(&b).Encode(raw); err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(b.String())
}

// TestUseUUID creates a session once, in whichever form its UUID is given.
func TestUseUUID(t *testing.T) {
	s := newSite(t, server.Options{})
	lower := strings.ToLower(sample)
	if item := s.create(map[string]any{"use_uuid": sample}); item.ID != lower {
		t.Errorf("made %s", item.ID)
	}
	for _, form := range []string{sample, lower, "urn:uuid:" + lower, "{" + sample + "}", strings.ReplaceAll(lower, "-", "")} {
		var item sessionItem
		s.ask("POST", "/api/v1/session", map[string]any{"use_uuid": form}).want(200).data(&item)
		if item.ID != lower {
			t.Errorf("%s is %s", form, item.ID)
		}
		s.ask("GET", "/api/v1/session/"+url.PathEscape(form)+"/configs", nil).want(200).data(&item)
		if item.ID != lower {
			t.Errorf("%s in a path is %s", form, item.ID)
		}
	}
	s.ask("POST", "/api/v1/session", `{"use_uuid":"x"}`).fails(400, "use_uuid is not a UUID")
}

// TestNames: each route rejects an invalid UUID and an unknown one. Sessions are
// found only by UUID.
func TestNames(t *testing.T) {
	s := newSite(t, server.Options{})
	entry, err := s.w.New(t.Context(), "A Title")
	if err != nil {
		t.Fatal(err)
	}
	routes := []struct{ method, path, body string }{
		{"DELETE", "", ""},
		{"GET", "/configs", ""},
		{"PUT", "/configs", `{"configs":{}}`},
		{"PATCH", "/configs", `{"configs":{}}`},
		{"GET", "/messages", ""},
		{"POST", "/messages", `{"blob":{"role":"user","content":"x"}}`},
		{"PATCH", "/messages/" + unknown + "/meta", `{"meta":{}}`},
		{"GET", "/branches", ""},
		{"GET", "/token_counts", ""},
		{"GET", "/observing_status", ""},
		{"POST", "/flush", ""},
		{"GET", "/task", ""},
		{"GET", "/events", ""},
		{"POST", "/events", `{"type":"x","data":{}}`},
		{"POST", "/copy", ""},
		{"GET", "/asset/download?s3_key=files/x", ""},
	}
	for _, r := range routes {
		for _, id := range []string{
			"x", entry.ID, "A%20Title", "%2e%2e%2fconversations", "..%5c..%5cx", "%00", "*", "%ff",
			unknown + "x", unknown[:35], strings.Repeat("a", 5000), "session_index", unknown + "%2F..",
		} {
			var body any
			if r.body != "" {
				body = r.body
			}
			re := s.ask(r.method, "/api/v1/session/"+id+r.path, body)
			if re.status != 400 {
				t.Errorf("%s %s: status %d: %s", r.method, id[:min(len(id), 40)]+r.path, re.status, re.body)
			}
		}
		var body any
		if r.body != "" {
			body = r.body
		}
		s.ask(r.method, "/api/v1/session/"+unknown+r.path, body).want(404)
	}
	if list, err := s.w.List(t.Context(), ""); err != nil || len(list.Sessions) != 1 {
		t.Errorf("then there are %v, %v", list, err)
	}
}

func TestConfigs(t *testing.T) {
	s := newSite(t, server.Options{})
	id := s.create(`{"configs":{"a":1}}`).ID
	path := "/api/v1/session/" + id + "/configs"
	now := func() string {
		var item sessionItem
		s.ask("GET", path, nil).want(200).data(&item)
		return compact(t, item.Configs)
	}
	if re := s.ask("PUT", path, `{"configs":{"b":{"c":[2]},"d":null}}`).want(200); re.Data != nil {
		t.Errorf("PUT answered %s", re.body)
	}
	if got := now(); got != `{"b":{"c":[2]},"d":null}` {
		t.Errorf("replaced: %s", got)
	}
	var patched struct{ Configs json.RawMessage }
	s.ask("PATCH", path, `{"configs":{"b":null,"e":{"f":null},"g":"x"}}`).want(200).data(&patched)
	if got := compact(t, patched.Configs); got != now() || got != `{"d":null,"e":{"f":null},"g":"x"}` {
		t.Errorf("merged: %s, read %s", got, now())
	}
	for _, method := range []string{"PUT", "PATCH"} {
		for _, body := range []string{"{}", `{"configs":null}`, `{"configs":[]}`, `{"configs":"x"}`} {
			s.ask(method, path, body).fails(400, "configs")
		}
		s.ask(method, path, `{"configs":{"x":"`+strings.Repeat("x", 64<<10)+`"}}`).fails(400, "too large")
	}
	if got := now(); got != `{"d":null,"e":{"f":null},"g":"x"}` {
		t.Errorf("after a refused change: %s", got)
	}
}

// TestList pages through sessions, in both directions, and filters them.
func TestList(t *testing.T) {
	s := newSite(t, server.Options{})
	var all []string
	for i := range 7 {
		user := []string{"ann", "bob"}[i%2]
		all = append(all, s.create(map[string]any{"user": user, "configs": map[string]any{"n": i, "in": map[string]any{"even": i%2 == 0}}}).ID)
	}
	plain := s.create(nil).ID
	all = append(all, plain)
	pages := func(query string) (ids []string) {
		cursor := ""
		for {
			var page struct {
				Items []sessionItem `json:"items"`
				Next  *string       `json:"next_cursor"`
				More  bool          `json:"has_more"`
			}
			s.ask("GET", "/api/v1/session?"+query+"&cursor="+cursor, nil).want(200).data(&page)
			for _, item := range page.Items {
				ids = append(ids, item.ID)
			}
			if page.More != (page.Next != nil) || page.Items == nil {
				t.Fatalf("%s: more is %v and the next page %v", query, page.More, page.Next)
			}
			if !page.More {
				return ids
			}
			cursor = *page.Next
		}
	}
	backwards := slices.Clone(all)
	slices.Reverse(backwards)
	even := []string{all[0], all[2], all[4], all[6]}
	for _, c := range []struct {
		query string
		want  []string
	}{
		{"", all},
		{"limit=3", all},
		{"limit=1&space_id=x&not_connected=true", all},
		{"limit=3&time_desc=true", backwards},
		{"limit=2&user=ann", even},
		{"user=nobody", nil},
		{"filter_by_configs=" + url.QueryEscape(`{"n":3}`), all[3:4]},
		{"limit=1&filter_by_configs=" + url.QueryEscape(`{"in":{"even":true}}`), even},
		{"filter_by_configs=%7B%7D", all},
	} {
		if got := pages(c.query); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", c.query, got, c.want)
		}
	}
	for _, query := range []string{
		"limit=0", "limit=201", "limit=-1", "limit=x", "limit=1.5", "time_desc=maybe", "cursor=x", "cursor=" + unknown,
		"filter_by_configs=x", "filter_by_configs=[]", "filter_by_configs=1",
	} {
		s.ask("GET", "/api/v1/session?"+query, nil).want(400)
	}
}

// TestContinued: a line of several files is one session.
func TestContinued(t *testing.T) {
	s := newSiteOf(t, t.TempDir(), &workspace.Options{Limit: 2}, server.Options{})
	id := s.create(nil).ID
	for i := range 7 {
		if _, err := s.w.Append(t.Context(), workspace.Append{Session: id, Text: fmt.Sprint(i)}); err != nil {
			t.Fatal(err)
		}
	}
	files, err := s.w.List(t.Context(), "")
	if err != nil || len(files.Sessions) < 3 {
		t.Fatalf("%v, %v", files, err)
	}
	var page struct{ Items []sessionItem }
	s.ask("GET", "/api/v1/session", nil).want(200).data(&page)
	if len(page.Items) != 1 || page.Items[0].ID != id {
		t.Errorf("listed: %+v", page.Items)
	}
	// The UUID of any of its files identifies the session.
	last := sessionid.UUID(files.Sessions[0].ID)
	if last == id {
		t.Fatalf("%+v is not a continuation", files.Sessions[0])
	}
	s.ask("POST", "/api/v1/session/"+last+"/events", `{"type":"x","data":{}}`).want(200)
	m := s.store(last, "with an event", "").ID
	s.ask("POST", "/api/v1/session/"+last+"/events", `{"type":"x","data":{}}`).want(200)
	s.store(last, "and another", m)
	for _, path := range []string{"/events", "/messages?with_events=true", "/messages?format=acontext"} {
		a := s.ask("GET", "/api/v1/session/"+id+path, nil).want(200)
		b := s.ask("GET", "/api/v1/session/"+last+path, nil).want(200)
		if !bytes.Equal(a.Data, b.Data) {
			t.Errorf("%s: %s, and by another file %s", path, a.Data, b.Data)
		}
	}
	s.ask("DELETE", "/api/v1/session/"+id, nil).want(200)
	if files, err := s.w.List(t.Context(), ""); err != nil || len(files.Sessions) > 0 {
		t.Errorf("deleted: %v, %v", files, err)
	}
	s.ask("DELETE", "/api/v1/session/"+id, nil).fails(404, id)
}

func TestCopy(t *testing.T) {
	s := newSite(t, server.Options{Limits: server.Limits{Copy: 3}})
	id := s.create(`{"configs":{"a":1},"user":"ann"}`).ID
	for i := range 3 {
		if _, err := s.w.Append(t.Context(), workspace.Append{Session: id, Text: fmt.Sprint(i)}); err != nil {
			t.Fatal(err)
		}
	}
	var copied struct {
		Old string `json:"old_session_id"`
		New string `json:"new_session_id"`
	}
	s.ask("POST", "/api/v1/session/"+strings.ToUpper(id)+"/copy", nil).want(200).data(&copied)
	if copied.Old != id || copied.New == id {
		t.Errorf("copied: %+v", copied)
	}
	var item sessionItem
	s.ask("GET", "/api/v1/session/"+copied.New+"/configs", nil).want(200).data(&item)
	if compact(t, item.Configs) != `{"a":1}` {
		t.Errorf("the copy has configs %s", item.Configs)
	}
	s.ask("DELETE", "/api/v1/session/"+id, nil).want(200) // a copy is self-contained
	s.ask("GET", "/api/v1/session/"+copied.New+"/branches", nil).want(200)

	if _, err := s.w.Append(t.Context(), workspace.Append{Session: copied.New, Text: "4"}); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]struct {
		status int
		msg    string
	}{
		"x":        {400, "INVALID_SESSION_ID"},
		unknown:    {404, "SESSION_NOT_FOUND"},
		copied.New: {413, "SESSION_TOO_LARGE"},
	} {
		re := s.ask("POST", "/api/v1/session/"+path+"/copy", nil)
		re.fails(want.status, want.msg)
		if re.Msg != want.msg || re.Error == "" {
			t.Errorf("%s: %s", path, re.body)
		}
	}
}

func TestEvents(t *testing.T) {
	s := newSite(t, server.Options{})
	id := s.create(nil).ID
	path := "/api/v1/session/" + id + "/events"
	type event struct {
		ID      string          `json:"id"`
		Session string          `json:"session_id"`
		Type    string          `json:"type"`
		Data    json.RawMessage `json:"data"`
	}
	var all []string
	for i := range 5 {
		var e event
		s.ask("POST", path, fmt.Sprintf(`{"type":"step","data":{"n":%d}}`, i)).want(200).data(&e)
		if e.Session != id || e.Type != "step" || compact(t, e.Data) != fmt.Sprintf(`{"n":%d}`, i) {
			t.Errorf("noted: %+v", e)
		}
		all = append(all, e.ID)
	}
	backwards := slices.Clone(all)
	slices.Reverse(backwards)
	for query, want := range map[string][]string{"limit=2": all, "": all, "limit=2&time_desc=true": backwards} {
		var got []string
		cursor := ""
		for {
			var page struct {
				Items []event
				Next  string `json:"next_cursor"`
				More  bool   `json:"has_more"`
			}
			s.ask("GET", path+"?"+query+"&cursor="+cursor, nil).want(200).data(&page)
			for _, e := range page.Items {
				got = append(got, e.ID)
			}
			if cursor = page.Next; !page.More {
				break
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", query, got, want)
		}
	}
	for _, body := range []string{"{}", `{"type":"x"}`, `{"data":{}}`, `{"type":"","data":{}}`, `{"type":"x","data":[]}`, `{"type":"x","data":null}`, `{"type":1,"data":{}}`} {
		s.ask("POST", path, body).want(400)
	}
	for _, query := range []string{"limit=0", "limit=201", "cursor=x", "time_desc=x"} {
		s.ask("GET", path+"?"+query, nil).want(400)
	}
}
