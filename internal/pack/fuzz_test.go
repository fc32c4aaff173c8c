package pack_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"testing"

	"github.com/bough-dev/bough/internal/crc32c"
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
	f.Fuzz(checkOpen)
}

// FuzzHeader: the law of FuzzOpen, for files with headers whose checksums are right.
func FuzzHeader(f *testing.F) {
	f.Add([]byte(`{"first":0,"offset":0,"items":1,"bytes":5,"stored":18,"crc32c":"27e1a748","stored_crc32c":"9c262bec"}`+"\n\x05\x01\x02\x03\x04\x05\x06\x07\x08"),
		[]byte("\x28\xb5\x2f\xfd\x80\x50\x05\x00\x00\x00\x29\x00\x00,null"))
	for _, numbers := range []string{`"items":1,"bytes":1073741824,"stored":40000`, `"items":32768,"bytes":0,"stored":12`, `"items":9999999999,"bytes":-1,"stored":1e30`} {
		f.Add([]byte(`{"first":0,"offset":0,`+numbers+`,"crc32c":"00000000","stored_crc32c":"00000000"}`+"\n"), make([]byte, 40000))
	}
	f.Add([]byte(`{"first":281474976710656,"offset":0,"items":1,"bytes":1,"stored":1,"crc32c":"00000000","stored_crc32c":"00000000"}`+"\n\x01abcdefgh"), []byte("a"))
	object := sha256.Sum256([]byte(",null"))
	f.Add(append([]byte(`{"first":0,"offset":0,"items":1,"bytes":5,"stored":18,"crc32c":"27e1a748","stored_crc32c":"9c262bec","hash":"sha256","part":1,"object":"`+
		hex.EncodeToString(object[:])+"\"}\n\x05"), object[:]...), []byte("\x28\xb5\x2f\xfd\x80\x50\x05\x00\x00\x00\x29\x00\x00,null"))
	f.Fuzz(func(t *testing.T, header, frame []byte) {
		data := []byte("P*M\x18")
		data = binary.LittleEndian.AppendUint32(data, uint32(len(header)+4))
		data = append(data, header...)
		data = binary.LittleEndian.AppendUint32(data, crc32c.Of(header))
		checkOpen(t, append(data, frame...))
	})
}

// checkOpen checks the law of FuzzOpen.
func checkOpen(t *testing.T, data []byte) {
	p := open(t, data)
	wrong := map[int]bool{}
	for _, d := range p.Verify() {
		for i := d.From; i < d.To; i++ {
			wrong[i] = true
		}
	}
	got := readable(p)
	if p.HasObjects() {
		checkObjects(t, p)
		return
	}
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
}
