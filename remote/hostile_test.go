package remote_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bough-dev/bough/remote"
	"github.com/bough-dev/bough/remote/bucket"
	"github.com/bough-dev/bough/remote/record"
	"github.com/bough-dev/bough/remote/seal"
	"github.com/bough-dev/bough/remote/stream"
	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/doctor"
)

// TestHostile: of the records of any machine with the key of the remote, others apply the valid parts,
// report the rest, and exchange what they have.
func TestHostile(t *testing.T) {
	store := &bucket.Memory{}
	list := computers(t, store, "laptop", "desktop")
	a, b := list[0], list[1]
	ctx := t.Context()
	key := must(seal.ReadKeyFile(must(a.remote().Info()).Key))
	root := must(os.OpenRoot(t.TempDir()))
	defer root.Close()
	w := must(must(stream.Open(ctx, store, key.Key)).OpenWriter(root))

	s := must(a.w.New(ctx, "First"))
	must(a.w.Append(ctx, workspace.Append{Session: s.ID, Text: "one"}))
	must(a.sync())

	x := "x"
	set := func(entity, field, value string) record.Op {
		return record.Op{Do: record.Set, Entity: entity, Field: field, Value: json.RawMessage(value)}
	}
	items := func(entity string, items ...record.Item) record.Op {
		return record.Op{Do: record.Add, Entity: entity, Field: "messages", Body: &record.Body{Items: items}}
	}
	raw := func(id string) json.RawMessage {
		return json.RawMessage(fmt.Sprintf(`{"id":%q,"role":"user","content":"hostile","created_at":"2026-05-25T15:32:00.000000+00:00","metadata":{}}`, id))
	}
	var ops []record.Op
	for _, id := range []string{"../../x", "a/b", "session_20260525_153200_aaaaaaaa", "session_20260525_153200_bbbbbbbb", s.ID, ".", "CON"} {
		e := "session/" + id
		if id != s.ID { // each machine with the key can replace the shell of a session
			ops = append(ops, set(e, "shell", `{"id":"`+id+`","created_at":7,"metadata":{"continued_from":["`+id+`"]},"messages":[1,2]}`))
		}
		ops = append(ops,
			set(e, "title", `"`+strings.Repeat("t", 5000)+`\u0000"`),
			set(e, "newest", `{}`),
			items(e, record.Item{ID: "x", Parent: &x, Raw: raw("x")}, record.Item{ID: "y", Raw: raw("other")}, record.Item{ID: "z", Raw: json.RawMessage(`[]`)}),
			items(e, record.Item{Path: &record.Path{Session: id, First: "x", Last: "x", Count: 1 << 30, SHA256: strings.Repeat("0", 64)}}),
			record.Op{Do: record.Add, Entity: e, Field: "undone", Value: json.RawMessage(`["x"]`)},
		)
	}
	ops = append(ops,
		set("agent/k", "name", `"../../etc"`), set("agent/k", "settings", `{"id":"k","model_id":"command:rm -rf"}`), set("agent/k", "head", `{"session_id":"../x","message_id":"y"}`),
		set("exploration/../x", "file", `{}`),
		record.Op{Do: record.Add, Entity: "learnings", Field: "all", Value: json.RawMessage("{\n\"a\":1}")},
		record.Op{Do: record.Add, Entity: "bookmarks", Field: "all", Value: json.RawMessage(`{"session_id":"../x","node_id":"y","label":"-\u001b[31m"}`)},
		record.Op{Do: record.Add, Entity: "attachment/" + strings.Repeat("a", 64), Field: "content", Body: &record.Body{Items: []record.Item{{Content: []byte("other")}}}},
		record.Op{Do: record.Add, Entity: "attachment/" + strings.Repeat("b", 64), Field: "content", Body: &record.Body{Pack: strings.Repeat("b", 64), Size: 10, Count: 1}},
		record.Op{Do: "frobnicate", Entity: "session/" + s.ID},
		record.Op{Do: record.Remove, Entity: "machine/" + string(must(a.remote().Info()).Machine)},
	)
	must(w.Append(stream.Cursors{}, ops))
	if err := w.Upload(ctx); err != nil {
		t.Fatal(err)
	}

	for range 2 {
		for _, c := range list {
			got, err := c.sync()
			if err != nil {
				t.Fatalf("%s: %v", c.name, err)
			}
			if len(got.Left) == 0 {
				t.Errorf("%s leaves nothing", c.name)
			}
			report := must(c.w.Doctor(ctx, doctor.Options{}))
			if !report.OK {
				t.Errorf("%s: the doctor finds %+v", c.name, report)
			}
		}
	}
	must(a.w.Append(ctx, workspace.Append{Session: s.ID, Text: "two"}))
	must(a.sync())
	must(b.sync())
	texts := map[string]bool{}
	for _, m := range must(b.w.Mirror().Messages(ctx, s.ID)) {
		texts[textOf(m)] = true
	}
	if !texts["one"] || !texts["two"] {
		t.Errorf("the desktop has %v", texts)
	}
	for _, c := range list {
		outside, _ := filepath.Glob(filepath.Join(filepath.Dir(c.w.Dir()), "x*"))
		if len(outside) > 0 {
			t.Errorf("there is %v", outside)
		}
	}
}

// TestEndlessBase: a stream whose base is malformed, with more records after it than a fetch reads at
// once, is reported once, and the others are read.
func TestEndlessBase(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	store := &bucket.Memory{}
	list := computers(t, store, "laptop", "desktop")
	a, b := list[0], list[1]
	s := must(a.w.New(ctx, "First"))
	a.push()
	root := must(os.OpenRoot(t.TempDir()))
	defer root.Close()
	w := must(must(stream.Open(ctx, store, must(seal.ReadKeyFile(must(a.remote().Info()).Key)).Key)).OpenWriter(root))
	for i := range 3 {
		must(w.Append(stream.Cursors{}, []record.Op{{Do: record.Set, Entity: "x/y", Field: "z", Value: json.RawMessage(fmt.Sprint(i))}}))
		if err := w.Upload(ctx); err != nil {
			t.Fatal(err)
		}
		if i == 0 {
			must(w.PutBase(ctx, record.Vector{}, []byte("garbage")))
		}
	}
	r := b.remote()
	defer r.Close()
	r.SetFetchBytes(1)
	got, err := r.Pull(ctx, remote.PullOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Problems) != 1 || got.Problems[0].Machine != w.Machine() || !slices.Contains(got.Sessions, s.ID) {
		t.Errorf("the problems are %+v, and the sessions %v", got.Problems, got.Sessions)
	}
}
