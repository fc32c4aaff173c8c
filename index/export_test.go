package index

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"
	"maps"
	"math"
	"os"
	"slices"
	"time"

	"github.com/bough-dev/bough/internal/crc32c"
	"github.com/bough-dev/bough/internal/durable"
	"github.com/bough-dev/bough/session"
)

const (
	LookPath  = lookPath
	TablePath = tablePath
)

// A Limits opens an index with other limits: the bytes of the index and of its journal, the
// sessions of the index and the lines of its journal. Zero means no limit.
type Limits struct{ Index, Journal, Sessions, Lines int64 }

func (l Limits) limits() limits {
	return limits{
		sessions: cmp.Or(l.Sessions, math.MaxInt64),
		bytes:    cmp.Or(l.Index, math.MaxInt64),
		lines:    cmp.Or(l.Lines, math.MaxInt64),
		journal:  cmp.Or(l.Journal, math.MaxInt64),
	}
}

func (l Limits) Open(root *os.Root, aliases map[string]string) (*Index, error) {
	return open(root, aliases, nil, nil, l.limits())
}

func (l Limits) Load(root *os.Root, aliases map[string]string) (*Index, error) {
	x := newIndex(root, aliases, nil)
	x.limits = l.limits()
	return x, x.load()
}

// Asked reports whether x has not examined every session.
func (x *Index) Asked() bool { return x.last != nil }

// Forge writes a cache to root: a table of these bytes, with the given end offsets
// of names and ids, and a look that fits it.
func Forge(root *os.Root, names, ids int64, data []byte) error {
	old, err := root.ReadFile(lookPath)
	if err != nil {
		return err
	}
	l, err := decodeLook(old)
	if err != nil {
		return err
	}
	sums := sumsOf(data)
	l.layout = layout{names, ids, int64(len(data)), crc32c.Of(sums)}
	if err := durable.Cache(root, session.CacheDir, tablePath, data, sums); err != nil {
		return err
	}
	return durable.Cache(root, session.CacheDir, lookPath, l.encode())
}

// TableOf returns the cached table in root in the form of [Forge]'s arguments.
func TableOf(root *os.Root) (names, ids int64, data []byte, err error) {
	old, err := root.ReadFile(lookPath)
	if err != nil {
		return 0, 0, nil, err
	}
	l, err := decodeLook(old)
	if err != nil {
		return 0, 0, nil, err
	}
	data, err = root.ReadFile(tablePath)
	return l.layout.Names, l.layout.IDs, data[:l.layout.Size], err
}

// Relook decodes data, a look without its checksum, and encodes it again.
func Relook(data []byte) ([]byte, error) {
	l, err := decodeLook(binary.LittleEndian.AppendUint32(data, crc32c.Of(data)))
	if err != nil {
		return nil, err
	}
	again := l.encode()
	return again[:len(again)-4], nil
}

// Decode decodes an index file and returns a summary of each entry.
func Decode(data []byte) (map[string]string, error) {
	stored, err := decode(data)
	entries := map[string]string{}
	for id, e := range stored {
		entries[id] = fmt.Sprint(e.Meta, e.CreatedAt, e.LastActive, e.MessageCount, e.HeaderCount, e.file, string(e.raw))
	}
	return entries, err
}

// PackedPath is the cache of the entries of packed checkpoints.
const PackedPath = packedPath

// IsCacheable reports whether the entry of a recipe that is read at a time is cached.
func IsCacheable(file durable.Identity, at time.Time) bool {
	return isCacheable(&Entry{file: file}, at)
}

// ForgePacked replaces bytes in the cache of packed checkpoints, whose checksum remains
// right.
func ForgePacked(root *os.Root, from, to string) error {
	data, err := root.ReadFile(packedPath)
	if err != nil {
		return err
	}
	data = bytes.ReplaceAll(data[:len(data)-4], []byte(from), []byte(to))
	return durable.Cache(root, session.CacheDir, packedPath, binary.LittleEndian.AppendUint32(data, crc32c.Of(data)))
}

// PackedMark is the start of the cache of packed checkpoints.
const PackedMark = packedMark

// DecodePacked decodes a cache of packed checkpoints without its checksum, and encodes and
// decodes the result again.
func DecodePacked(data []byte) (list, again []string, err error) {
	decode := func(data []byte) (map[string]*Entry, []string, error) {
		entries, err := decodePacked(data)
		known := map[string]*Entry{}
		for _, e := range entries {
			if e.Packed != nil {
				known[e.ID] = e
			}
		}
		var list []string
		for _, id := range slices.Sorted(maps.Keys(known)) {
			e := known[id]
			list = append(list, fmt.Sprint(id, e.file, *e.Packed, e.Meta, e.MessageCount, e.Opening, e.Setting, e.CreatedAt, e.LastActive))
		}
		return known, list, err
	}
	known, list, err := decode(binary.LittleEndian.AppendUint32(data[:len(data):len(data)], crc32c.Of(data)))
	if err != nil {
		return nil, nil, err
	}
	_, again, err = decode(encodePacked(known))
	return list, again, err
}
