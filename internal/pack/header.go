package pack

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"strconv"

	"github.com/cespare/xxhash/v2"
	"github.com/tidwall/gjson"

	"github.com/bough-dev/bough/internal/crc32c"
)

// Hole is the content of a removed item.
const Hole = ",null"

// maxItem is the maximum size of an item.
const maxItem = 1 << 30

const (
	frameSize  = 1 << 20 // maximum size of the content of a frame with several items
	frameItems = 1 << 15 // maximum number of items in a frame
	headerSize = 1 << 20 // maximum size of a header
	maxItems   = 1 << 30 // maximum number of an item

	preambleSize = 8           // magic number and size
	sumSize      = 4           // checksum at the end of a header
	itemSize     = 1 + 8       // minimum size of an item in the table
	lineSize     = 512         // maximum size of the JSON line
	preamble     = "P*M\x18"   // magic number
	lineBegin    = `{"first":` // of every header
)

// An Item describes an item without its content.
type Item struct {
	Size int    // -1 if the header that described the item is damaged
	Hash uint64 // see HashOf; of an object the begin of its ID
}

// HashOf returns the hash of an item, its XXH64. It detects accidental changes and equal
// items, but two different items with the same hash can be constructed.
func HashOf(item []byte) uint64 { return xxhash.Sum64(item) }

// IsHole reports whether the item was removed.
func (it Item) IsHole() bool { return it.Size == len(Hole) && it.Hash == xxhash.Sum64String(Hole) }

// Lost reports whether nothing is known about the item, because its header is damaged.
func (it Item) Lost() bool { return it.Size < 0 }

// A frame is a frame as its header describes it.
type frame struct {
	offset    int64 // of the header
	header    int   // size of the header
	first     int   // number of the first item
	count     int   // of items
	bytes     int   // size of the content
	stored    int   // size of the Zstandard frame
	sum       uint32
	storedSum uint32
	raw       bool
	objects   bool // the hashes of the table are SHA-256
	part      int  // number of the part of an object, from 1; 0 if the frame has whole items
	object    ID   // of which this is the last part; else zero
}

// entries are the items of a pack.
type entries struct {
	items []Item
	ids   []ID // of the items, if they are objects or parts of some
}

func (f *frame) storedAt() int64 { return f.offset + int64(f.header) }
func (f *frame) end() int64      { return f.storedAt() + int64(f.stored) }
func (f *frame) next() int       { return f.first + f.count }

// appendHeader appends the header of f, which describes the items of e, to dst.
func appendHeader(dst []byte, f frame, e entries) []byte {
	begin := len(dst)
	dst = append(dst, preamble+"\x00\x00\x00\x00"...)
	dst = fmt.Appendf(dst, lineBegin+`%d,"offset":%d,"items":%d,"bytes":%d,"stored":%d,"crc32c":"%08x","stored_crc32c":"%08x"`,
		f.first, f.offset, len(e.items), f.bytes, f.stored, f.sum, f.storedSum)
	if f.raw {
		dst = append(dst, `,"raw":true`...)
	}
	if f.objects {
		dst = append(dst, `,"hash":"sha256"`...)
	}
	if f.part > 0 {
		dst = fmt.Appendf(dst, `,"part":%d`, f.part)
	}
	if f.object != (ID{}) {
		dst = fmt.Appendf(dst, `,"object":"%v"`, f.object)
	}
	dst = append(dst, "}\n"...)
	for i, it := range e.items {
		dst = binary.AppendUvarint(dst, uint64(it.Size))
		if f.objects {
			dst = append(dst, e.ids[i][:]...)
		} else {
			dst = binary.LittleEndian.AppendUint64(dst, it.Hash)
		}
	}
	dst = binary.LittleEndian.AppendUint32(dst, crc32c.Of(dst[begin+preambleSize:]))
	binary.LittleEndian.PutUint32(dst[begin+4:], uint32(len(dst)-begin-preambleSize))
	return dst
}

// headerLen returns the size of the header that begins with data, 0 if none does.
func headerLen(data []byte) int {
	if len(data) < preambleSize || string(data[:4]) != preamble {
		return 0
	}
	n := binary.LittleEndian.Uint32(data[4:])
	if n > headerSize {
		return 0
	}
	return preambleSize + int(n)
}

// isHeaderOf reports whether data, the begin of a header, seems to be that of a header at
// an offset. It costs little; parseHeader decides.
func isHeaderOf(data []byte, offset int64) bool {
	line, ok := bytes.CutPrefix(data[preambleSize:min(len(data), preambleSize+lineSize)], []byte(lineBegin))
	if !ok {
		return false
	}
	_, rest, _ := bytes.Cut(line, []byte(","))
	rest, ok = bytes.CutPrefix(rest, []byte(`"offset":`))
	number, _, _ := bytes.Cut(rest, []byte(","))
	return ok && string(number) == strconv.FormatInt(offset, 10)
}

// parseHeader parses a header, which was read at an offset, and appends its items to e. If
// the header is damaged, it returns the problem.
func parseHeader(data []byte, offset int64, e entries) (f frame, all entries, problem string) {
	if len(data) < preambleSize+sumSize {
		return f, e, "header too short"
	}
	body, sum := data[preambleSize:len(data)-sumSize], data[len(data)-sumSize:]
	if crc32c.Of(body) != binary.LittleEndian.Uint32(sum) {
		return f, e, "wrong checksum of the header"
	}
	line, table, ok := bytes.Cut(body, []byte("\n"))
	if !ok || !isHeaderOf(data, offset) {
		return f, e, "header of another place"
	}
	f, problem = parseLine(line)
	f.offset, f.header = offset, len(data)
	if problem == "" {
		e, problem = parseTable(table, f, e)
	}
	return f, e, problem
}

// parseLine parses the JSON line of a header and checks the limits of its numbers.
func parseLine(line []byte) (f frame, problem string) {
	var first, count, size, stored, part int64
	sums := true
	gjson.ParseBytes(line).ForEach(func(key, value gjson.Result) bool {
		switch key.Str {
		case "first":
			first = value.Int()
		case "items":
			count = value.Int()
		case "bytes":
			size = value.Int()
		case "stored":
			stored = value.Int()
		case "crc32c":
			f.sum, sums = parseSum(value.Str, sums)
		case "stored_crc32c":
			f.storedSum, sums = parseSum(value.Str, sums)
		case "raw":
			f.raw = value.Bool()
		case "hash":
			f.objects = value.Str == "sha256"
			sums = sums && f.objects
		case "part":
			part = value.Int()
		case "object":
			f.object, sums = parseID(value.Str, sums)
		}
		return true
	})
	switch {
	case !sums,
		first < 0 || first > maxItems,
		count < 1 || count > frameItems,
		size < 0 || size > maxItem || count > 1 && size > frameSize,
		stored < 1 || stored > maxStored(size),
		size > maxContent(stored),
		part < 0 || part > maxItems,
		part > 0 && (!f.objects || count > 1),
		part == 0 && f.object != (ID{}):
		return f, "invalid header"
	}
	f.first, f.count, f.bytes, f.stored, f.part = int(first), int(count), int(size), int(stored), int(part)
	return f, ""
}

func parseSum(text string, ok bool) (uint32, bool) {
	sum, err := strconv.ParseUint(text, 16, 32)
	return uint32(sum), ok && err == nil && len(text) == 8
}

func parseID(text string, ok bool) (id ID, valid bool) {
	n, err := hex.Decode(id[:], []byte(text[:min(len(text), 2*len(id))]))
	return id, ok && err == nil && n == len(id) && len(text) == 2*n
}

// parseTable appends the items of a table to e.
func parseTable(table []byte, f frame, e entries) (all entries, problem string) {
	const wrong = "invalid table of items"
	width := 8
	if f.objects {
		width = len(ID{})
	}
	all, rest := e, f.bytes
	for range f.count {
		size, n := binary.Uvarint(table)
		if n <= 0 || size > uint64(rest) || len(table) < n+width {
			return e, wrong
		}
		hash := table[n : n+width]
		all.items = append(all.items, Item{int(size), binary.LittleEndian.Uint64(hash)})
		if f.objects {
			all.ids = append(all.ids, ID(hash))
		}
		rest -= int(size)
		table = table[n+width:]
	}
	if rest != 0 || len(table) != 0 {
		return e, wrong
	}
	return all, ""
}
