package session_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/bough-dev/bough/internal/rawjson"
	"github.com/bough-dev/bough/internal/testchat"
	"github.com/bough-dev/bough/session"
)

// wantPlanned verifies that the outline computed before a file is written equals
// the one decoded afterwards.
func wantPlanned(t *testing.T, f session.Folder, o *session.Outline) {
	t.Helper()
	read, err := f.Fresh().Outline(o.ID)
	if err != nil {
		t.Fatal(err)
	}
	session.LearnOpening(o, read)
	if got, want := session.Encode(o), session.Encode(read); !bytes.Equal(got, want) {
		t.Errorf("of %s is expected\n%+v\nand read\n%+v", o.ID, o, read)
	}
}

// outline returns the outline of a session in a folder.
func outline(t *testing.T, f session.Folder, id string) *session.Outline {
	t.Helper()
	o, err := f.Outline(id)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func TestPlannedEdit(t *testing.T) {
	for name, change := range map[string]func(*session.Edit){
		"nothing":  func(*session.Edit) {},
		"title":    func(e *session.Edit) { e.SetMeta("title", "Other \u2028") },
		"links":    func(e *session.Edit) { e.SetMeta("continued_to", []string{"r"}); e.DeleteMeta("title") },
		"messages": func(e *session.Edit) { e.Append([]byte(m("n"))); e.Append([]byte(under("a", "o"))) },
		"calls":    func(e *session.Edit) { e.Append([]byte(message("n", `"tool_calls":[{"id":"c1"}]`))) },
		"time":     func(e *session.Edit) { e.SetActive("2027-01-01T00:00:00.000000+00:00") },
		"user":     func(e *session.Edit) { e.Append([]byte(says("n", "user", "Is it?"))) },
		"joined":   func(e *session.Edit) { e.Append([]byte(m("n"))); e.Append([]byte(joined("null", "n", "o"))) },
		"all": func(e *session.Edit) {
			e.SetMeta("message_count", 12345)
			e.SetActive("2027-01-01T00:00:00.000000+00:00")
			e.Append([]byte(at("n", "2027-01-01T00:00:00", "")))
		},
	} {
		files := map[string]string{
			"empty":    `{"messages":[],"metadata":{"continued_from":["x"]},"last_active":""}`,
			"small":    string(file(`"title":"T"`, m("a"))),
			"branches": string(file(`"title":"T","branched_from":"x"`, m("a"), m("b"), under("a", "c"), late("b", "d"), at("e", "yesterday", `"parent_id":null`))),
			"joined":   string(file(`"title":"T"`, m("a"), joined(`"x"`, "a", "b"), replaced("a", "d", "c"), under("a", "d"))),
			"header":   string(file(`"continued_from":"p"`, m("h"), marker("p", ""), m("a"), message("b", `"tool_call_id":"c1"`))),
			"sealed":   string(sealed(m("a"), m("b"))),
			"no time":  `{"metadata":{},"messages":[{"id":"a"}],"tool_call_records":[ 1 , {"call_id":"c1"}]}`,
			"no meta":  `{"messages":[{"id":"a"}]}`,
			"behind":   `{"tool_result_records":[1],"metadata":{},"x":[1,2],"messages":[{"id":"a"} ],"llm_request_lifecycles":[2,3],"last_active":"x"}`,
		}
		for _, f := range (testchat.Chat{Messages: 30, PerFile: 20, Text: 50, Odd: true}).Files() {
			files[f.ID] = string(f.Data)
		}
		for id, content := range files {
			f, dir := folder(t, map[string]string{session.FileName(id): content})
			edit := outline(t, f, id).Edit()
			change(edit)
			o, err := replace(f, dir, edit, nil)
			if err != nil {
				t.Fatal(err)
			}
			wantPlanned(t, f, o)
			data, err := os.ReadFile(filepath.Join(dir, session.FileName(id)))
			if err != nil {
				t.Fatal(err)
			}
			again := decode(t, id, []byte(content)).Edit()
			change(again)
			if want := again.Bytes(); !bytes.Equal(data, want) {
				t.Errorf("%s of %s: the file is\n%s\nwant\n%s", name, id, data, want)
			}
		}
	}
}

func TestPlannedDocument(t *testing.T) {
	f, dir := folder(t, map[string]string{
		"conversations/p.json": string(file(`"title":"T"`, m("a"), message("b", `"tool_calls":[{"id":"c1"}]`), under("a", "c"), at("d", "then", `"parent_id":"b"`))),
		"conversations/q.json": `{"llm_request_lifecycles":[1,2],"messages":[` + m("x") + `  ,` + "\n" + m("y") + `],"tool_call_records":[{"call_id":"c1"} ]}`,
	})
	p, q := outline(t, f, "p"), outline(t, f, "q")
	raw := func(s string) session.Run { return session.Run{Raw: []byte(s)} }
	var all session.Records
	all.Add(p.Records())
	all.Add(q.Records())
	all.Add(session.Records{Results: []session.Record{{Raw: []byte("7")}}})
	for i, d := range []*session.Document{
		{},
		{Messages: []session.Run{raw(m("z"))}},
		{Messages: []session.Run{{Part: p, From: 0, To: 4}}},
		{Messages: []session.Run{{Part: p, From: 0, To: 1}, {Part: p, From: 1, To: 3}, {Part: p, From: 3, To: 4}}},
		{Messages: []session.Run{{Part: p, From: 1, To: 2}, {Part: p, From: 3, To: 4}, {Part: q, From: 0, To: 2}, raw(at("z", "now", ""))}, Records: all},
		{Messages: []session.Run{{Part: q, From: 1, To: 2}, {Part: p, From: 0, To: 1}, {Part: q, From: 0, To: 1}}, Records: all},
		{Messages: []session.Run{raw(m("h")), raw(marker("p", "")), {Part: q, From: 0, To: 2}}, Metadata: session.MetadataOf(rawjson.Pair{Key: "continued_from", Value: []byte(`"p"`)})},
		{Messages: []session.Run{{Part: p, From: 0, To: 2}, {Part: q, From: 0, To: 2}}, Records: all, Metadata: session.MetadataOf([]rawjson.Pair{
			{Key: "title", Value: []byte(`"00000000"`)},
			{Key: "flattened_snapshot", Value: []byte("true")},
			{Key: "bough", Value: fmt.Appendf(nil, `{"kind":"checkpoint","sealed":{"messages":4,"crc32c":%q}}`, session.SealPlaceholder)},
		}...)},
	} {
		d.ID = fmt.Sprint("snap", i)
		o, err := create(f, dir, d, nil)
		if err != nil {
			t.Fatal(err)
		}
		wantPlanned(t, f, o)
		if !o.FitsSeal {
			t.Errorf("document %d does not fit its seal", i)
		}
		data, err := os.ReadFile(filepath.Join(dir, session.FileName(d.ID)))
		if err != nil {
			t.Fatal(err)
		}
		if want, err := d.Bytes(f.Open); err != nil || !bytes.Equal(data, want) {
			t.Errorf("document %d is\n%s\nwant\n%s, %v", i, data, want, err)
		}
	}
}

// TestBrief: the outline of a very long document needs no memory per message.
func TestBrief(t *testing.T) {
	const n = 200_000
	var content strings.Builder
	content.WriteString(`{"messages":[{"id":"0"}`)
	for i := 1; i < n; i++ {
		fmt.Fprintf(&content, `,{"id":"%d"}`, i)
	}
	content.WriteString(`]}`)
	f, dir := folder(t, map[string]string{"conversations/p.json": content.String()})
	o, err := create(f, dir, &session.Document{
		ID:       "long",
		Messages: []session.Run{{Part: outline(t, f, "p"), From: 0, To: n}},
		Metadata: session.MetadataOf([]rawjson.Pair{
			{Key: "flattened_snapshot", Value: []byte("true")},
			{Key: "bough", Value: fmt.Appendf(nil, `{"kind":"checkpoint","sealed":{"messages":%d,"crc32c":%q}}`, n, session.SealPlaceholder)},
		}...),
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	read := outline(t, f.Fresh(), "long")
	if !o.Brief() || read.Brief() || !read.FitsSeal || o.CRC32C != read.CRC32C {
		t.Errorf("the outline is %v and %v", o.Brief(), read.Brief())
	}
	if got, want := o.Summary(), read.Summary(); !reflect.DeepEqual(got, want) {
		t.Errorf("of the file is expected %+v, read %+v", got, want)
	}
}
