package pack

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"strconv"

	"github.com/cespare/xxhash/v2"
	"github.com/tidwall/gjson"

	"github.com/bough-dev/bough/internal/crc32c"
)

// Hole is the content of a removed item.
const Hole = ",null"

// MaxItem is the maximum size of an item.
const MaxItem = 1 << 30

const (
	frameSize  = 1 << 20 // maximum size of the content of a frame with several items
	frameItems = 1 << 15 // maximum number of items in a frame
	headerSize = 1 << 20 // maximum size of a header

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
	Hash uint64 // see HashOf
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
	items     int
	bytes     int // size of the content
	stored    int // size of the Zstandard frame
	sum       uint32
	storedSum uint32
	raw       bool
}

func (f *frame) storedAt() int64 { return f.offset + int64(f.header) }
func (f *frame) end() int64      { return f.storedAt() + int64(f.stored) }
func (f *frame) next() int       { return f.first + f.items }

// appendHeader appends the header of f, which describes items, to dst.
func appendHeader(dst []byte, f frame, items []Item) []byte {
	begin := len(dst)
	dst = append(dst, preamble+"\x00\x00\x00\x00"...)
	dst = fmt.Appendf(dst, lineBegin+`%d,"offset":%d,"items":%d,"bytes":%d,"stored":%d,"crc32c":"%08x","stored_crc32c":"%08x"`,
		f.first, f.offset, len(items), f.bytes, f.stored, f.sum, f.storedSum)
	if f.raw {
		dst = append(dst, `,"raw":true`...)
	}
	dst = append(dst, "}\n"...)
	for _, it := range items {
		dst = binary.AppendUvarint(dst, uint64(it.Size))
		dst = binary.LittleEndian.AppendUint64(dst, it.Hash)
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

// parseHeader parses a header, which was read at an offset, and appends its items to
// items. If the header is damaged, it returns the problem.
func parseHeader(data []byte, offset int64, items []Item) (f frame, list []Item, problem string) {
	if len(data) < preambleSize+sumSize {
		return f, items, "header too short"
	}
	body, sum := data[preambleSize:len(data)-sumSize], data[len(data)-sumSize:]
	if crc32c.Of(body) != binary.LittleEndian.Uint32(sum) {
		return f, items, "wrong checksum of the header"
	}
	line, table, ok := bytes.Cut(body, []byte("\n"))
	if !ok || !isHeaderOf(data, offset) {
		return f, items, "header of another place"
	}
	f, problem = parseLine(line)
	f.offset, f.header = offset, len(data)
	if problem == "" {
		items, problem = parseTable(table, f, items)
	}
	return f, items, problem
}

// parseLine parses the JSON line of a header and checks the limits of its numbers.
func parseLine(line []byte) (f frame, problem string) {
	var first, count, size, stored int64
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
		}
		return true
	})
	switch {
	case !sums,
		first < 0 || first > 1<<48,
		count < 1 || count > frameItems,
		size < 0 || size > MaxItem || count > 1 && size > frameSize,
		stored < 1 || stored > maxStored(size),
		size > maxContent(stored):
		return f, "invalid header"
	}
	f.first, f.items, f.bytes, f.stored = int(first), int(count), int(size), int(stored)
	return f, ""
}

func parseSum(text string, ok bool) (uint32, bool) {
	sum, err := strconv.ParseUint(text, 16, 32)
	return uint32(sum), ok && err == nil && len(text) == 8
}

// parseTable appends the items of a table to items. It keeps the table of f's items and
// bytes only.
func parseTable(table []byte, f frame, items []Item) ([]Item, string) {
	before, rest := len(items), f.bytes
	for range f.items {
		size, n := binary.Uvarint(table)
		if n <= 0 || size > uint64(rest) || len(table) < n+8 {
			return items[:before], "invalid table of items"
		}
		items = append(items, Item{int(size), binary.LittleEndian.Uint64(table[n:])})
		rest -= int(size)
		table = table[n+8:]
	}
	if rest != 0 || len(table) != 0 {
		return items[:before], "invalid table of items"
	}
	return items, ""
}
