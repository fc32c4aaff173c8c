package pack_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/bough-dev/bough/internal/crc32c"
	"github.com/bough-dev/bough/internal/pack"
	"github.com/bough-dev/bough/internal/testsize"
)

// messages returns n items in the form of messages, of up to size bytes.
func messages(n, size int) [][]byte {
	random := rand.New(rand.NewPCG(uint64(n), uint64(size)))
	list := make([][]byte, n)
	for i := range list {
		var text strings.Builder
		for k := random.IntN(size); text.Len() < k; {
			fmt.Fprintf(&text, "word %d ", random.IntN(500))
		}
		list[i] = fmt.Appendf(nil, ",\n    {\"id\":%d,\"content\":%q}", i, text.String())
	}
	return list
}

// write returns data with items appended as frames that continue it.
func write(t testing.TB, data []byte, raw bool, items ...[]byte) []byte {
	t.Helper()
	p := open(t, data)
	offset, first := p.End(), p.Len()
	out := bytes.NewBuffer(slices.Clone(data[:offset]))
	w := pack.NewWriter(out, offset, first, raw)
	for _, it := range items {
		if err := w.Add(it); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	if w.Len() != len(items) || w.Bytes() != int64(out.Len())-offset {
		t.Fatalf("the writer counts %d items in %d bytes; want %d in %d", w.Len(), w.Bytes(), len(items), int64(out.Len())-offset)
	}
	return out.Bytes()
}

func open(t testing.TB, data []byte) *pack.Pack {
	t.Helper()
	p, err := pack.New("test.zst", bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// readable returns the items that can be read one by one, nil for others.
func readable(p *pack.Pack) [][]byte {
	list := make([][]byte, p.Len())
	for i := range list {
		p.Read(i, i+1, func(i int, item []byte) error {
			list[i] = append([]byte{}, item...)
			return nil
		})
	}
	return list
}

// checkAll checks that the pack has exactly the items want.
func checkAll(t testing.TB, p *pack.Pack, want [][]byte) {
	t.Helper()
	if p.Len() != len(want) || p.End() != p.Size() {
		t.Fatalf("the pack has %d items in %d of %d bytes; want %d items", p.Len(), p.End(), p.Size(), len(want))
	}
	next := 0
	if err := p.Read(0, p.Len(), func(i int, item []byte) error {
		if i != next || !bytes.Equal(item, want[i]) {
			t.Fatalf("item %d is %q; want item %d, %q", i, item, next, want[next])
		}
		if it := p.Items()[i]; it != (pack.Item{Size: len(item), Hash: pack.HashOf(item)}) {
			t.Fatalf("item %d is described as %v", i, it)
		}
		next++
		return nil
	}); err != nil || next != len(want) {
		t.Fatalf("Read returned %v after %d items", err, next)
	}
	if bad := p.Verify(); len(bad) > 0 {
		t.Fatal(bad[0])
	}
}

func TestRoundTrip(t *testing.T) {
	large := bytes.Repeat([]byte("a large item "), 200_000)
	noise := make([]byte, 3<<20)
	for i := range noise {
		noise[i] = byte(rand.Uint32())
	}
	for name, items := range map[string][][]byte{
		"none":   nil,
		"empty":  {{}, {}, {}},
		"small":  messages(30, 100),
		"frames": messages(testsize.Of(1000, 2000, 4000), 3000),
		"large":  {[]byte("a"), large, []byte("b"), []byte("c"), noise, large},
		"many":   slices.Repeat([][]byte{{'x'}, {}}, 40_000),
		"exact":  {large[:1<<20], large[:128<<10], large[:1<<20-128<<10], {}, large[:1<<20+1]},
	} {
		for _, raw := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/raw=%v", name, raw), func(t *testing.T) {
				p := open(t, write(t, nil, raw, items...))
				checkAll(t, p, items)
				if p.Raw() != (raw && len(items) > 0) {
					t.Errorf("Raw() is %v", p.Raw())
				}
			})
		}
	}
}

// TestAppends: packs of several appends have all items, and sums and ranges are right.
func TestAppends(t *testing.T) {
	items := messages(300, 400)
	data := write(t, nil, true, items[:100]...)
	for i := 100; i < 300; i += 50 {
		data = write(t, data, false, items[i:i+50]...)
	}
	p := open(t, data)
	checkAll(t, p, items)
	random := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		from := random.IntN(len(items) + 1)
		to := from + random.IntN(len(items)-from+1)
		want := bytes.Join(items[from:to], nil)
		var got []byte
		if err := p.Read(from, to, func(_ int, item []byte) error {
			got = append(got, item...)
			return nil
		}); err != nil || !bytes.Equal(got, want) {
			t.Fatalf("items %d to %d: %v, %q; want %q", from, to, err, got, want)
		}
		if sum, err := p.Sum(from, to); err != nil || sum != (crc32c.Sum{CRC: crc32c.Of(want), N: len(want)}) {
			t.Fatalf("the sum of %d to %d is %v, %v", from, to, sum, err)
		}
	}
	stop := errors.New("stop")
	if err := p.Read(0, 300, func(i int, _ []byte) error {
		if i == 120 {
			return stop
		}
		return nil
	}); err != stop {
		t.Errorf("Read returned %v", err)
	}
	seen := 0
	err := p.Read(290, 301, func(int, []byte) error { seen++; return nil })
	if damage, ok := errors.AsType[*pack.DamageError](err); !ok || seen != 10 || damage.From != 300 || damage.To != 301 {
		t.Errorf("items that the pack has not: %v after %d items", err, seen)
	}
	if sum, err := p.Sum(290, 301); err == nil || sum != (crc32c.Sum{}) {
		t.Errorf("the sum of items that the pack has not is %v, %v", sum, err)
	}
}

// TestPrefixes: every prefix of a pack has the items of its whole frames, and can be
// appended to.
func TestPrefixes(t *testing.T) {
	items := messages(12, 60)
	data := write(t, nil, false, items[:4]...)
	ends := map[int]int{0: 0, len(data): 4}
	for i := 4; i < 12; i += 4 {
		data = write(t, data, i == 8, items[i:i+4]...)
		ends[len(data)] = i + 4
	}
	last := 0
	for n := range len(data) + 1 {
		if _, ok := ends[n]; ok {
			last = n
		}
		p := open(t, data[:n])
		if p.Len() != ends[last] || p.End() != int64(last) || p.Size() != int64(n) {
			t.Fatalf("the first %d bytes have %d items in %d of %d bytes; want %d in %d", n, p.Len(), p.End(), p.Size(), ends[last], last)
		}
		for i, item := range readable(p) {
			if !bytes.Equal(item, items[i]) {
				t.Fatalf("item %d of the first %d bytes is %q", i, n, item)
			}
		}
		if bad := p.Verify(); (len(bad) > 0) != (n > last) || n > last && (bad[0].From != p.Len() || bad[0].Offset != int64(last)) {
			t.Fatalf("Verify of the first %d bytes returns %v", n, bad)
		}
		checkAll(t, open(t, write(t, data[:n], false, items[ends[last]:]...)), items)
	}
}

// TestFlips: with any flipped bit, each item is either right or an error, at most those of
// one frame are lost, and Verify reports them.
func TestFlips(t *testing.T) {
	items := messages(12, 60)
	data := write(t, nil, false, items[:4]...)
	data = write(t, data, true, items[4:8]...)
	data = write(t, data, false, items[8:]...)
	for at := range data {
		for _, bit := range testsize.Of([]byte{1 << (at % 8)}, []byte{1 << (at % 8), 1 << ((at + 3) % 8)}, []byte{1, 2, 4, 8, 16, 32, 64, 128}) {
			flipped := slices.Clone(data)
			flipped[at] ^= bit
			p := open(t, flipped)
			wrong := map[int]bool{}
			for i, item := range readable(p) {
				if item == nil {
					wrong[i/4] = true
				} else if !bytes.Equal(item, items[i]) {
					t.Fatalf("with byte %d changed, item %d is %q", at, i, item)
				}
			}
			if p.Len() != 12 && p.Len() != 8 {
				t.Fatalf("with byte %d changed, the pack has %d items", at, p.Len())
			}
			if len(wrong) > 1 || len(wrong) == 1 && p.Len() == 8 {
				t.Fatalf("with byte %d changed, the frames %v are lost", at, wrong)
			}
			bad := p.Verify()
			if len(bad) != 1 {
				t.Fatalf("with byte %d changed, Verify returns %v", at, bad)
			}
			for frame := range wrong {
				if bad[0].From != frame*4 || bad[0].To != frame*4+4 {
					t.Fatalf("with byte %d changed, frame %d is damaged and Verify returns items %d to %d", at, frame, bad[0].From, bad[0].To)
				}
			}
		}
	}
}

// TestResync: after a damaged header the search finds the next frame, not a header in the
// content of another pack that is an item.
func TestResync(t *testing.T) {
	inner := write(t, nil, false, messages(100, 100)...)
	var items [][]byte
	for i := range 4 {
		noise := make([]byte, 700<<10+i)
		random := rand.New(rand.NewPCG(uint64(i), 1))
		for k := range noise {
			noise[k] = byte(random.Uint32())
		}
		items = append(items, slices.Concat(noise[:300<<10], inner, bytes.Repeat([]byte("P*M\x18"), 1000), noise[300<<10:]))
	}
	data := write(t, nil, true, items...)
	damaged := 0
	for at := 0; at < len(data); at++ {
		n := bytes.Index(data[at:], []byte(`{"first":`))
		if n < 0 {
			break
		}
		at += n
		flipped := slices.Clone(data)
		flipped[at] ^= 1
		got := readable(open(t, flipped))
		missing := 0
		for i, want := range items {
			switch {
			case i >= len(got) || got[i] == nil:
				missing++
			case !bytes.Equal(got[i], want):
				t.Fatalf("with byte %d changed, item %d is another one", at, i)
			}
		}
		if missing != 1 {
			t.Errorf("with byte %d changed, %d items are missing", at, missing)
		}
		damaged++
	}
	if damaged < 8 {
		t.Errorf("only %d headers were found", damaged)
	}
}

func TestOpen(t *testing.T) {
	dir := t.TempDir()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	if _, err := pack.Open(root, "a.zst"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a pack that does not exist: %v", err)
	}
	items := messages(50, 50)
	if err := root.WriteFile("a.zst", write(t, nil, false, items...), 0o600); err != nil {
		t.Fatal(err)
	}
	p, err := pack.Open(root, "a.zst")
	if err != nil {
		t.Fatal(err)
	}
	checkAll(t, p, items)
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	if err := p.Read(0, 1, func(int, []byte) error { return nil }); err == nil {
		t.Error("a closed pack can be read")
	}
	if err := root.Mkdir("b.zst", 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := pack.Open(root, "b.zst"); err == nil {
		t.Error("a folder was opened as a pack")
	}
}
