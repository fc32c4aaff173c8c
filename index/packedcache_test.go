package index_test

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/bough-dev/bough/index"
	"github.com/bough-dev/bough/internal/durable"
	"github.com/bough-dev/bough/internal/sessions"
	"github.com/bough-dev/bough/internal/testsize"
)

// pack makes packed checkpoints with a title.
func (f *folder) pack(title string, ids ...string) {
	f.t.Helper()
	for _, id := range ids {
		f.write(id+".json", packable(id, title))
		in := sessions.New(f.root, nil)
		o, err := in.Outline(id)
		if err != nil {
			f.t.Fatal(err)
		}
		b := durable.NewBatch(f.root)
		if _, err := in.PackFile(b, o, []sessions.PackedLine{{ID: "line-" + id}}, nil); err != nil {
			f.t.Fatal(err)
		}
		if _, _, err := b.Commit(context.Background()); err != nil {
			f.t.Fatal(err)
		}
		f.remove(id + ".json")
	}
}

// packable returns a checkpoint as bough writes it.
func packable(id, title string) string {
	return fmt.Sprintf(`{
  "id": %q,
  "created_at": "2026-03-14T09:30:34.241734+00:00",
  "last_active": "2026-03-14T09:30:34.241734+00:00",
  "metadata": {
    "title": %q,
    "continued_from": [
      "s0"
    ],
    "continued_to": [
      "later"
    ],
    "branched_from": "s0",
    "branch_point": "m-%s",
    "lineage": [
      "s0"
    ],
    "flattened_snapshot": true,
    "message_count": 1,
    "bough": {
      "kind": "checkpoint",
      "auto": true,
      "sources": [{"format": "codex", "cwd": "/w", "model": "o"}]
    }
  },
  "messages": [
    {"id": "m-%[1]s", "role": "user", "content": "words of %[1]s"}
  ]
}`, id, title, id)
}

// settle waits until the next change of any recipe gives it another time.
func (f *folder) settle() {
	f.t.Helper()
	list, _, err := sessions.New(f.root, nil).ListPacked(true)
	if err != nil {
		f.t.Fatal(err)
	}
	for _, st := range list {
		if st.Changed <= 0 {
			f.t.Skip("the system does not report when a file was changed")
		}
		for !durable.Settled(st.Changed, time.Now()) || !durable.Settled(st.ModTime.UnixNano(), time.Now()) {
			time.Sleep(time.Millisecond)
		}
	}
}

// packedFacts describes the packed checkpoints of x.
func packedFacts(x *index.Index) string {
	var b strings.Builder
	for _, e := range x.Entries() {
		if e.Packed != nil {
			fmt.Fprintln(&b, e.ID, e.DisplayTitle(), e.Kind(), e.Auto, e.CreatedAt, e.LastActive, e.MessageCount, e.Opening, e.ContinuedFrom, e.BranchedFrom, e.BranchPoint, e.Lineage, e.Snapshot, e.ListLinks, e.ContinuedTo, e.HeaderCount, e.Setting, e.Packed, e.Size())
		}
	}
	for _, e := range x.Unusable() {
		fmt.Fprintln(&b, e.ID, e.Err)
	}
	return b.String()
}

// packedWith returns the packed checkpoints with a cache, which it saves.
func (f *folder) packedWith(cache *index.PackedCache) string {
	f.t.Helper()
	x, err := index.Open(f.root, nil, nil, cache)
	if err != nil {
		f.t.Fatal(err)
	}
	defer x.Close()
	x.Remember()
	return packedFacts(x)
}

// numbered returns ids.
func numbered(from, to int) (ids []string) {
	for i := from; i < to; i++ {
		ids = append(ids, fmt.Sprintf("p%02d", i))
	}
	return ids
}

// TestPackedCache: with the cache, in memory or in its file, the packed checkpoints are the
// same as without it, whatever changes.
func TestPackedCache(t *testing.T) {
	f := newFolder(t)
	f.pack("First", numbered(0, 40)...)
	f.settle()
	var memory index.PackedCache
	recipe := func(id string) string { return "../" + sessions.RecipeFile(id) }
	read := func(id string) string { return f.read(recipe(id)) }
	kept := read("p07")
	for _, step := range []struct {
		name string
		do   func()
	}{
		{"nothing", func() {}},
		{"one more", func() { f.pack("More", "p40") }},
		{"another title", func() { f.remove(recipe("p03")); f.pack("OTHER", "p03") }},
		{"changed in place", func() { f.write(recipe("p04"), strings.Replace(read("p04"), "First", "FIRST", 1)) }},
		{"damaged", func() { f.write(recipe("p05"), read("p05")[:100]) }},
		{"hidden", func() { f.write("p06.json", packable("p06", "Plain")) }},
		{"removed", func() { f.remove(recipe("p07")) }},
		{"back", func() { f.write(recipe("p07"), kept) }},
		{"no longer hidden", func() { f.remove("p06.json") }},
		{"many more", func() { f.pack("Many", numbered(50, 90)...); f.settle() }},
		{"many removed", func() {
			for _, id := range numbered(50, 90) {
				f.remove(recipe(id))
			}
		}},
		{"no cache", func() { f.remove("../" + index.PackedPath) }},
	} {
		step.do()
		want := f.packedWith(nil)
		for range 2 {
			if got := f.packedWith(&memory); got != want {
				t.Fatalf("%s: from memory\n%s\nwant\n%s", step.name, got, want)
			}
			if got := f.packedWith(&index.PackedCache{}); got != want {
				t.Fatalf("%s: from the file\n%s\nwant\n%s", step.name, got, want)
			}
		}
	}
}

// TestPackedCacheUsed: recipes are read again only if they changed.
func TestPackedCacheUsed(t *testing.T) {
	f := newFolder(t)
	f.pack("First", numbered(0, 40)...)
	f.settle()
	want := f.packedWith(nil)
	if got := f.packedWith(&index.PackedCache{}); got != want {
		t.Fatalf("it is\n%s\nwant\n%s", got, want)
	}
	if err := index.ForgePacked(f.root, "First", "Fi&st"); err != nil {
		t.Fatal(err)
	}
	if got := f.packedWith(&index.PackedCache{}); got != strings.ReplaceAll(want, "First", "Fi&st") {
		t.Errorf("the file is not used: %s", got)
	}
	f.date("../"+sessions.RecipeFile("p03"), time.Now())
	got := f.packedWith(&index.PackedCache{})
	if strings.Count(got, "First") != 1 || !strings.Contains(got, "p03 First") {
		t.Errorf("with another time of p03 it is %s", got)
	}
}

// TestPackedCacheDamage: a damaged cache is ignored.
func TestPackedCacheDamage(t *testing.T) {
	f := newFolder(t)
	f.pack("First", numbered(0, 16)...)
	f.settle()
	want := f.packedWith(nil)
	f.packedWith(&index.PackedCache{})
	data := []byte(f.read("../" + index.PackedPath))
	for at := 0; at < len(data); at += testsize.Of(797, 397, 97) {
		changed := bytes.Clone(data)
		changed[at] ^= 4
		for _, content := range [][]byte{data[:at], changed} {
			f.write("../"+index.PackedPath, string(content))
			if got := f.packedWith(&index.PackedCache{}); got != want {
				t.Fatalf("with a cache damaged at byte %d it is\n%s\nwant\n%s", at, got, want)
			}
		}
	}
}

// TestPackedCacheYoung: a recipe that could change again without another time is not cached.
func TestPackedCacheYoung(t *testing.T) {
	const changed = 1_700_000_000_123_456_789
	for _, c := range []struct {
		file durable.Identity
		at   int64
		want bool
	}{
		{durable.Identity{ModTime: changed, Changed: changed}, changed + int64(time.Minute), true},
		{durable.Identity{ModTime: changed, Changed: changed}, changed + int64(time.Millisecond), false},
		{durable.Identity{ModTime: changed - int64(time.Hour), Changed: changed}, changed + int64(time.Millisecond), false},
		{durable.Identity{ModTime: changed + int64(time.Hour), Changed: changed}, changed + int64(time.Minute), false},
		{durable.Identity{ModTime: changed}, changed + int64(time.Minute), false},
	} {
		if got := index.IsCacheable(c.file, time.Unix(0, c.at)); got != c.want {
			t.Errorf("%+v: %t", c, got)
		}
	}
}

// FuzzPackedCache: any bytes with a valid checksum are an invalid cache, or one whose valid
// entries are the same after encoding them again.
func FuzzPackedCache(f *testing.F) {
	w := newFolder(f)
	w.pack("First", numbered(0, 16)...)
	w.settle()
	w.packedWith(&index.PackedCache{})
	whole := w.read("../" + index.PackedPath)
	f.Add([]byte(whole[:len(whole)-4]))
	f.Add([]byte(strings.ReplaceAll(whole[:len(whole)-4], "checkpoint", "branch")))
	f.Add([]byte(whole[:len(whole)/2]))
	f.Add([]byte(whole[:len(index.PackedMark)] + "\x01"))
	f.Fuzz(func(t *testing.T, data []byte) {
		list, again, err := index.DecodePacked(data)
		if err != nil {
			return
		}
		if fmt.Sprint(list) != fmt.Sprint(again) {
			t.Errorf("%q means %s, and encoded again %s", data, list, again)
		}
	})
}
