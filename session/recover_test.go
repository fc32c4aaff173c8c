package session_test

import (
	"bytes"
	"slices"
	"testing"

	"github.com/bough-dev/bough/internal/rawjson"
	"github.com/bough-dev/bough/session"
)

// TestRecover truncates small sessions after every byte: the recovered session has
// every message that was complete, byte for byte, and the metadata.
func TestRecover(t *testing.T) {
	for name, data := range smallSessions() {
		whole := decode(t, "s", data)
		array := memberOf(t, data, "messages")
		for cut := range len(bytes.TrimSpace(data)) {
			recovered, n, ok := session.Recover(data[:cut:cut])
			if want := cut > array.Start; ok != want {
				t.Fatalf("%s: a part of %q is recovered: %v", name, data[:cut], ok)
			}
			if !ok {
				continue
			}
			s := decode(t, "s", recovered)
			want := 0
			for i := range whole.Messages {
				if whole.Offset(i)+len(whole.Messages[i].Raw) <= cut {
					want = i + 1
				}
			}
			if n != want || len(s.Messages) != want {
				t.Fatalf("%s: of %q %d messages are reported as recovered, %d exist, want %d", name, data[:cut], n, len(s.Messages), want)
			}
			if !bytes.Equal(s.Region(0, n), whole.Region(0, n)) {
				t.Errorf("%s: of %q the messages are %q", name, data[:cut], s.Region(0, n))
			}
			sameMembers(t, "the metadata", whole.Metadata().Members(), s.Metadata().Members(), "message_count")
			if has(whole.Metadata().Members(), "message_count") {
				sameMembers(t, "the count", []rawjson.Pair{{Key: "message_count", Value: rawjson.Compact(n)}}, s.Metadata().Members(), keysBut(s, "message_count")...)
			}
			for _, key := range []string{"llm_request_lifecycles", "tool_call_records", "tool_result_records"} {
				memberOf(t, recovered, key)
			}
			if _, _, again := session.Recover(recovered); again {
				t.Errorf("%s: %q is recovered again", name, recovered)
			}
		}
	}
}

func memberOf(t *testing.T, data []byte, key string) rawjson.Span {
	t.Helper()
	members, err := rawjson.Members(data, rawjson.Root(data))
	if err != nil {
		t.Fatal(err)
	}
	span, ok := rawjson.Find(members, key)
	if !ok {
		t.Fatalf("no %s in %s", key, data)
	}
	return span
}

func has(pairs []rawjson.Pair, key string) bool {
	return slices.ContainsFunc(pairs, func(p rawjson.Pair) bool { return p.Key == key })
}

// keysBut returns the keys of the metadata of s except one.
func keysBut(s *session.Session, but string) (keys []string) {
	for _, p := range s.Metadata().Members() {
		if p.Key != but {
			keys = append(keys, p.Key)
		}
	}
	return keys
}

// TestRecoverOthers: records beside messages, and files that are not truncated, are
// handled.
func TestRecoverOthers(t *testing.T) {
	for _, c := range []struct{ torn, want string }{
		{`{"messages":[{"id":"a"},{"id":"b`, "{\"messages\":[{\"id\":\"a\"}\n  ]" + noRecords},
		{`{"messages":[{"id":"a","n":12`, `{"messages":[]` + noRecords},
		{`{"messages":[`, `{"messages":[]` + noRecords},
		{`{"messages":[],"n":12`, `{"messages":[]` + noRecords},
		{`{"messages":[],"n":12 `, `{"messages":[],"n":12` + noRecords},
		{`{"messages":[],"n":null,`, `{"messages":[],"n":null` + noRecords},
		{`{"messages":[],"n":[12,13`, `{"messages":[]` + noRecords},
		{"{\"messages\":[{\"id\":\"a\"},{\"id\":\"\xf0\x9f\x98", "{\"messages\":[{\"id\":\"a\"}\n  ]" + noRecords},
		{"{\"messages\":[{\"id\":\"a\"},{\"id\x00\x00\x00", "{\"messages\":[{\"id\":\"a\"}\n  ]" + noRecords},
		{"{\"messages\":[{\"id\":\"a\"}]}\n\x00\x00", "{\"messages\":[{\"id\":\"a\"}]}\n"},
		{`{"metadata":{"message_count":7},"messages":[{"id":"a"},`, "{\"metadata\":{\"message_count\":1},\"messages\":[{\"id\":\"a\"}\n  ]" + noRecords},
		{`{"messages":[],"tool_call_records":[{"a":1},{"b":2`, "{\"messages\":[],\"tool_call_records\":[{\"a\":1}\n  ],\n  \"llm_request_lifecycles\": [],\n  \"tool_result_records\": []\n}"},
		{``, ""},
		{"\x00\x00", ""},
		{`{"messages":[]}`, ""},
		{`{"metadata":{"title":"T"}`, ""},
		{`{"metadata":{"title":"T"},"mess`, ""},
		{`["a","b`, ""},
		{`{"messages":{"a":1`, ""},
		{`{"messages":[{"id":"a"},{"id":"a"},{"id":"b`, ""},
		{`{"messages":[{"id":"a"},7,{"id":"b`, ""},
		{`{"messages":[{"id":"a"}},{"id":"b`, ""},
		{"{\"messages\":[{\"id\":\"\xff\"},{\"id\":\"b", ""},
		{"{\"messages\":[{\"id\":\"a\"}\x00,{\"id\":\"b\"}]}", ""},
		{"\xef\xbb\xbf{\"messages\":[", ""},
	} {
		got, _, ok := session.Recover([]byte(c.torn))
		if ok != (c.want != "") || string(got) != c.want {
			t.Errorf("Recover(%q) = %q, %v, want %q", c.torn, got, ok, c.want)
		}
	}
}

const noRecords = ",\n  \"llm_request_lifecycles\": [],\n  \"tool_call_records\": [],\n  \"tool_result_records\": []\n}"
