package sessions

import (
	"slices"

	"github.com/bough-dev/bough/internal/durable"
	"github.com/bough-dev/bough/internal/rawjson"
	"github.com/bough-dev/bough/session"
)

// MinCachedSize is the size from which a file's outline is cached.
const MinCachedSize = minCachedSize

// Remembered reports whether the outline of o's file is known to be in the cache.
func Remembered(f Folder, o *session.Outline) bool { return f.memory.isCached(o.Stat) }

// Cached returns o as it is cached.
func Cached(o *session.Outline) []byte {
	data := Encode(o)
	return append(data, encodeStat(o.Stat, data)...)
}

// MaxDecoded is the maximum size of the cache files whose outlines are kept in memory.
const MaxDecoded = maxDecoded

// Keep keeps an outline in memory as that of a cache file of so many bytes, and returns the
// number of outlines that are kept and the size of their cache files.
func Keep(m *Memory, id string, size int64) (n int, total int64) {
	m.keep(durable.Identity{Size: size}, &session.Outline{ID: id})
	return len(m.decoded), m.size
}

// MaxItems is the number of items of a pack that recipes can name.
const MaxItems = maxItems

// Seal returns a recipe with the right checksum, data if it is none.
func Seal(data []byte) []byte {
	if rawjson.Check(data) != nil {
		return data
	}
	members, _ := rawjson.Members(data, rawjson.Root(data))
	if packed, ok := rawjson.Find(members, "packed"); ok {
		members, _ = rawjson.Members(data, packed)
	}
	sum, ok := rawjson.Find(members, "recipe_crc32c")
	if !ok {
		return data
	}
	return slices.Concat(data[:sum.Start], []byte(`"`+recipeSum(data, sum)+`"`), data[sum.End:])
}
