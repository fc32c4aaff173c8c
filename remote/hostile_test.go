package remote_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
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
	"github.com/bough-dev/bough/remote/join"
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
	must(w.Append(stream.Cursors{}, nil, ops))
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
		must(w.Append(stream.Cursors{}, nil, []record.Op{{Do: record.Set, Entity: "x/y", Field: "z", Value: json.RawMessage(fmt.Sprint(i))}}))
		if err := w.Upload(ctx); err != nil {
			t.Fatal(err)
		}
		if i == 0 {
			must(w.PutBase(ctx, seal.Base{Content: []byte("garbage")}, func(*seal.Base) error { return nil }))
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

// TestHostileBase: a base that no machine of bough writes, or one that has seen a record that is absent, is reported,
// and the others exchange the rest.
func TestHostileBase(t *testing.T) {
	absent := record.Machine(strings.Repeat("ab", 16))
	for name, change := range map[string]func(b *seal.Base, content *join.Base, honest record.Machine){
		"another Lamport":        func(b *seal.Base, _ *join.Base, m record.Machine) { b.Lamport, b.Seen = 2, record.Vector{m: 1} },
		"has seen others":        func(b *seal.Base, _ *join.Base, m record.Machine) { b.Seen = record.Vector{m: 1} },
		"its content has seen":   func(_ *seal.Base, c *join.Base, _ record.Machine) { c.Seen = record.Vector{absent: 5} },
		"has seen an absent one": func(b *seal.Base, c *join.Base, _ record.Machine) { b.Seen = record.Vector{absent: 5}; c.Seen = b.Seen },
	} {
		t.Run(name, func(t *testing.T) {
			ctx := t.Context()
			store := &bucket.Memory{}
			list := computers(t, store, "laptop", "desktop")
			a, b := list[0], list[1]
			s := must(a.w.New(ctx, "First"))
			a.push()
			info := must(a.remote().Info())
			signer := must(seal.NewSigner())
			state := join.New()
			if err := state.Add(&record.Record{Format: 1, Machine: signer.Machine(), Seq: 1, Lamport: 1, Ops: []record.Op{}}); err != nil {
				t.Fatal(err)
			}
			content := state.Base(signer.Machine())
			base := &seal.Base{Format: 1, Machine: signer.Machine(), Seq: 1, Lamport: 1, Last: strings.Repeat("a", 64), Key: signer.Public()}
			change(base, content, info.Machine)
			base.Content = content.Encode()
			stored := must(must(seal.ReadKeyFile(info.Key)).Seal(must(seal.EncodeBase(base, signer))))
			if err := store.Put(ctx, "m/"+string(signer.Machine())+"/base-00000001", stored); err != nil {
				t.Fatal(err)
			}
			for range 2 {
				must(a.sync())
				must(b.sync())
				must(b.w.Append(ctx, workspace.Append{Session: s.ID, Text: "more"}))
			}
			must(a.sync())
			if report := must(a.remote().Check(ctx, remote.CheckOptions{})); report.OK || len(report.Problems) == 0 {
				t.Errorf("the check reports %+v", report)
			}
			newcomer := a.friend("newcomer")
			if got := newcomer.pull(); !slices.Contains(got.Sessions, s.ID) {
				t.Errorf("a new machine gets %+v", got)
			}
		})
	}
}

// TestBaseAhead: a base that has seen a record that is absent, while there are more records than a fetch reads at once,
// keeps no machine from reading the others, also if an object has the name of that record.
func TestBaseAhead(t *testing.T) {
	for _, there := range []bool{false, true} {
		t.Run(fmt.Sprint(there), func(t *testing.T) {
			ctx := t.Context()
			store := &bucket.Memory{}
			list := computers(t, store, "laptop", "desktop")
			a, b := list[0], list[1]
			info := must(a.remote().Info())
			var sessions []string
			for i := range 4 {
				sessions = append(sessions, must(a.w.New(ctx, fmt.Sprint("One of several ", i))).ID)
				a.push()
			}
			if there {
				if err := store.Put(ctx, "m/"+string(info.Machine)+"/00000009", []byte("garbage")); err != nil {
					t.Fatal(err)
				}
			}
			signer := must(seal.NewSigner())
			state := join.New()
			if err := state.Add(&record.Record{Format: 1, Machine: signer.Machine(), Seq: 1, Lamport: 1, Ops: []record.Op{}}); err != nil {
				t.Fatal(err)
			}
			content := state.Base(signer.Machine())
			content.Seen = record.Vector{info.Machine: 9}
			base := &seal.Base{Format: 1, Machine: signer.Machine(), Seq: 1, Lamport: 1, Seen: content.Seen, Last: strings.Repeat("a", 64), Key: signer.Public(), Content: content.Encode()}
			stored := must(must(seal.ReadKeyFile(info.Key)).Seal(must(seal.EncodeBase(base, signer))))
			if err := store.Put(ctx, "m/"+string(signer.Machine())+"/base-00000001", stored); err != nil {
				t.Fatal(err)
			}
			for _, c := range []*computer{b, a.friend("newcomer")} {
				r := c.remote()
				r.SetFetchBytes(1)
				got, err := r.Pull(ctx, remote.PullOptions{})
				r.Close()
				if err != nil {
					t.Fatalf("%s: %v", c.name, err)
				}
				if slices.ContainsFunc(sessions, func(id string) bool { return !slices.Contains(got.Sessions, id) }) {
					t.Errorf("%s gets %v", c.name, got.Sessions)
				}
				var problems []*stream.Problem
				for range 3 {
					problems = append(problems, c.pull().Problems...)
				}
				if !slices.ContainsFunc(problems, func(p *stream.Problem) bool { return p.Machine == info.Machine && p.Seq == 5 }) {
					t.Errorf("%s reports %+v", c.name, problems)
				}
				must(c.w.New(ctx, "New"))
				if got := c.push(); got.Sent.Records == 0 {
					t.Errorf("%s sends nothing: %+v", c.name, got)
				}
			}
		})
	}
}

// TestLostRecord: if the store loses a record that a base has seen, a new machine reads the streams that do not need
// it, and sends its own. When the machine of the record has stored a base, all are whole again.
func TestLostRecord(t *testing.T) {
	ctx := t.Context()
	store := &bucket.Memory{}
	list := computers(t, store, "laptop", "desktop", "other")
	a, b, other := list[0], list[1], list[2]
	apart := must(other.w.New(ctx, "Apart"))
	other.push()
	lost := must(a.w.New(ctx, "Lost"))
	a.push()
	b.pull()
	must(b.w.New(ctx, "Seen"))
	collect := func(c *computer) {
		r := c.remote()
		defer r.Close()
		r.SetBaseEvery(1)
		must(c.w.New(ctx, "One more"))
		must(r.Push(ctx, remote.PushOptions{}))
	}
	collect(b)
	name := "m/" + string(must(a.remote().Info()).Machine) + "/00000001"
	if err := store.Delete(ctx, name); err != nil {
		t.Fatal(err)
	}
	newcomer := a.friend("newcomer")
	if got := newcomer.pull(); !slices.Equal(got.Sessions, []string{apart.ID}) {
		t.Errorf("a new machine gets %+v", got)
	}
	must(newcomer.w.New(ctx, "New"))
	if got := newcomer.push(); got.Sent.Records == 0 {
		t.Errorf("a new machine sends %+v", got)
	}
	report := must(newcomer.remote().Check(ctx, remote.CheckOptions{}))
	if report.OK || !slices.ContainsFunc(report.Problems, func(p *stream.Problem) bool { return p.Object == name }) {
		t.Errorf("the check reports %+v", report)
	}
	collect(a)
	if got := newcomer.pull(); !slices.Contains(got.Sessions, lost.ID) || len(got.Sessions) != 4 || len(got.Problems) > 0 {
		t.Errorf("with the base that replaces it, the new machine gets %+v", got)
	}
	if report := must(newcomer.remote().Check(ctx, remote.CheckOptions{})); !report.OK {
		t.Errorf("the check reports %+v", report)
	}
}

// TestUnreadableBase: a machine whose base others could not read stores none, and deletes nothing.
func TestUnreadableBase(t *testing.T) {
	ctx := t.Context()
	store := &bucket.Memory{}
	list := computers(t, store, "laptop", "desktop")
	a, b := list[0], list[1]
	if err := a.w.AppendLearnings(ctx, []byte(`{"text":"`+strings.Repeat("[", 4_000_001)+"\"}\n")); err != nil { // more than a line of a base may have
		t.Fatal(err)
	}
	var notes []string
	a.opts.Note = func(note string) { notes = append(notes, note) }
	for range 2 {
		a.syncEvery(1)
		must(b.sync())
	}
	if has := names(t, store); slices.ContainsFunc(has, func(name string) bool { return strings.Contains(name, "/base-") }) ||
		!slices.ContainsFunc(notes, func(note string) bool { return strings.Contains(note, "4000000 arrays and objects") }) {
		t.Errorf("the store has %s, and the notes are %q", has, notes)
	}
	if report := must(a.friend("phone").remote().Check(ctx, remote.CheckOptions{})); !report.OK {
		t.Errorf("a newcomer finds %+v", report)
	}
}

// TestPathThatNeverComes: a session that repeats messages which no machine sent is reported once, and when it is asked for,
// although each pull tries it; what comes later is applied.
func TestPathThatNeverComes(t *testing.T) {
	ctx := t.Context()
	store := &bucket.Memory{}
	list := computers(t, store, "laptop", "desktop")
	a, b := list[0], list[1]
	must(a.w.New(ctx, "First"))
	a.push()
	root := must(os.OpenRoot(t.TempDir()))
	defer root.Close()
	w := must(must(stream.Open(ctx, store, must(seal.ReadKeyFile(must(a.remote().Info()).Key)).Key)).OpenWriter(root))
	write := func(ops ...record.Op) {
		t.Helper()
		must(w.Append(stream.Cursors{}, nil, ops))
		if err := w.Upload(ctx); err != nil {
			t.Fatal(err)
		}
	}
	id, source := "session_20260525_153300_0000000a", "session_20260525_153300_0000000b"
	message := `{"id":"m","role":"user","content":"late","created_at":"2026-05-25T15:32:00.000000+00:00","metadata":{}}`
	sum := sha256.Sum256([]byte(message + "\n"))
	shell := func(id string) record.Op {
		return record.Op{Do: record.Set, Entity: "session/" + id, Field: "shell", Value: json.RawMessage(`{"id":"` + id + `","created_at":"2026-05-25T15:32:00.000000+00:00","metadata":{"continued_from":[]},"messages":[]}`)}
	}
	messages := func(id string, it record.Item) record.Op {
		return record.Op{Do: record.Add, Entity: "session/" + id, Field: "messages", Body: &record.Body{Items: []record.Item{it}}}
	}
	write(shell(id), messages(id, record.Item{Path: &record.Path{Session: source, First: "m", Last: "m", Count: 1, SHA256: hex.EncodeToString(sum[:])}}))
	for i := range 3 {
		if got := b.pull(); (len(got.Left) == 1) != (i == 0) {
			t.Errorf("pull %d leaves %v", i, got.Left)
		}
	}
	if got := must(b.remote().Pull(ctx, remote.PullOptions{Session: id})); len(got.Left) != 1 {
		t.Errorf("when it is asked for, it leaves %v", got.Left)
	}
	if got := b.pull(); len(got.Left) > 0 {
		t.Errorf("after that, %v", got.Left)
	}
	write(shell(source), messages(source, record.Item{ID: "m", Raw: json.RawMessage(message)}))
	b.pull()
	if ms := must(b.w.Mirror().Messages(ctx, id)); len(ms) != 1 || textOf(ms[0]) != "late" {
		t.Errorf("when the path is there, it has %v", ms)
	}
}
