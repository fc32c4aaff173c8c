package pack_test

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os/exec"
	"slices"
	"testing"
	"testing/iotest"

	"github.com/bough-dev/bough/internal/pack"
	"github.com/bough-dev/bough/internal/testsize"
)

// writeObjects returns a pack of objects. Every second one is streamed.
func writeObjects(t testing.TB, data []byte, objects ...[]byte) []byte {
	t.Helper()
	p := open(t, data)
	offset, first := p.End(), p.Len()
	out := bytes.NewBuffer(slices.Clone(data[:offset]))
	w := pack.NewObjectWriter(out, offset, first, len(data)%2 == 0)
	for i, o := range objects {
		id, size := pack.IDOf(o), int64(len(o))
		var err error
		if i%2 == 0 {
			err = w.Add(id, o)
		} else {
			id, size, err = w.AddFrom(iotest.HalfReader(bytes.NewReader(o)))
		}
		if err != nil || id != pack.IDOf(o) || size != int64(len(o)) {
			t.Fatalf("object %d: %v, %v, %d bytes; want %d", i, err, id, size, len(o))
		}
	}
	if err := w.Flush(); err != nil || w.Bytes() != int64(out.Len())-offset {
		t.Fatalf("Flush returned %v after %d of %d bytes", err, w.Bytes(), int64(out.Len())-offset)
	}
	return out.Bytes()
}

// readObjects returns the content of objects.
func readObjects(x *pack.Index, ids ...pack.ID) (map[pack.ID][]byte, error) {
	got, ended := map[pack.ID][]byte{}, map[pack.ID]bool{}
	err := x.Read(ids, func(id pack.ID, piece []byte, last bool) error {
		if ended[id] || len(piece) > 1<<20 {
			return errors.New("a piece that is too large, or after the last one")
		}
		got[id] = append(got[id], piece...)
		ended[id] = last
		return nil
	})
	for id := range got {
		if !ended[id] {
			delete(got, id)
		}
	}
	return got, err
}

// checkObjects checks that every object that can be read is right.
func checkObjects(t *testing.T, p *pack.Pack) (readable map[pack.ID][]byte) {
	t.Helper()
	x := pack.NewIndex(p)
	readable = map[pack.ID][]byte{}
	for i := range p.Len() {
		p.Read(i, i+1, func(int, []byte) error { return nil })
	}
	for id := range x.All() {
		got, _ := readObjects(x, id)
		for id, data := range got {
			if size, ok := x.Size(id); pack.IDOf(data) != id || !ok || size != int64(len(data)) {
				t.Fatalf("object %v has %d bytes with the hash %v", id, len(data), pack.IDOf(data))
			}
			readable[id] = data
		}
	}
	return readable
}

// objects returns objects of all kinds of sizes, by ID, and in the order of writing.
func objects() (map[pack.ID][]byte, [][]byte) {
	const frame = 1 << 20
	noise := make([]byte, 3*frame+1)
	random := rand.New(rand.NewPCG(1, 2))
	for i := range noise {
		noise[i] = byte(random.Uint32())
	}
	var list [][]byte
	sizes := []int{0, 1, frame - 1, frame, frame + 1, 2*frame + 1}
	sizes = testsize.Of(sizes, sizes, []int{0, 1, 5, frame - 1, frame - 2, frame, frame + 1, frame + 2, 2 * frame, 2*frame + 1, 3 * frame, 3*frame - 1})
	for i, size := range sizes {
		list = append(list, noise[:size], noise[1:1+size], bytes.Repeat([]byte{byte(i)}, size))
	}
	list = append(list, messages(testsize.Of(200, 300, 2000), 3000)...)
	byID := map[pack.ID][]byte{}
	for _, o := range list {
		byID[pack.IDOf(o)] = o
	}
	return byID, list
}

func TestObjects(t *testing.T) {
	want, list := objects()
	half := len(list) / 2
	one := writeObjects(t, writeObjects(t, nil, list[:10]...), list[10:half]...)
	two := writeObjects(t, nil, list[half-5:]...)
	x := pack.NewIndex(open(t, one), open(t, two), open(t, nil))
	check := func(x *pack.Index, want map[pack.ID][]byte) {
		t.Helper()
		ids := slices.Collect(maps.Keys(want))
		got, err := readObjects(x, append(ids, ids[0])...)
		if err != nil || x.Len() != len(want) || !maps.EqualFunc(got, want, bytes.Equal) {
			t.Fatalf("%d of %d objects: %v", len(got), x.Len(), err)
		}
	}
	check(x, want)
	var used, size int64
	for i, use := range x.Uses(func(id pack.ID) bool { return id[0] < 128 }) {
		used, size = used+use.Live, size+use.Size
		if i == 2 && use != (pack.Use{}) {
			t.Errorf("an empty pack has the use %v", use)
		}
	}
	for id, o := range want {
		if id[0] < 128 {
			used -= int64(len(o))
		}
		size -= int64(len(o))
	}
	if used != 0 || size < 0 { // some objects are in two packs
		t.Errorf("the packs use %d bytes too many, of %d", used, size)
	}
	for id, o := range want {
		if got, err := x.Get(id); err != nil || !bytes.Equal(got, o) {
			t.Fatalf("Get returned %d of %d bytes: %v", len(got), len(o), err)
		}
	}
	for _, data := range [][]byte{one, two} {
		if p := open(t, data); !p.HasObjects() || len(p.Verify()) > 0 {
			t.Errorf("a pack of objects: %v, %v", p.HasObjects(), p.Verify())
		}
	}
	live := map[pack.ID][]byte{}
	for id, o := range want {
		if id[0] < 100 {
			live[id] = o
		}
	}
	var out bytes.Buffer
	if err := x.Rewrite(&out, func(id pack.ID) bool { return live[id] != nil || len(want[id]) == 0 && id[0] < 100 }); err != nil {
		t.Fatal(err)
	}
	check(pack.NewIndex(open(t, out.Bytes())), live)
	if _, err := readObjects(x, pack.ID{1}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("an object that is in no pack: %v", err)
	}
	if _, err := x.Get(pack.ID{1}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Get of an object that is in no pack: %v", err)
	}
	if err := open(t, one).Rewrite(io.Discard, nil, nil); err == nil {
		t.Error("Rewrite of a pack of objects succeeds")
	}
	stop := errors.New("stop")
	if err := x.Read(slices.Collect(maps.Keys(want)), func(pack.ID, []byte, bool) error { return stop }); err != stop {
		t.Errorf("Read returned %v", err)
	}
}

// TestObjectOfFailedReader: the parts of an object whose reader fails are no object, and the
// objects after them are read.
func TestObjectOfFailedReader(t *testing.T) {
	var out bytes.Buffer
	w := pack.NewObjectWriter(&out, 0, 0, true)
	fail := errors.New("fail")
	large := bytes.Repeat([]byte("0123456789"), 250_000)
	if _, _, err := w.AddFrom(io.MultiReader(bytes.NewReader(large), iotest.ErrReader(fail))); err != fail {
		t.Fatal(err)
	}
	for _, o := range [][]byte{[]byte("next"), large[5:]} {
		if err := w.Add(pack.IDOf(o), o); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	p := open(t, out.Bytes())
	if got := checkObjects(t, p); len(got) != 2 || len(p.Verify()) > 0 {
		t.Errorf("%d objects, %v", len(got), p.Verify())
	}
}

// TestWrongID: an object that was added with another ID is not read.
func TestWrongID(t *testing.T) {
	var out bytes.Buffer
	w := pack.NewObjectWriter(&out, 0, 0, true)
	for i, data := range [][]byte{[]byte("a"), make([]byte, 3<<20)} {
		if err := w.Add(pack.ID{byte(i + 1)}, data); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	x := pack.NewIndex(open(t, out.Bytes()))
	for i := range 2 {
		got, err := readObjects(x, pack.ID{byte(i + 1)})
		if _, ok := errors.AsType[*pack.DamageError](err); !ok || len(got) > 0 {
			t.Errorf("object %d: %v, %d objects", i, err, len(got))
		}
		if _, err := x.Get(pack.ID{byte(i + 1)}); !errors.As(err, new(*pack.DamageError)) {
			t.Errorf("Get of object %d: %v", i, err)
		}
	}
}

// TestFlippedObjects: with any changed byte, each object is either right or an error, and
// only those of one frame are lost.
func TestFlippedObjects(t *testing.T) {
	small := messages(12, 60)
	large := bytes.Repeat([]byte("0123456789"), 250_000) // in three parts
	data := writeObjects(t, nil, small[:5]...)
	data = writeObjects(t, data, large)
	data = writeObjects(t, data, small[5:]...)
	places := make([]int, len(data))
	for i := range places {
		places[i] = i
	}
	for _, at := range testsize.Sample(t, "bytes", places, testsize.Of(15, 25, len(places))) {
		flipped := slices.Clone(data)
		flipped[at] ^= 1 << (at % 8)
		p := open(t, flipped)
		got := checkObjects(t, p)
		if n := len(got); n != 12 && n != 8 && n != 6 && n != 13 {
			t.Fatalf("with byte %d changed, %d objects are readable", at, n)
		}
		if bad := p.Verify(); len(bad) != 1 {
			t.Fatalf("with byte %d changed, Verify returns %v", at, bad)
		}
	}
}

// TestObjectsProgram: zstd accepts a pack of objects and prints them.
func TestObjectsProgram(t *testing.T) {
	if _, err := exec.LookPath("zstd"); err != nil {
		t.Skip("the program zstd is not installed")
	}
	_, list := objects()
	cmd := exec.Command("zstd", "-q", "-dc")
	cmd.Stdin = bytes.NewReader(writeObjects(t, nil, list...))
	got, err := cmd.Output()
	if err != nil || !bytes.Equal(got, bytes.Join(list, nil)) {
		t.Errorf("zstd prints %d bytes: %v", len(got), err)
	}
}
