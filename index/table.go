package index

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"hash/fnv"
	"os"
	"slices"
	"sort"

	"github.com/bough-dev/bough/internal/crc32c"
	"github.com/bough-dev/bough/internal/durable"
)

// A table is a file of entries with look-ups by name that do not read the other
// entries. It holds in this order: the names of all sessions, each as its hash and
// the offset of the entry, sorted; the ids, each followed by a zero byte; the
// entries. All integers are little-endian.
type table struct {
	layout
	*blocks
}

// A layout holds the end offsets of the parts of a table.
type layout struct {
	Names, IDs, Size int64
	Sum              uint32 // CRC-32C of the checksums of the blocks
}

// postingSize is the size of one name: hash and offset.
const postingSize = 16

func (n name) hash() uint64 {
	h := fnv.New64a()
	h.Write(append([]byte{n.kind}, n.text...))
	return h.Sum64()
}

// buildTable returns the table of entries and the checksums of its blocks.
func buildTable(list []*Entry) (l layout, data, sums []byte) {
	type place struct {
		hash uint64
		at   int64 // among the records
	}
	var places []place
	var ids, records []byte
	for _, e := range list {
		at := int64(len(records))
		for _, n := range append(e.names(), name{ownID, e.ID}) {
			places = append(places, place{n.hash(), at})
		}
		ids = append(append(ids, e.ID...), 0)
		records = appendRecord(records, e)
	}
	slices.SortFunc(places, func(a, b place) int { return cmp.Or(cmp.Compare(a.hash, b.hash), cmp.Compare(a.at, b.at)) })
	l.Names = int64(len(places) * postingSize)
	l.IDs = l.Names + int64(len(ids))
	l.Size = l.IDs + int64(len(records))
	data = make([]byte, 0, l.Size)
	for _, p := range places {
		data = binary.LittleEndian.AppendUint64(data, p.hash)
		data = binary.LittleEndian.AppendUint64(data, uint64(l.IDs+p.at))
	}
	data = append(append(data, ids...), records...)
	sums = sumsOf(data)
	l.Sum = crc32c.Of(sums)
	return l, data, sums
}

// appendRecord appends an entry: its length, the identity of its file, whether that
// cannot be used, the id, and the entry as in the index.
func appendRecord(data []byte, e *Entry) []byte {
	start := len(data)
	data = append(data, 0, 0, 0, 0)
	data = appendIdentity(data, e.file)
	data = append(data, flag(e.Err != nil))
	data = appendText(data, e.ID)
	data = append(data, e.bytes()...)
	binary.LittleEndian.PutUint32(data[start:], uint32(len(data)-start-4))
	return data
}

// openTable opens the table with the layout l.
func openTable(root *os.Root, l layout) (*table, error) {
	if l.Names < 0 || l.Names%postingSize != 0 || l.IDs < l.Names || l.Size < l.IDs {
		return nil, errCache
	}
	b, err := openBlocks(root, tablePath, l.Size, l.Sum)
	if err != nil {
		return nil, err
	}
	return &table{l, b}, nil
}

// find returns the offsets of the entries that have the name n, and possibly of
// others.
func (t *table) find(n name) (places []int64, err error) {
	want, count := n.hash(), int(t.Names/postingSize)
	name := func(i int) (hash uint64, at int64) {
		data, e := t.read(int64(i)*postingSize, postingSize)
		if e != nil {
			err = e
			return 0, 0
		}
		return binary.LittleEndian.Uint64(data), int64(binary.LittleEndian.Uint64(data[8:]))
	}
	i := sort.Search(count, func(i int) bool { hash, _ := name(i); return hash >= want })
	for ; i < count && err == nil; i++ {
		hash, at := name(i)
		if hash != want {
			break
		}
		places = append(places, at)
	}
	return places, err
}

// record returns the entry at an offset, not decoded.
func (t *table) record(at int64) (r record, err error) {
	if at < t.IDs {
		return r, errCache
	}
	size, err := t.read(at, 4)
	if err != nil {
		return r, err
	}
	data, err := t.read(at+4, int64(binary.LittleEndian.Uint32(size)))
	if err != nil {
		return r, err
	}
	d := decoder{data: data}
	r.file = d.identity()
	r.unusable = d.byte() != 0
	r.id = d.text()
	r.entry = d.data
	return r, d.err
}

// A record is an entry in a table.
type record struct {
	id       string
	file     durable.Identity
	unusable bool
	entry    []byte
}

// lookUp returns the record of a session, or nil.
func (t *table) lookUp(id string) (*record, error) {
	places, err := t.find(name{ownID, id})
	if err != nil {
		return nil, err
	}
	for _, at := range places {
		if r, err := t.record(at); err != nil || r.id == id {
			return &r, err
		}
	}
	return nil, nil
}

// withName returns the sessions that have the name n, and possibly others.
func (t *table) withName(n name) ([]string, error) {
	places, err := t.find(n)
	if err != nil {
		return nil, err
	}
	var ids []string
	for _, at := range places {
		r, err := t.record(at)
		if err != nil {
			return nil, err
		}
		ids = append(ids, r.id)
	}
	return ids, nil
}

// containing returns the sessions whose id contains piece.
func (t *table) containing(piece string) ([]string, error) {
	data, err := t.read(t.Names, t.IDs-t.Names)
	if err != nil {
		return nil, err
	}
	var ids []string
	for at := 0; at < len(data); {
		i := bytes.Index(data[at:], []byte(piece))
		if i < 0 {
			break
		}
		start := bytes.LastIndexByte(data[:at+i], 0) + 1
		end := bytes.IndexByte(data[at+i:], 0)
		if end < 0 {
			return nil, errCache
		}
		at += i + end + 1
		ids = append(ids, string(data[start:at-1]))
	}
	return ids, nil
}
