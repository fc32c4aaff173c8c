package session_test

import (
	"bytes"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/bough-dev/bough/internal/rawjson"
	"github.com/bough-dev/bough/internal/testchat"
	"github.com/bough-dev/bough/internal/testsize"
	"github.com/bough-dev/bough/session"
)

// wantPlanned verifies that the outline computed before a file is written equals
// the one decoded afterwards.
func wantPlanned(t *testing.T, f files, o *session.Outline) {
	t.Helper()
	read := f.outline(t, o.ID)
	session.LearnOpening(o, read)
	if got, want := session.Encode(o), session.Encode(read); !bytes.Equal(got, want) {
		t.Errorf("of %s is expected\n%+v\nand read\n%+v", o.ID, o, read)
	}
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
		contents := map[string]string{
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
			contents[f.ID] = string(f.Data)
		}
		for id, content := range contents {
			f := files{id: content}
			edit := f.outline(t, id).Edit()
			change(edit)
			o, err := f.write(edit.Write, nil)
			if err != nil {
				t.Fatal(err)
			}
			wantPlanned(t, f, o)
			again := decode(t, id, []byte(content)).Edit()
			change(again)
			if want := string(again.Edited()); f[id] != want {
				t.Errorf("%s of %s: the file is\n%s\nwant\n%s", name, id, f[id], want)
			}
		}
	}
}

func TestPlannedDocument(t *testing.T) {
	f := files{
		"p": string(file(`"title":"T"`, m("a"), message("b", `"tool_calls":[{"id":"c1"}]`), under("a", "c"), at("d", "then", `"parent_id":"b"`))),
		"q": `{"llm_request_lifecycles":[1,2],"messages":[` + m("x") + `  ,` + "\n" + m("y") + `],"tool_call_records":[{"call_id":"c1"} ]}`,
	}
	p, q := f.outline(t, "p"), f.outline(t, "q")
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
		o, err := f.write(d.Write, nil)
		if err != nil {
			t.Fatal(err)
		}
		wantPlanned(t, f, o)
		if !o.FitsSeal {
			t.Errorf("document %d does not fit its seal", i)
		}
		if want, err := d.Bytes(f.session); err != nil || f[d.ID] != string(want) {
			t.Errorf("document %d is\n%s\nwant\n%s, %v", i, f[d.ID], want, err)
		}
	}
}

// TestBrief: the outline of a document of more than 1<<17 messages needs no memory per
// message.
func TestBrief(t *testing.T) {
	n := testsize.Of(1<<17+1, 200_000, 200_000)
	var content strings.Builder
	content.WriteString(`{"messages":[{"id":"0"}`)
	for i := 1; i < n; i++ {
		fmt.Fprintf(&content, `,{"id":"%d"}`, i)
	}
	content.WriteString(`]}`)
	f := files{"p": content.String()}
	d := &session.Document{
		ID:       "long",
		Messages: []session.Run{{Part: f.outline(t, "p"), From: 0, To: n}},
		Metadata: session.MetadataOf([]rawjson.Pair{
			{Key: "flattened_snapshot", Value: []byte("true")},
			{Key: "bough", Value: fmt.Appendf(nil, `{"kind":"checkpoint","sealed":{"messages":%d,"crc32c":%q}}`, n, session.SealPlaceholder)},
		}...),
	}
	o, err := f.write(d.Write, nil)
	if err != nil {
		t.Fatal(err)
	}
	read := f.outline(t, "long")
	if !o.Brief() || read.Brief() || !read.FitsSeal || o.CRC32C != read.CRC32C {
		t.Errorf("the outline is %v and %v", o.Brief(), read.Brief())
	}
	if got, want := o.Summary(), read.Summary(); !reflect.DeepEqual(got, want) {
		t.Errorf("of the file is expected %+v, read %+v", got, want)
	}
}
