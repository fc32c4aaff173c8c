package pack_test

import (
	"bytes"
	"testing"

	"github.com/bough-dev/bough/internal/pack"
)

// FuzzPack: items that are written, appended and rewritten are read as they were.
func FuzzPack(f *testing.F) {
	f.Add([]byte("\x03abc\x00\x05,null\x02xy"), byte(0b0101))
	f.Add(bytes.Repeat([]byte("\xffabc\x00"), 100), byte(0))
	f.Fuzz(func(t *testing.T, data []byte, choice byte) {
		var items [][]byte
		for len(data) > 0 {
			n := min(int(data[0]), len(data)-1)
			items = append(items, bytes.Repeat(data[1:1+n], 1+int(choice)*16))
			data = data[1+n:]
		}
		half := len(items) / 2
		file := write(t, nil, choice&1 == 0, items[:half]...)
		if half > 0 {
			file = append(file, file[:len(file)*int(choice)/512]...) // a torn append
		}
		file = write(t, file, choice&2 == 0, items[half:]...)
		p := open(t, file)
		checkAll(t, p, items)
		live := func(i int) bool { return i%8 != int(choice>>5) }
		checkAll(t, open(t, rewrite(t, p, live, nil)), holes(items, live))
	})
}

// FuzzOpen: whatever a file has, the items that can be read are those that its headers
// describe, if Verify finds no damage there, and it can be appended to and rewritten.
func FuzzOpen(f *testing.F) {
	items := messages(12, 60)
	data := write(f, write(f, nil, false, items[:5]...), true, items[5:]...)
	f.Add(data)
	f.Add(data[:len(data)-3])
	f.Add(data[1:])
	f.Add(bytes.Repeat([]byte("P*M\x18\x10\x00\x00\x00"), 100))
	f.Fuzz(func(t *testing.T, data []byte) {
		p := open(t, data)
		wrong := map[int]bool{}
		for _, d := range p.Verify() {
			for i := d.From; i < d.To; i++ {
				wrong[i] = true
			}
		}
		got := readable(p)
		for i, it := range p.Items() {
			if !wrong[i] && (it.Lost() || it != (pack.Item{Size: len(got[i]), Hash: pack.HashOf(got[i])})) {
				t.Fatalf("item %d is %q, and is described as %v", i, got[i], it)
			}
		}
		q := open(t, write(t, data, false, []byte("next")))
		if q.Len() != p.Len()+1 || string(readable(q)[p.Len()]) != "next" {
			t.Fatalf("after an append to %d items there are %d", p.Len(), q.Len())
		}
		live := func(i int) bool { return !wrong[i] }
		checkAll(t, open(t, rewrite(t, p, live, nil)), holes(got, live))
	})
}
