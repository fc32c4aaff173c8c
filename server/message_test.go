package server_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bough-dev/bough/internal/sessionid"
	"github.com/bough-dev/bough/server"
	"github.com/bough-dev/bough/workspace"
)

type messageItem struct {
	ID        string            `json:"id"`
	Session   string            `json:"session_id"`
	Parent    *string           `json:"parent_id"`
	Role      string            `json:"role"`
	Meta      json.RawMessage   `json:"meta"`
	Parts     []json.RawMessage `json:"parts"`
	Status    string            `json:"session_task_process_status"`
	CreatedAt string            `json:"created_at"`
}

type messageList struct {
	Items  []json.RawMessage `json:"items"`
	IDs    []string          `json:"ids"`
	Metas  []json.RawMessage `json:"metas"`
	Events []struct {
		Type string `json:"type"`
	} `json:"events"`
	Next   *string `json:"next_cursor"`
	More   bool    `json:"has_more"`
	Tokens int     `json:"this_time_tokens"`
	Edited string  `json:"edit_at_message_id"`
	URLs   map[string]struct {
		URL    string `json:"url"`
		Expire string `json:"expire_at"`
	} `json:"public_urls"`
}

type leaf struct {
	ID        string `json:"message_id"`
	Depth     int    `json:"depth"`
	CreatedAt string `json:"created_at"`
}

// store stores a message of a user below parent, "" for the newest.
func (s *site) store(id, text, parent string) messageItem {
	s.t.Helper()
	body := map[string]any{"blob": map[string]any{"role": "user", "content": text}}
	if parent != "" {
		body["parent_id"] = parent
	}
	var m messageItem
	s.ask("POST", "/api/v1/session/"+id+"/messages", body).want(201).data(&m)
	return m
}

func (s *site) read(id, query string) messageList {
	s.t.Helper()
	var list messageList
	s.ask("GET", "/api/v1/session/"+id+"/messages?"+query, nil).want(200).data(&list)
	if len(list.IDs) != len(list.Items) || len(list.Metas) != len(list.Items) || list.More != (list.Next != nil) {
		s.t.Errorf("%s: %d items, %d ids, %d metas, more %v, next page %v", query, len(list.Items), len(list.IDs), len(list.Metas), list.More, list.Next)
	}
	return list
}

// texts joins the contents of items in OpenAI's format.
func (l *messageList) texts(t testing.TB) string {
	t.Helper()
	var texts []string
	for _, item := range l.Items {
		var m struct{ Content string }
		if err := json.Unmarshal(item, &m); err != nil {
			t.Fatalf("%v in %s", err, item)
		}
		texts = append(texts, m.Content)
	}
	return strings.Join(texts, " ")
}

func (s *site) branches(id string) []leaf {
	s.t.Helper()
	var b struct{ Leaves []leaf }
	s.ask("GET", "/api/v1/session/"+id+"/branches", nil).want(200).data(&b)
	if b.Leaves == nil {
		s.t.Error("the leaves are null")
	}
	return b.Leaves
}

// TestExample is the example in the description of branches: M1 to M8, in a line of
// one file and in lines of many.
func TestExample(t *testing.T) {
	for _, limit := range []int{1000, 4, 2, 1} {
		t.Run(fmt.Sprint(limit), func(t *testing.T) {
			s := newSiteOf(t, t.TempDir(), &workspace.Options{Limit: limit}, server.Options{})
			id := s.create(nil).ID
			if got := s.branches(id); len(got) > 0 {
				t.Errorf("an empty session has leaves: %v", got)
			}
			if got := s.read(id, ""); got.Items == nil || got.IDs == nil || got.Metas == nil || len(got.Items) > 0 || got.Edited != "" {
				t.Errorf("an empty session has messages: %+v", got)
			}
			m := []messageItem{{}}
			for i := 1; i <= 6; i++ {
				m = append(m, s.store(id, fmt.Sprint("M", i), ""))
			}
			m = append(m, s.store(id, "M7", m[2].ID))
			m = append(m, s.store(id, "M8", ""))
			for i, parent := range []int{0, 0, 1, 2, 3, 4, 5, 2, 7} {
				if i > 0 && (parent == 0) != (m[i].Parent == nil) || parent > 0 && *m[i].Parent != m[parent].ID {
					t.Errorf("the parent of M%d is %v", i, m[i].Parent)
				}
			}
			want := []leaf{{m[6].ID, 6, m[6].CreatedAt}, {m[8].ID, 4, m[8].CreatedAt}}
			if got := s.branches(id); !slices.Equal(got, want) {
				t.Errorf("leaves: %v, want %v", got, want)
			}
			for query, want := range map[string]string{
				"leaf_id=" + m[6].ID:                                 "M1 M2 M3 M4 M5 M6",
				"leaf_id=" + m[8].ID:                                 "M1 M2 M7 M8",
				"leaf_id=" + strings.ToUpper(m[8].ID):                "M1 M2 M7 M8",
				"leaf_id=%20" + strings.ReplaceAll(m[8].ID, "-", ""): "M1 M2 M7 M8",
				"leaf_id=" + m[2].ID:                                 "M1 M2",
				"":                                                   "M1 M2 M7 M8",
				"leaf_id=":                                           "M1 M2 M7 M8",
				"time_desc=true":                                     "M1 M2 M7 M8",
				"limit=0&cursor=":                                    "M1 M2 M7 M8",
				"limit=3&leaf_id=" + m[6].ID:                         "M1 M2 M3",
				"limit=3&time_desc=true&leaf_id=" + m[6].ID:          "M4 M5 M6",
				"limit=200&time_desc=true&leaf_id=" + m[6].ID + "&x=y":                             "M1 M2 M3 M4 M5 M6",
				"limit=1&with_events=1&with_asset_public_url=0&pin_editing_strategies_at_message=": "M1",
			} {
				list := s.read(id, query)
				if got := list.texts(t); got != want {
					t.Errorf("%s: %s, want %s", query, got, want)
				}
			}
			for i := 2; i <= 8; i++ {
				if m[i].CreatedAt <= m[i-1].CreatedAt {
					t.Errorf("M%d is of %s, M%d of %s", i, m[i].CreatedAt, i-1, m[i-1].CreatedAt)
				}
			}
		})
	}
}

// TestPaths pages through a path, in both directions, with pages of any length.
func TestPaths(t *testing.T) {
	s := newSite(t, server.Options{})
	id := s.create(nil).ID
	var path []string
	for i := range 7 {
		m := s.store(id, fmt.Sprint(i), "")
		path = append(path, m.ID)
	}
	other := s.store(id, "aside", path[2])
	s.store(id, "more", other.ID)
	for limit := 1; limit <= 8; limit++ {
		for _, newest := range []string{"false", "true"} {
			var got []string
			cursor := ""
			for range 20 {
				list := s.read(id, fmt.Sprintf("leaf_id=%s&limit=%d&time_desc=%s&cursor=%s", path[6], limit, newest, cursor))
				if newest == "true" {
					got = append(slices.Clone(list.IDs), got...)
				} else {
					got = append(got, list.IDs...)
				}
				if !list.More {
					break
				}
				cursor = *list.Next
			}
			if !slices.Equal(got, path) {
				t.Errorf("limit %d, newest %s: %v, want %v", limit, newest, got, path)
			}
		}
	}
	// A cursor of another branch is invalid for this path.
	list := s.read(id, "limit=4")
	if got := list.texts(t); got != "0 1 2 aside" {
		t.Errorf("the newest path begins with %s", got)
	}
	s.ask("GET", "/api/v1/session/"+id+"/messages?leaf_id="+path[6]+"&cursor="+*list.Next, nil).fails(400, "cursor")
	rest := s.read(id, "cursor="+*list.Next)
	if got := rest.texts(t); got != "more" {
		t.Errorf("without a limit, after a cursor: %s", got)
	}
}

// TestPathsOfTwins: paging ends if several messages of a path have the same UUID,
// and each is on one of the pages if their times differ.
func TestPathsOfTwins(t *testing.T) {
	const uuid = "4f3c0a52-7d0e-4c5e-9d6b-0d2f3b1a9c77"
	for _, seconds := range []string{"12345", "11111"} {
		dir := t.TempDir()
		var messages []string
		for i, id := range []string{uuid, "m1", strings.ToUpper(uuid), "m3", "m4"} {
			messages = append(messages, fmt.Sprintf(`{"id":%q,"role":"user","content":"%d","timestamp":"2026-05-25T15:32:0%c"}`, id, i, seconds[i]))
		}
		if err := os.Mkdir(filepath.Join(dir, "conversations"), 0o700); err != nil {
			t.Fatal(err)
		}
		file := `{"id":"chat","metadata":{},"messages":[` + strings.Join(messages, ",") + `]}`
		if err := os.WriteFile(filepath.Join(dir, "conversations", "chat.json"), []byte(file), 0o600); err != nil {
			t.Fatal(err)
		}
		s := newSiteOf(t, dir, nil, server.Options{})
		for _, newest := range []string{"false", "true"} {
			var got []string
			list := messageList{More: true}
			for cursor := ""; list.More && len(got) < 20; {
				list = s.read(sessionid.UUID("chat"), "limit=1&time_desc="+newest+"&cursor="+cursor)
				if got = append(got, list.texts(t)); list.More {
					cursor = *list.Next
				}
			}
			if newest == "true" {
				slices.Reverse(got)
			}
			if len(got) > 5 || seconds == "12345" && strings.Join(got, "") != "01234" {
				t.Errorf("the seconds are %s, newest is %s: %q", seconds, newest, got)
			}
		}
	}
}

// TestNotes changes the user's metadata of a message.
func TestNotes(t *testing.T) {
	s := newSite(t, server.Options{})
	id := s.create(nil).ID
	var m messageItem
	s.ask("POST", "/api/v1/session/"+id+"/messages", `{"blob":{"role":"user","content":"x"},"meta":{"a":1,"b":{"c":2}}}`).want(201).data(&m)
	if got := compact(t, m.Meta); got != `{"a":1,"b":{"c":2}}` {
		t.Errorf("stored with %s", got)
	}
	s.store(id, "y", "")
	for _, c := range []struct{ patch, want string }{
		{`{"b":{"d":3}}`, `{"a":1,"b":{"d":3}}`},
		{`{"a":null,"x":null,"e":"f"}`, `{"b":{"d":3},"e":"f"}`},
		{`{"b":null,"e":null}`, `{}`},
	} {
		var noted struct{ Meta json.RawMessage }
		s.ask("PATCH", "/api/v1/session/"+id+"/messages/"+m.ID+"/meta", `{"meta":`+c.patch+`}`).want(200).data(&noted)
		list := s.read(id, "")
		if got, read := compact(t, noted.Meta), compact(t, list.Metas[0]); got != c.want || read != c.want || compact(t, list.Metas[1]) != "{}" {
			t.Errorf("%s: %s, read %s, want %s", c.patch, got, read, c.want)
		}
	}
}

// TestNative reads and continues sessions that another program wrote.
func TestNative(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "conversations"), 0o700); err != nil {
		t.Fatal(err)
	}
	file := `{"id":"session_20260525_153200_4b9ad01c","created_at":"2026-05-25T15:32:00","last_active":"2026-05-25T15:33:00","metadata":{},
		"messages":[
		{"id":"msg_1","role":"user","content":"Hi","timestamp":"2026-05-25T15:32:01","category":"DIALOG","metadata":{}},
		{"id":"msg_2","role":"assistant","content":[{"type":"text","text":"Ho"},{"x":NaN}],"timestamp":"2026-05-25T15:32:02","category":"DIALOG","metadata":{"bough":{"meta":{"n":NaN}}}}],
		"llm_request_lifecycles":[],"tool_call_records":[],"tool_result_records":[]}`
	if err := os.WriteFile(filepath.Join(dir, "conversations", "session_20260525_153200_4b9ad01c.json"), []byte(file), 0o600); err != nil {
		t.Fatal(err)
	}
	s := newSiteOf(t, dir, nil, server.Options{})
	id := sessionid.UUID("session_20260525_153200_4b9ad01c")
	list := s.read(id, "format=acontext")
	want := []string{sessionid.MessageUUID(id, "msg_1"), sessionid.MessageUUID(id, "msg_2")}
	if !slices.Equal(list.IDs, want) {
		t.Errorf("messages %v, want %v", list.IDs, want)
	}
	for _, item := range list.Items {
		validate(t, "Message", item)
	}
	m := s.store(id, "again", want[0])
	if *m.Parent != want[0] {
		t.Errorf("the parent is %s", *m.Parent)
	}
	if got := s.branches(id); len(got) != 2 || got[0].ID != want[1] || got[1].ID != m.ID {
		t.Errorf("leaves: %v", got)
	}
}

// TestEventsInPage: a page of messages includes the events of the same time.
func TestEventsInPage(t *testing.T) {
	s := newSite(t, server.Options{})
	id := s.create(nil).ID
	note := func(name string) {
		s.ask("POST", "/api/v1/session/"+id+"/events", `{"type":"`+name+`","data":{}}`).want(200)
	}
	note("before")
	for i := range 3 {
		s.store(id, fmt.Sprint(i), "")
		note(fmt.Sprint("after", i))
	}
	for query, want := range map[string]string{
		"":                                     "",
		"with_events=false":                    "",
		"with_events=true":                     "after0 after1",
		"with_events=true&limit=2":             "after0",
		"with_events=true&limit=1":             "",
		"with_events=1&time_desc=true&limit=2": "after1",
	} {
		var got []string
		for _, e := range s.read(id, query).Events {
			got = append(got, e.Type)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: events %q, want %q", query, got, want)
		}
	}
}
