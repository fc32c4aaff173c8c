package index

import (
	"encoding/binary"
	"io"
	"maps"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/bough-dev/bough/internal/crc32c"
	"github.com/bough-dev/bough/internal/durable"
	"github.com/bough-dev/bough/internal/parallel"
	"github.com/bough-dev/bough/internal/rawjson"
	"github.com/bough-dev/bough/session"
)

// packedPath is the cache of the entries of packed checkpoints.
const packedPath = session.CacheDir + "/packed"

// packedMark is the start of that file, with the version of its format.
const packedMark = "bough packed 2\n"

const (
	maxPacked = 64 << 20 // the maximum size of the file in bytes
	maxItem   = 1 << 29  // numbers of items are smaller

	// minPacked is the number of new recipes from which the file is written. It is written
	// when a sixteenth of the recipes is new, too: if each checkpoint wrote it, the time of a
	// checkpoint would grow with their number.
	minPacked = 16
)

// A PackedCache keeps the entries of packed checkpoints between calls of [Open], so that
// unchanged recipes are not read again. The zero PackedCache is empty. It is safe for
// concurrent use.
type PackedCache struct {
	mu      sync.Mutex
	entries map[string]*Entry           // by id; nil until the file is read. Neither is modified
	saved   map[string]durable.Identity // the recipes in the file as last read or written
}

// known returns the entries of unchanged recipes, by id. For a large number of recipes it
// reads the file first. If c is nil, known returns none.
func (c *PackedCache) known(root *os.Root, recipes int) map[string]*Entry {
	if c == nil {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.entries == nil && recipes >= minPacked {
		c.entries = readPackedCache(root)
		c.saved = identities(c.entries)
	}
	return c.entries
}

// keep replaces the entries.
func (c *PackedCache) keep(entries map[string]*Entry) {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.entries != nil || len(entries) > 0 {
		c.entries = entries
	}
}

// save writes the file if many recipes are not in it, or no longer exist. It skips entries for
// which exists returns false. Errors are ignored, as this is only a cache.
func (c *PackedCache) save(root *os.Root, exists func(id string) bool) {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	different := 0
	for id, e := range c.entries {
		if c.saved[id] != e.file && exists(id) {
			different++
		}
	}
	for id := range c.saved {
		if c.entries[id] == nil || !exists(id) {
			different++
		}
	}
	if different < max(minPacked, len(c.entries)/16) {
		return
	}
	entries := maps.Clone(c.entries)
	maps.DeleteFunc(entries, func(id string, _ *Entry) bool { return !exists(id) })
	if data := encodePacked(entries); len(data) <= maxPacked {
		_ = durable.Cache(root, session.CacheDir, packedPath, data)
	}
	c.saved = identities(entries)
}

func identities(entries map[string]*Entry) map[string]durable.Identity {
	files := make(map[string]durable.Identity, len(entries))
	for id, e := range entries {
		files[id] = e.file
	}
	return files
}

// isCacheable reports whether every later change of the recipe that e was read from at a
// time, or after it, gives it another identity.
func isCacheable(e *Entry, at time.Time) bool {
	return e.Err == nil && e.file.Changed > 0 && durable.Settled(e.file.ModTime, at) && durable.Settled(e.file.Changed, at)
}

func encodePacked(entries map[string]*Entry) []byte {
	data := append(make([]byte, 0, 64+1024*len(entries)), packedMark...)
	data = binary.AppendUvarint(data, uint64(len(entries)))
	for _, id := range slices.Sorted(maps.Keys(entries)) {
		e := entries[id]
		data = appendIdentity(appendText(data, id), e.file)
		entry := e.raw
		if e.fresh != nil {
			entry = e.encode(rawjson.Compact(append([]string{}, e.ContinuedTo...)))
		}
		data = appendText(data, string(entry))
		data = binary.AppendUvarint(data, uint64(e.Packed.Bytes))
		data = binary.AppendUvarint(data, uint64(len(e.Packed.Items)))
		for _, line := range slices.Sorted(maps.Keys(e.Packed.Items)) {
			data = appendText(data, line)
			runs := e.Packed.Items[line]
			data = binary.AppendUvarint(data, uint64(len(runs)))
			for _, run := range runs {
				data = binary.AppendUvarint(data, uint64(run[0]))
				data = binary.AppendUvarint(data, uint64(run[1]-run[0]))
			}
		}
	}
	return binary.LittleEndian.AppendUint32(data, crc32c.Of(data))
}

// readPackedCache returns the entries of the file, none if it cannot be used.
func readPackedCache(root *os.Root) map[string]*Entry {
	entries := map[string]*Entry{}
	f, err := durable.OpenCache(root, packedPath, maxPacked)
	if err != nil {
		return entries
	}
	defer f.Close()
	data, err := io.ReadAll(f)
	if err != nil {
		return entries
	}
	list, err := decodePacked(data)
	if err != nil {
		return entries
	}
	for _, e := range list {
		if e.Packed != nil {
			entries[e.ID] = e
		}
	}
	return entries
}

// decodePacked decodes the file. An entry that is not valid has no Packed.
func decodePacked(data []byte) ([]*Entry, error) {
	end := len(data) - 4
	if end < len(packedMark) || string(data[:len(packedMark)]) != packedMark ||
		crc32c.Of(data[:end]) != binary.LittleEndian.Uint32(data[end:]) {
		return nil, errCache
	}
	type record struct {
		id     string
		file   durable.Identity
		entry  []byte
		packed Packed
	}
	d := decoder{data: data[len(packedMark):end]}
	var records []record
	for n := d.uvarint(); n > 0 && d.err == nil; n-- {
		r := record{id: d.text(), file: d.identity(), entry: d.bytes(d.uvarint())}
		r.packed = Packed{Bytes: int64(d.uvarint()), Items: map[string][][2]int{}}
		for lines := d.uvarint(); lines > 0 && d.err == nil; lines-- {
			line := d.text()
			for runs := d.uvarint(); runs > 0 && d.err == nil; runs-- {
				from, count := d.uvarint(), d.uvarint()
				if from > maxItem || count > maxItem {
					return nil, errCache
				}
				r.packed.Items[line] = append(r.packed.Items[line], [2]int{int(from), int(from + count)})
			}
		}
		records = append(records, r)
	}
	if d.err != nil {
		return nil, d.err
	}
	list := make([]*Entry, len(records))
	parallel.Do(len(records), func(i int) {
		r := &records[i]
		e := decodeEntry(r.id, r.entry)
		if e.file.Size == r.file.Size && e.file.ModTime == r.file.ModTime {
			e.file, e.Packed = r.file, &r.packed
		}
		list[i] = e
	})
	return list, nil
}
