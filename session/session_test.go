package session_test

import (
	"errors"
	"fmt"
	"hash/crc32"
	"slices"
	"strings"
	"testing"

	"github.com/bough-dev/bough/session"
)

// message is a message with an id and members of its metadata.
func message(id, metadata string) string {
	return fmt.Sprintf(`{"role":"user","content":"text of %s","id":%q,"metadata":{%s}}`, id, id, metadata)
}

// file is a session file with members of its metadata and messages.
func file(metadata string, messages ...string) []byte {
	return fmt.Appendf(nil, `{"id":"s","metadata":{%s},"messages":[%s]}`, metadata, strings.Join(messages, ","))
}

func decode(t *testing.T, id string, data []byte) *session.Session {
	t.Helper()
	s, err := session.Decode(id, data)
	if err != nil {
		t.Fatalf("Decode %.200q: %v", data, err)
	}
	return s
}

func ids(messages []session.Message) []string {
	var list []string
	for _, m := range messages {
		list = append(list, m.ID)
	}
	return list
}

func TestDecode(t *testing.T) {
	const a = "{ \"id\" : \"a\",\"content\":[NaN, 1.0, 12345678901234567890], \"x\":{\"k\":1,\"k\":2} }"
	const b = `{"id":"b","metadata":null,"content":"\ud83d"}`
	const data = "\n{ \"id\": \"other\", \"created_at\": \"2026-05-25T15:32:00\", \"unknown\": [1,2],\n\"messages\": [\n" + a + "  ,\n" + b + "], \"last_active\": 5 }\n"
	s := decode(t, "stem", []byte(data))
	if s.ID != "stem" || s.OwnID != "other" {
		t.Errorf("ids are %q and %q, want stem and other", s.ID, s.OwnID)
	}
	if s.CreatedAt != "2026-05-25T15:32:00" || s.LastActive != "" {
		t.Errorf("times are %q and %q", s.CreatedAt, s.LastActive)
	}
	if got := ids(s.Messages); !slices.Equal(got, []string{"a", "b"}) {
		t.Fatalf("messages are %q", got)
	}
	if string(s.Messages[0].Raw) != a || string(s.Messages[1].Raw) != b {
		t.Errorf("messages are\n%s\n%s\nwant\n%s\n%s", s.Messages[0].Raw, s.Messages[1].Raw, a, b)
	}
	if got, want := string(s.Region(0, 2)), a+"  ,\n"+b; got != want {
		t.Errorf("region is %q, want %q", got, want)
	}
}

// TestDecodeAccepts: unusual but valid data is accepted.
func TestDecodeAccepts(t *testing.T) {
	for name, data := range map[string]string{
		"only messages":                  `{"messages":[]}`,
		"null metadata":                  `{"metadata":null,"messages":[]}`,
		"keys twice deep inside":         `{"metadata":{"a":{"k":1,"k":2}},"messages":[{"id":"a","metadata":{"k":1,"k":2}}]}`,
		"metadata that is not an object": `{"messages":[{"id":"a","metadata":[1]}]}`,
		"links as null":                  `{"metadata":{"continued_from":null,"continued_to":null},"messages":[]}`,
		"an empty link":                  `{"metadata":{"continued_from":""},"messages":[]}`,
		"an odd continued_to":            `{"metadata":{"continued_to":[1,{},"a"]},"messages":[]}`,
		"records that are none":          `{"messages":[],"tool_call_records":{"a":1},"tool_result_records":null}`,
		"ids that differ in case":        `{"messages":[{"id":"a"},{"id":"A"}]}`,
		"NaN in metadata":                `{"metadata":{"a":NaN,"b":-Infinity},"messages":[]}`,
	} {
		if _, err := session.Decode("s", []byte(data)); err != nil {
			t.Errorf("%s: Decode(%s) = %v", name, data, err)
		}
	}
}

// TestDecodeRefuses: damage is reported with its offset, that of the text after the last
// "^" in data.
func TestDecodeRefuses(t *testing.T) {
	for _, c := range []struct{ data, problem string }{
		{"^", "empty"},
		{" \n^", "empty"},
		{"^\xef\xbb\xbf{\"messages\":[]}", "byte order mark"},
		{"{\"messages\":[{\"id\":\"a\",\"content\":\"^\xff\"}]}", "UTF-8"},
		{`{"messages":[{"id":"a"},{"id":"b"^`, "ends in the middle"},
		{`{"messages":[{"id":"a","content":"bro^`, "ends in the middle"},
		{`{"messages":[^,]}`, "invalid character"},
		{`{"messages":[]} ^{}`, "more follows"},
		{` ^[{"id":"a"}]`, "not a JSON object"},
		{`^17`, "not a JSON object"},
		{`^null`, "not a JSON object"},
		{`^{}`, "no messages array"},
		{`{"messages":^{}}`, "no messages array"},
		{`{"messages":^null}`, "no messages array"},
		{`{"messages":[],^"messages":[]}`, `duplicate key "messages"`},
		{`{"messages":[],"x":1,^"x":1}`, `duplicate key "x"`},
		{`{"metadata":{"a":1,^"\u0061":2},"messages":[]}`, `duplicate key "a"`},
		{`{"messages":[{"id":"a"},{"id":"b","content":"x",^"content":"y"}]}`, `duplicate key "content"`},
		{`{"messages":[],"metadata":^[]}`, "metadata is not an object"},
		{`{"messages":[],"metadata":^"x"}`, "metadata is not an object"},
		{`{"messages":[{"id":"a"}, ^7]}`, "message 2 is not an object"},
		{`{"messages":[^null]}`, "message 1 is not an object"},
		{`{"messages":[^{}]}`, "message 1 has no id"},
		{`{"messages":[^{"id":""}]}`, "message 1 has no id"},
		{`{"messages":[{"id":"a"},^{"id":7}]}`, "message 2 has no id"},
		{`{"messages":[^{"metadata":{"id":"a"}}]}`, "message 1 has no id"},
		{`{"messages":[{"id":"a"},{"id":"b"},^{"id":"\u0061"}]}`, `duplicate message id "a"`},
		{`{"metadata":{"continued_from":^7},"messages":[]}`, "continued_from"},
		{`{"metadata":{"continued_from":^true},"messages":[]}`, "continued_from"},
		{`{"metadata":{"continued_from":^{"id":"a"}},"messages":[]}`, "continued_from"},
		{`{"metadata":{"continued_from":^["a","b"]},"messages":[]}`, "continued_from lists 2"},
		{`{"metadata":{"continued_from":^[7]},"messages":[]}`, "continued_from"},
		{`{"metadata":{"continued_from":^[""]},"messages":[]}`, "continued_from"},
	} {
		at := strings.LastIndex(c.data, "^")
		data := c.data[:at] + c.data[at+1:]
		_, err := session.Decode("s", []byte(data))
		var damage *session.DamageError
		if !errors.As(err, &damage) {
			t.Errorf("Decode(%q) = %v, want a *DamageError", data, err)
			continue
		}
		if damage.Offset != at || !strings.Contains(damage.Problem, c.problem) || damage.Path != "" {
			t.Errorf("Decode(%q) = %v, want byte %d: %s", data, err, at, c.problem)
		}
	}
}

func TestRecords(t *testing.T) {
	s := decode(t, "s", []byte(`{"messages":[],"tool_call_records":[ {"call_id":"c1","n":1.0}, {"call_id":7}],`+
		`"tool_result_records":[{"call_id":"c1"}],"llm_request_lifecycles":[{"a":NaN}]}`))
	r := s.Records()
	got := fmt.Sprintf("%s %s %s", raws(r.Lifecycles), raws(r.Calls), raws(r.Results))
	if want := `[{"a":NaN}] [{"call_id":"c1","n":1.0} {"call_id":7}] [{"call_id":"c1"}]`; got != want {
		t.Errorf("records are %s, want %s", got, want)
	}
	if c := r.Calls[0].Call(); c != "c1" {
		t.Errorf("the record is of call %q, want c1", c)
	}
	if c := r.Calls[1].Call(); c != "" {
		t.Errorf("the record is of call %q, want none", c)
	}
}

func raws(records []session.Record) (list []string) {
	for _, r := range records {
		list = append(list, string(r.Raw))
	}
	return list
}

// sealed returns the file of a checkpoint of the messages.
func sealed(messages ...string) []byte {
	d := session.Document{ID: "s"}
	for _, m := range messages {
		d.Messages = append(d.Messages, session.Run{Raw: []byte(m)})
	}
	d.Metadata.Set("flattened_snapshot", []byte("true"))
	d.Metadata.Set("bough", fmt.Appendf(nil, `{"kind":"checkpoint","sealed":{"messages":%d,"crc32c":%q}}`, len(messages), session.SealPlaceholder))
	data, err := d.Bytes(nil)
	if err != nil {
		panic(err)
	}
	return data
}

func TestSeal(t *testing.T) {
	whole := sealed(message("a", ""), message("b", ""))
	added := decode(t, "s", whole).Edit()
	added.Append([]byte(message("c", "")))
	for _, c := range []struct {
		name   string
		data   []byte
		frozen []string
		fits   bool
	}{
		{"as sealed", whole, []string{"a", "b"}, true},
		{"empty", sealed(), nil, true},
		{"a message added", added.Edited(), []string{"a", "b"}, false},
		{"a message changed", []byte(strings.Replace(string(whole), "text of a", "text of A", 1)), []string{"a", "b"}, false},
		{"no seal", file(`"flattened_snapshot":true,"bough":{"kind":"checkpoint"}`, message("a", ""), message("b", "")), []string{"a", "b"}, true},
		{"sealed without messages", file(`"bough":{"kind":"checkpoint","sealed":{"messages":0,"crc32c":"00000000"}}`, message("a", "")), nil, false},
		{"sealed with more", file(`"bough":{"kind":"checkpoint","sealed":{"messages":2,"crc32c":"00000000"}}`, message("a", "")), []string{"a"}, false},
		{"sealed with less than none", file(`"bough":{"kind":"checkpoint","sealed":{"messages":-1,"crc32c":"00000000"}}`, message("a", "")), nil, false},
		{"a branch", file(`"bough":{"kind":"branch","sealed":{"messages":0,"crc32c":"00000000"}}`, message("a", "")), []string{"a"}, false},
	} {
		s := decode(t, "s", c.data)
		if got := ids(s.Messages[:s.Frozen()]); !slices.Equal(got, c.frozen) {
			t.Errorf("%s: frozen is %q, want %q", c.name, got, c.frozen)
		}
		if s.FitsSeal != c.fits {
			t.Errorf("%s: fits its seal: %v, want %v", c.name, !c.fits, c.fits)
		}
	}
	numbers := decode(t, "s", sealed(`{"id":"123456789"}`))
	if got, want := numbers.Meta.Sealed.CRC32C, fmt.Sprintf("%08x", crc32.Checksum([]byte(`{"id":"123456789"}`), crc32.MakeTable(crc32.Castagnoli))); got != want {
		t.Errorf("the checksum is %s, want that of CRC-32C, %s", got, want)
	}
}
