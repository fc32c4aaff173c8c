package restore_test

import (
	"bytes"
	"maps"
	"math/rand/v2"
	"testing"

	"github.com/bough-dev/bough/internal/pack"
	"github.com/bough-dev/bough/internal/restore"
	"github.com/bough-dev/bough/internal/scan"
	"github.com/bough-dev/bough/internal/testsize"
)

// scanned takes a state of a folder, and returns its tree and a store with its objects.
func scanned(t *testing.T, dir string) (pack.ID, *pack.Index) {
	t.Helper()
	var data bytes.Buffer
	out := pack.NewObjectWriter(&data, 0, 0, true)
	look, err := scan.Look(t.Context(), dir, nil, scan.Options{})
	if err != nil {
		t.Fatal(err)
	}
	r, err := look.Store(t.Context(), out, func(pack.ID) bool { return false })
	if err != nil {
		t.Fatal(err)
	}
	if err := out.Flush(); err != nil {
		t.Fatal(err)
	}
	p, err := pack.New("objects", bytes.NewReader(data.Bytes()), int64(data.Len()))
	if err != nil {
		t.Fatal(err)
	}
	return r.Tree, pack.NewIndex(p)
}

// A stores reads from several stores.
type stores []*pack.Index

func (s stores) of(id pack.ID) *pack.Index {
	for _, x := range s {
		if _, ok := x.Size(id); ok {
			return x
		}
	}
	return s[0]
}

func (s stores) Size(id pack.ID) (int64, bool) { return s.of(id).Size(id) }

func (s stores) Read(ids []pack.ID, each func(pack.ID, []byte, bool) error) error {
	for _, id := range ids {
		if err := s.of(id).Read([]pack.ID{id}, each); err != nil {
			return err
		}
	}
	return nil
}

func (s stores) get(id pack.ID) (data []byte, err error) {
	err = s.Read([]pack.ID{id}, func(_ pack.ID, piece []byte, _ bool) error {
		data = append(data, piece...)
		return nil
	})
	return data, err
}

// TestScanned: after a whole restore, a scan of the folder finds the target's tree, with
// states and packs as bough stores them, and files larger than a piece.
func TestScanned(t *testing.T) {
	for seed := range uint64(testsize.Of(2, 6, 200)) {
		r := rand.New(rand.NewPCG(seed, 3))
		target := edited(r, edited(r, edited(r, state{})))
		target["large"] = "f640 " + string(bytes.Repeat([]byte("0123456789\r\n"), 200_000))
		now := edited(r, edited(r, target))
		delete(now, "large")
		before, after := newDesk(t, target), newDesk(t, now)
		want, first := scanned(t, before.dir)
		present, second := scanned(t, after.dir)
		store := stores{first, second}
		p, err := restore.Make(restore.Input{Read: store.get, Target: want, Last: present, Present: present}, restore.Options{Whole: true})
		if err != nil {
			t.Fatal(err)
		}
		report, err := restore.Apply(t.Context(), after.folder, after.journal, store, p, nil)
		if err != nil || len(report.Kept) > 0 {
			t.Fatal(err, kept(report))
		}
		if got, _ := scanned(t, after.dir); got != want {
			t.Fatalf("seed %d: the folder has %v, want %v", seed, after.read(), target)
		}
		if !maps.Equal(after.read(), target) {
			t.Fatalf("seed %d: the folder differs", seed)
		}
	}
}
