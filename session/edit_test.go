package session_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/bough-dev/bough/internal/rawjson"
	"github.com/bough-dev/bough/session"
)

func TestEdit(t *testing.T) {
	title := func(e *session.Edit) { e.SetMeta("title", "T") }
	count := func(e *session.Edit) { e.SetMeta("message_count", 2) }
	active := func(e *session.Edit) { e.SetActive("now") }
	add := func(e *session.Edit) { e.Append([]byte(`{"id":"z"}`)) }
	all := func(e *session.Edit) { add(e); active(e); count(e) }
	const pretty = `{
  "id": "s",
  "last_active": "2026-05-25T15:32:00",
  "metadata": {
    "token_count": 1.0,
    "message_count": 1
  },
  "messages": [
    {
      "id": "a",
      "n": NaN
    }
  ],
  "tool_call_records": []
}
`
	for _, c := range []struct {
		name string
		edit func(*session.Edit)
		data string
		want string
	}{
		{"nothing", func(*session.Edit) {}, pretty, pretty},
		{"all, pretty", all, pretty, `{
  "id": "s",
  "last_active": "now",
  "metadata": {
    "token_count": 1.0,
    "message_count": 2
  },
  "messages": [
    {
      "id": "a",
      "n": NaN
    },
    {"id":"z"}
  ],
  "tool_call_records": []
}
`},
		{"all, compact", all, `{"messages":[{"id":"a"}],"metadata":{"message_count":1},"last_active":1}`,
			"{\"messages\":[{\"id\":\"a\"},\n    {\"id\":\"z\"}],\"metadata\":{\"message_count\":2},\"last_active\":\"now\"}"},
		{"all, odd white space", all, "\n\t{ \"messages\"\r\n:\t[ {\"id\" : \"a\"} \n] , \"metadata\" : { \"message_count\" :1 } ,\"last_active\": null\t}\n\n",
			"\n\t{ \"messages\"\r\n:\t[ {\"id\" : \"a\"},\n    {\"id\":\"z\"} \n] , \"metadata\" : { \"message_count\" :2 } ,\"last_active\": \"now\"\t}\n\n"},
		{"no metadata", title, `{"messages":[]}`, "{\"messages\":[],\n  \"metadata\": {\"title\":\"T\"}}"},
		{"null metadata", title, `{"metadata": null,"messages":[]}`, `{"metadata": {"title":"T"},"messages":[]}`},
		{"null metadata, left alone", add, `{"metadata": null,"messages":[{"id":"a"}]}`, "{\"metadata\": null,\"messages\":[{\"id\":\"a\"},\n    {\"id\":\"z\"}]}"},
		{"empty metadata", title, `{"metadata":{},"messages":[]}`, `{"metadata":{"title":"T"},"messages":[]}`},
		{"no last_active", active, `{"messages":[] }`, "{\"messages\":[],\n  \"last_active\": \"now\" }"},
		{"neither", func(e *session.Edit) { active(e); title(e) }, `{"messages":[]}`,
			"{\"messages\":[],\n  \"last_active\": \"now\",\n  \"metadata\": {\"title\":\"T\"}}"},
		{"escaped names", func(e *session.Edit) { all(e); title(e) },
			`{"\u006dessages":[{"id":"a"}],"\u006detadata":{"t\u0069tle":"old","message\u005fcount":1},"last\u005factive":""}`,
			"{\"\\u006dessages\":[{\"id\":\"a\"},\n    {\"id\":\"z\"}],\"\\u006detadata\":{\"t\\u0069tle\":\"T\",\"message\\u005fcount\":2},\"last\\u005factive\":\"now\"}"},
		{"names that are close", title, `{"metadata":{"title.":1,"a":{"title":2},"Title":3},"messages":[]}`,
			`{"metadata":{"title.":1,"a":{"title":2},"Title":3,"title":"T"},"messages":[]}`},
		{"numbers of Python", count, `{"metadata":{"a":NaN,"message_count":Infinity,"b":-Infinity},"messages":[]}`,
			`{"metadata":{"a":NaN,"message_count":2,"b":-Infinity},"messages":[]}`},
		{"no messages", add, `{"messages":[]}`, "{\"messages\":[\n    {\"id\":\"z\"}\n  ]}"},
		{"no messages, spaced", add, "{\"messages\": [ \n ] }", "{\"messages\": [\n    {\"id\":\"z\"}\n   \n ] }"},
		{"two messages", func(e *session.Edit) { add(e); e.Append([]byte(`{"id":"y"}`)) }, `{"messages":[]}`,
			"{\"messages\":[\n    {\"id\":\"z\"},\n    {\"id\":\"y\"}\n  ]}"},
		{"a removed member", func(e *session.Edit) { e.DeleteMeta("title") }, `{"metadata":{"a":1, "title":"x" ,"b":2},"messages":[]}`,
			`{"metadata":{"a":1 ,"b":2},"messages":[]}`},
		{"a missing member", func(e *session.Edit) { e.DeleteMeta("title") }, `{"metadata":{"a": 1},"messages":[]}`, `{"metadata":{"a": 1},"messages":[]}`},
		{"a member of missing metadata", func(e *session.Edit) { e.DeleteMeta("title") }, `{"messages":[]}`, `{"messages":[]}`},
		{"set twice", func(e *session.Edit) { title(e); e.SetMeta("title", "<&>\u2028") }, `{"metadata":{},"messages":[]}`,
			`{"metadata":{"title":"<&>\u2028"},"messages":[]}`},
	} {
		s := decode(t, "s", []byte(c.data))
		e := s.Edit()
		c.edit(e)
		if got := string(e.Edited()); got != c.want {
			t.Errorf("%s:\n%q, want\n%q", c.name, got, c.want)
		}
		if got := string(s.Edit().Edited()); got != c.data {
			t.Errorf("%s: the session is now\n%q, want\n%q", c.name, got, c.data)
		}
	}
}

// keys returns the keys of an object in their order.
func keys(t *testing.T, object []byte) []string {
	t.Helper()
	members, err := rawjson.Members(object, rawjson.Root(object))
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for _, m := range members {
		list = append(list, m.Key)
	}
	return list
}

const (
	eightKeys = "id created_at last_active metadata messages llm_request_lifecycles tool_call_records tool_result_records"
)

func TestCopy(t *testing.T) {
	s := decode(t, "s", []byte(`{"messages":[{"x":NaN,"id":"a","content":"\ud83d <&>","timestamp":"then","metadata":{"k":1,"k":1.0}}]}`))
	const want = `{
      "x": NaN,
      "id": "b",
      "content": "\ud83d <&>",
      "timestamp": "now",
      "metadata": {"k":1,"k":1.0}
    }`
	if got := string(s.Copy(0, "b", "now")); got != want {
		t.Errorf("the copy is\n%s\nwant\n%s", got, want)
	}
}

func TestDocument(t *testing.T) {
	source := decode(t, "s", []byte(`{"messages":[{"id":"a","n":1.0}  ,{"id":"b"},{"id":"c"}]}`))
	d := session.Document{
		ID: "s", CreatedAt: "then", LastActive: "now",
		Metadata: session.MetadataOf(rawjson.Pair{Key: "title", Value: []byte(`"\u5206"`)}),
		Messages: []session.Run{{Part: source.Outline, From: 0, To: 2}, {Part: source.Outline, From: 2, To: 3}},
		Records: session.Records{
			Calls:   []session.Record{{Raw: []byte(`{"call_id":"c1","n":NaN}`)}},
			Results: []session.Record{{Raw: []byte("1")}, {Raw: []byte("2")}},
		},
	}
	data, err := d.Bytes(nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(keys(t, data), " "); got != eightKeys {
		t.Errorf("the keys are %s, want %s", got, eightKeys)
	}
	s := decode(t, "s", data)
	if got := ids(s.Messages); !slices.Equal(got, []string{"a", "b", "c"}) {
		t.Errorf("the messages are %q", got)
	}
	if got := string(s.Region(0, 2)); got != `{"id":"a","n":1.0}  ,{"id":"b"}` {
		t.Errorf("the first two are %q", got)
	}
	if got := len(s.Records().Calls) + 10*len(s.Records().Results) + 100*len(s.Records().Lifecycles); got != 21 {
		t.Errorf("%d calls and results, want 1 and 2", got)
	}
	if s.OwnID != "s" || s.CreatedAt != "then" || s.LastActive != "now" || s.Meta.Title != "分" {
		t.Errorf("the session is %q of %q, %q, %q", s.OwnID, s.CreatedAt, s.LastActive, s.Meta.Title)
	}

	empty, err := (&session.Document{ID: "s"}).Bytes(nil)
	if err != nil {
		t.Fatal(err)
	}
	const want = `{
  "id": "s",
  "created_at": "",
  "last_active": "",
  "metadata": {},
  "messages": [],
  "llm_request_lifecycles": [],
  "tool_call_records": [],
  "tool_result_records": []
}`
	if got := string(empty); got != want || !json.Valid(empty) {
		t.Errorf("an empty document is\n%s\nwant\n%s", got, want)
	}
}

// TestRemoveMessages: every subset of messages can be removed, and the others keep their bytes.
func TestRemoveMessages(t *testing.T) {
	const file = `{"metadata": {"message_count": 4}, "messages": [ {"id": "a"},{"id": "b"},  {"id": "c"},
 {"id": "d"} ], "more": 1}`
	was, err := session.Decode("s", []byte(file))
	if err != nil {
		t.Fatal(err)
	}
	for set := range 1 << was.Len() {
		var gone []int
		var want []string
		for i, m := range was.Messages {
			if set&(1<<i) != 0 {
				gone = append(gone, i)
			} else {
				want = append(want, string(m.Raw))
			}
		}
		edit := was.Edit()
		edit.Remove(gone...)
		edit.SetMeta("message_count", len(want))
		data, err := edit.Bytes(func(*session.Outline) (*session.Session, error) { return was, nil })
		if err != nil {
			t.Fatal(err)
		}
		is, err := session.Decode("s", data)
		if err != nil {
			t.Errorf("without %v it is %s: %v", gone, data, err)
			continue
		}
		var got []string
		for _, m := range is.Messages {
			got = append(got, string(m.Raw))
		}
		if !slices.Equal(got, want) || !strings.Contains(string(data), fmt.Sprintf(`"message_count": %d}, "messages": [`, len(want))) {
			t.Errorf("without %v it is %s", gone, data)
		}
	}
}
