package pack_test

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"testing"

	"github.com/bough-dev/bough/internal/crc32c"
	"github.com/bough-dev/bough/internal/pack"
	"github.com/bough-dev/bough/internal/testsize"
)

func itemsOf(list [][]byte) []pack.Item {
	items := make([]pack.Item, len(list))
	for i, it := range list {
		items[i] = pack.Item{Size: len(it), Hash: pack.HashOf(it)}
	}
	return items
}

// TestAddFrom: items that are read from a stream make the same pack as items that are added
// one by one, and the sums are those of the items between the marks.
func TestAddFrom(t *testing.T) {
	list := slices.Concat(messages(700, 4000), [][]byte{bytes.Repeat([]byte(",  "), testsize.Of(1<<18, 1<<19, 1<<20)), nil}, messages(testsize.Of(20_000, 20_000, 40_000), 30))
	content := bytes.Join(list, nil)
	for _, raw := range []bool{true, false} {
		want := write(t, nil, raw, list...)
		var got bytes.Buffer
		w := pack.NewWriter(&got, 0, 0, raw)
		in := bytes.NewReader(content)
		ends := []int{0, 3, 650, 701, 702, 20_000, len(list)}
		var sums []crc32c.Sum
		from := 0
		for _, to := range ends {
			if err := w.AddFrom(in, itemsOf(list[from:to])); err != nil {
				t.Fatal(err)
			}
			var sum crc32c.Sum
			for _, it := range list[from:to] {
				sum.Add(it)
			}
			sums = append(sums, sum)
			if from = to; to < len(list) {
				w.Mark()
			}
		}
		if err := w.Flush(); err != nil || !bytes.Equal(got.Bytes(), want) || w.Len() != len(list) {
			t.Errorf("raw %v: %d bytes, want %d, %v", raw, got.Len(), len(want), err)
		}
		if !slices.Equal(w.Sums(), sums) {
			t.Errorf("raw %v: the sums are %v, want %v", raw, w.Sums(), sums)
		}
	}
}

// TestAddFromErrors: content that is too short or has another hash is an error, which names
// the item.
func TestAddFromErrors(t *testing.T) {
	list := messages(3000, 2000)
	content := bytes.Join(list, nil)
	for _, wrong := range []int{0, 1500, len(list) - 1} {
		items := itemsOf(list)
		items[wrong].Hash ^= 1
		var out bytes.Buffer
		w := pack.NewWriter(&out, 0, 7, true)
		err := w.AddFrom(bytes.NewReader(content), items)
		if flushed := w.Flush(); err == nil {
			err = flushed
		}
		var hash *pack.HashError
		if !errors.As(err, &hash) || hash.Item != 7+wrong {
			t.Errorf("wrong hash of item %d: %v", 7+wrong, err)
		}
	}
	var out bytes.Buffer
	w := pack.NewWriter(&out, 0, 0, true)
	if err := w.AddFrom(bytes.NewReader(content[:len(content)-1]), itemsOf(list)); err != io.ErrUnexpectedEOF {
		t.Errorf("too short: %v", err)
	}
	if err := w.Flush(); err != nil {
		t.Error(err)
	}
	p := open(t, out.Bytes())
	checkAll(t, p, list[:p.Len()])
	if p.Len() == 0 || p.Len() == len(list) {
		t.Errorf("%d items of %d", p.Len(), len(list))
	}
}
