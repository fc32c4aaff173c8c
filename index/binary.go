package index

import (
	"encoding/binary"

	"github.com/bough-dev/bough/internal/durable"
)

// appendText appends a string prefixed with its length.
func appendText(data []byte, s string) []byte {
	return append(binary.AppendUvarint(data, uint64(len(s))), s...)
}

func appendIdentity(data []byte, f durable.Identity) []byte {
	for _, n := range []uint64{uint64(f.Size), uint64(f.ModTime), uint64(f.Changed), f.Inode} {
		data = binary.LittleEndian.AppendUint64(data, n)
	}
	return data
}

func flag(set bool) byte {
	if set {
		return 1
	}
	return 0
}

// A decoder decodes values in the order in which they were appended. After an error
// it returns zero values.
type decoder struct {
	data []byte
	err  error
}

func (d *decoder) bytes(n uint64) []byte {
	if d.err != nil || n > uint64(len(d.data)) {
		d.err = errCache
		return make([]byte, min(n, 8))
	}
	b := d.data[:n]
	d.data = d.data[n:]
	return b
}

func (d *decoder) byte() byte { return d.bytes(1)[0] }

func (d *decoder) uint64() uint64 { return binary.LittleEndian.Uint64(d.bytes(8)) }

func (d *decoder) int64() int64 { return int64(d.uint64()) }

func (d *decoder) uvarint() uint64 {
	v, n := binary.Uvarint(d.data)
	if n <= 0 || d.err != nil {
		d.err = errCache
		return 0
	}
	d.bytes(uint64(n))
	return v
}

func (d *decoder) text() string { return string(d.bytes(d.uvarint())) }

func (d *decoder) identity() durable.Identity {
	return durable.Identity{Size: d.int64(), ModTime: d.int64(), Changed: d.int64(), Inode: d.uint64()}
}
