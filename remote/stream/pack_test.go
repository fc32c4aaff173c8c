package stream_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bough-dev/bough/remote/bucket"
	"github.com/bough-dev/bough/remote/record"
	"github.com/bough-dev/bough/remote/stream"
	"github.com/bough-dev/bough/workspace/fault"
)

// messages returns n items whose messages have about size bytes that hardly compress.
func messages(id string, n, size int) (list []record.Item) {
	rnd := rand.NewChaCha8([32]byte([]byte(fmt.Sprintf("%-32s", id))))
	for i := range n {
		text := make([]byte, size*3/4)
		rnd.Read(text)
		list = append(list, record.Item{ID: fmt.Sprintf("%s-%d", id, i), Raw: fmt.Appendf(nil, "{\n  \"content\": %s\n}", quoted(text))})
	}
	return list
}

func (m *machine) pack(runs ...[]record.Item) (bodies [][]*record.Body) {
	m.Helper()
	p := m.Packer()
	p.Limit(128<<10, 8<<10)
	for _, run := range runs {
		list, err := p.Add(run)
		if err != nil {
			m.Fatal(err)
		}
		bodies = append(bodies, list)
	}
	if err := p.Close(); err != nil {
		m.Fatal(err)
	}
	var ops []record.Op
	for _, list := range bodies {
		for _, b := range list {
			ops = append(ops, record.Op{Do: record.Add, Entity: "session/a", Field: "messages", Value: json.RawMessage(`"pack"`), Body: b})
		}
	}
	if _, err := m.Append(m.have, nil, ops); err != nil {
		m.Fatal(err)
	}
	return bodies
}

func items(t testing.TB, p *stream.Packs, bodies ...*record.Body) (list []record.Item) {
	t.Helper()
	for _, b := range bodies {
		for it, err := range p.Items(ctx, b) {
			if err != nil {
				t.Fatal(err)
			}
			list = append(list, *it)
		}
	}
	return list
}

func same(t testing.TB, got, want []record.Item) {
	t.Helper()
	a, err := json.Marshal(got)
	if err != nil {
		t.Fatal(err)
	}
	b, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(a, b) {
		t.Errorf("%d items came back as %d, or others", len(want), len(got))
	}
}

// TestPacks: runs return as they were; one run costs one request, and none if its pack is in the
// cache; many small ones share a pack.
func TestPacks(t *testing.T) {
	store := new(bucket.Memory)
	meter := bucket.NewMeter(store)
	a := newMachine(t, through(newRemote(t, store), meter))
	var runs [][]record.Item
	for i := range 200 {
		runs = append(runs, messages(fmt.Sprint(i), i%7, 30+i))
	}
	runs = append(runs, messages("large", 3, 20_000))
	before := meter.Usage()
	bodies := a.pack(runs...)
	a.upload()
	if used := meter.Usage().Sub(before); used.Requests() != 2 {
		t.Errorf("the push made %+v", used)
	}
	cache := rootOf(t, t.TempDir())
	p := a.OpenPacks(cache, 64<<20)
	before = meter.Usage()
	for _, i := range rand.New(rand.NewPCG(1, 1)).Perm(len(runs)) {
		same(t, items(t, p, bodies[i]...), runs[i])
	}
	same(t, items(t, a.OpenPacks(cache, 64<<20), bodies[150]...), runs[150])
	if used := meter.Usage().Sub(before); used.Requests() != 1 {
		t.Errorf("reading all runs made %+v", used)
	}
	inline := &record.Body{Items: runs[5]}
	same(t, items(t, p, inline), runs[5])
	for range p.Items(ctx, bodies[150][0]) {
		break // does not leak or panic
	}
}

// TestPackByHand: age and zstd print the lines of a pack; at the place of a body they are its items.
func TestPackByHand(t *testing.T) {
	store := new(bucket.Memory)
	a := newMachine(t, newRemote(t, store))
	runs := [][]record.Item{messages("a", 3, 100), messages("b", 3, 10_000)}
	body := a.pack(runs...)[1][0]
	a.upload()
	stored, err := store.Get(ctx, "p/"+body.Pack)
	if err != nil {
		t.Fatal(err)
	}
	frames, err := a.Key.Decrypt(stored)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("zstd", "-d", "-c")
	cmd.Stdin = bytes.NewReader(frames)
	lines, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var first struct{ ID, Raw string }
	if err := json.NewDecoder(bytes.NewReader(lines[body.At:])).Decode(&first); err != nil {
		t.Fatal(err)
	}
	if first.ID != "b-0" || first.Raw != string(runs[1][0].Raw) {
		t.Errorf("the first item is %s", first.ID)
	}
}

// TestFullPacks: a pack ends before it is too large, and a run that does not fit has several parts.
func TestFullPacks(t *testing.T) {
	store := new(bucket.Memory)
	a := newMachine(t, newRemote(t, store))
	run := messages("a", 20, 10_000)
	bodies := a.pack(run)[0]
	a.upload()
	names := map[string]bool{}
	for _, b := range bodies {
		names[b.Pack] = true
	}
	if len(bodies) != 2 || len(names) != 2 {
		t.Errorf("200 kB have %d parts in %d packs", len(bodies), len(names))
	}
	same(t, items(t, a.OpenPacks(rootOf(t, t.TempDir()), 1<<30), bodies...), run)
}

// TestPackCache: the cache keeps the packs that were used last, within its size; a damaged file in it
// is fetched again.
func TestPackCache(t *testing.T) {
	store := new(bucket.Memory)
	meter := bucket.NewMeter(store)
	a := newMachine(t, through(newRemote(t, store), meter))
	var bodies []*record.Body
	for i := range 4 {
		bodies = append(bodies, a.pack(messages(fmt.Sprint(i), 1, 10_000))[0][0])
	}
	a.upload()
	dir := t.TempDir()
	p := a.OpenPacks(rootOf(t, dir), 20_000)
	for _, b := range bodies {
		items(t, p, b)
	}
	files, err := os.ReadDir(dir)
	if err != nil || len(files) != 2 {
		t.Errorf("the cache has %d files, %v", len(files), err)
	}
	for _, f := range files {
		if err := os.WriteFile(filepath.Join(dir, f.Name()), []byte("damaged"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	before := meter.Usage()
	p = a.OpenPacks(rootOf(t, dir), 20_000)
	for _, b := range bodies {
		items(t, p, b)
	}
	if used := meter.Usage().Sub(before); used.Gets != 4 {
		t.Errorf("with damaged files: %+v", used)
	}
}

// TestBadPacks: a pack that is gone or has other bytes, and a body that is not in it, are errors that
// name the pack.
func TestBadPacks(t *testing.T) {
	store := new(bucket.Memory)
	a := newMachine(t, newRemote(t, store))
	body := a.pack(messages("a", 3, 100))[0][0]
	a.upload()
	name := "p/" + body.Pack
	stored, err := store.Get(ctx, name)
	if err != nil {
		t.Fatal(err)
	}
	read := func(b record.Body) (err error) {
		for _, err = range a.OpenPacks(rootOf(t, t.TempDir()), 1<<20).Items(ctx, &b) {
		}
		return err
	}
	for what, change := range map[string]func(*record.Body){
		"another place":  func(b *record.Body) { b.At++ },
		"a place after":  func(b *record.Body) { b.At += 1 << 40 },
		"a greater size": func(b *record.Body) { b.Size++ },
		"fewer items":    func(b *record.Body) { b.Count-- },
		"more items":     func(b *record.Body) { b.Count++ },
	} {
		b := *body
		change(&b)
		if err := read(b); !errors.Is(err, fault.Damaged) || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", what, err)
		}
	}
	replace(t, store, name, append(bytes.Clone(stored[:len(stored)-1]), stored[len(stored)-1]^1))
	if err := read(*body); !errors.Is(err, fault.Damaged) || !strings.Contains(err.Error(), name) {
		t.Errorf("other bytes: %v", err)
	}
	replace(t, store, name, nil)
	if err := read(*body); !errors.Is(err, fault.NotFound) || !strings.Contains(err.Error(), name) {
		t.Errorf("no pack: %v", err)
	}
}

// TestPackAgain: a pack whose upload had a lost answer is not sent twice as another one, and one that
// the store has with other bytes is an error.
func TestPackAgain(t *testing.T) {
	store := new(bucket.Memory)
	a := newMachine(t, newRemote(t, store))
	body := a.pack(messages("a", 3, 100))[0][0]
	if err := store.Put(ctx, "p/"+body.Pack, []byte("other")); err != nil {
		t.Fatal(err)
	}
	if err := a.Upload(ctx); !errors.Is(err, fault.Damaged) || !strings.Contains(err.Error(), body.Pack) {
		t.Errorf("with other bytes in the store: %v", err)
	}
	stored, err := os.ReadFile(filepath.Join(a.dir, "packs", body.Pack))
	if err != nil {
		t.Fatal(err)
	}
	replace(t, store, "p/"+body.Pack, stored)
	a.upload()
	if files, _ := os.ReadDir(filepath.Join(a.dir, "packs")); len(files) > 0 {
		t.Errorf("%d packs are left in the folder", len(files))
	}
}
