package scan

import (
	"encoding/binary"
	"errors"

	"github.com/bough-dev/bough/internal/crc32c"
	"github.com/bough-dev/bough/internal/pack"
)

// A Cache is what a scan found. Its bytes are: eight bytes, cacheMagic; records of the
// directories, each after those of its subdirectories; the position of the root's record, four
// bytes; the CRC-32C of all before it, four bytes. Integers are in little-endian order. A
// record is numbers and an ID, and an entry for each name, in the order in
// which the system listed them: numbers, an ID, and the name.
type Cache struct {
	data []byte
	root int
}

const (
	cacheMagic = "boughSC1"
	recordSize = 4 + 8 + 4 + 8 + len(pack.ID{})       // entries, size of the tree, files, bytes, tree
	entrySize  = 2 + 1 + 4 + 4*8 + 4 + len(pack.ID{}) // length of the name, settled, mode, stat, record, ID
	maxCache   = 1<<31 - 1
)

// errCache is the error for bytes that are no cache.
var errCache = errors.New("not a cache of a scan")

// ParseCache returns the cache with these bytes, which must not be modified, and an error if
// they are damaged.
func ParseCache(data []byte) (*Cache, error) {
	end := len(data) - 8
	if end < len(cacheMagic) || len(data) > maxCache || string(data[:len(cacheMagic)]) != cacheMagic ||
		crc32c.Of(data[:end+4]) != binary.LittleEndian.Uint32(data[end+4:]) {
		return nil, errCache
	}
	return &Cache{data[:end], int(binary.LittleEndian.Uint32(data[end:]))}, nil
}

// Tree returns the tree that the scan found.
func (c *Cache) Tree() pack.ID {
	r, _ := c.record(c.root)
	return r.id
}

// A record is that of a directory.
type record struct {
	id      pack.ID
	size    int64 // of the tree
	files   int   // in the directory and below it
	bytes   int64
	entries int
	cache   *Cache
	at      int // position of the first entry
}

// record returns the record at a position.
func (c *Cache) record(at int) (r record, ok bool) {
	if c == nil || at < len(cacheMagic) || at > len(c.data)-recordSize {
		return r, false
	}
	b := c.data[at:]
	r = record{
		entries: int(binary.LittleEndian.Uint32(b)),
		size:    int64(binary.LittleEndian.Uint64(b[4:])),
		files:   int(binary.LittleEndian.Uint32(b[12:])),
		bytes:   int64(binary.LittleEndian.Uint64(b[16:])),
		id:      pack.ID(b[24:]),
		cache:   c, at: at + recordSize,
	}
	return r, r.entries <= (len(c.data)-r.at)/entrySize
}

// A cached is an entry of a record.
type cached struct {
	name   []byte
	flag   flag
	stat   stat
	id     pack.ID
	record int // position of the record of a directory
}

// entry returns the entry at a position, and the position of the next one.
func (r *record) entry(at int) (e cached, next int, ok bool) {
	data := r.cache.data
	if at > len(data)-entrySize {
		return e, 0, false
	}
	b := data[at:]
	next = at + entrySize + int(binary.LittleEndian.Uint16(b))
	if next > len(data) {
		return e, 0, false
	}
	return cached{
		flag: flag(b[2]),
		stat: stat{
			mode:  binary.LittleEndian.Uint32(b[3:]),
			size:  int64(binary.LittleEndian.Uint64(b[7:])),
			mtime: int64(binary.LittleEndian.Uint64(b[15:])),
			ctime: int64(binary.LittleEndian.Uint64(b[23:])),
			inode: binary.LittleEndian.Uint64(b[31:]),
		},
		record: int(binary.LittleEndian.Uint32(b[39:])),
		id:     pack.ID(b[43:]),
		name:   data[at+entrySize : next],
	}, next, true
}

// A flag says what the last scan did with a name.
type flag byte

const (
	young   flag = iota // its times were too young, so it must be read again
	settled             // its times were old enough
	left                // a directory that is no part of the state
)

// A cacheWriter makes the bytes of a cache.
type cacheWriter struct{ out []byte }

func (w *cacheWriter) begin(r record) (at int) {
	at = len(w.out)
	w.out = binary.LittleEndian.AppendUint32(w.out, uint32(r.entries))
	w.out = binary.LittleEndian.AppendUint64(w.out, uint64(r.size))
	w.out = binary.LittleEndian.AppendUint32(w.out, uint32(r.files))
	w.out = binary.LittleEndian.AppendUint64(w.out, uint64(r.bytes))
	w.out = append(w.out, r.id[:]...)
	return at
}

func (w *cacheWriter) add(name string, f flag, s stat, id pack.ID, record int) {
	w.out = binary.LittleEndian.AppendUint16(w.out, uint16(len(name)))
	w.out = append(w.out, byte(f))
	w.out = binary.LittleEndian.AppendUint32(w.out, s.mode)
	for _, n := range []uint64{uint64(s.size), uint64(s.mtime), uint64(s.ctime), s.inode} {
		w.out = binary.LittleEndian.AppendUint64(w.out, n)
	}
	w.out = binary.LittleEndian.AppendUint32(w.out, uint32(record))
	w.out = append(w.out, id[:]...)
	w.out = append(w.out, name...)
}

// copy adds the record at a position of another cache, with those below it, and returns its
// new position.
func (w *cacheWriter) copy(from *Cache, at int) int {
	r, ok := from.record(at)
	if !ok {
		return 0
	}
	type patch struct{ entry, record int }
	var patches []patch
	pos := r.at
	for range r.entries {
		e, next, ok := r.entry(pos)
		if !ok {
			return 0
		}
		if e.record >= at {
			return 0 // a record comes after those below it
		}
		if e.record != 0 {
			patches = append(patches, patch{pos - at, w.copy(from, e.record)})
		}
		pos = next
	}
	begin := len(w.out)
	w.out = append(w.out, from.data[at:pos]...)
	for _, p := range patches {
		binary.LittleEndian.PutUint32(w.out[begin+p.entry+39:], uint32(p.record))
	}
	return begin
}

// finish returns the cache whose root is the record at a position, nil if it is too large.
func (w *cacheWriter) finish(root int) []byte {
	w.out = binary.LittleEndian.AppendUint32(w.out, uint32(root))
	w.out = binary.LittleEndian.AppendUint32(w.out, crc32c.Of(w.out))
	if len(w.out) > maxCache {
		return nil
	}
	return w.out
}
