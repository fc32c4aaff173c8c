package sessions

import "github.com/bough-dev/bough/session"

// MinCachedSize is the size from which a file's outline is cached.
const MinCachedSize = minCachedSize

// Remembered reports whether the outline of o's file is known to be in the cache.
func Remembered(f Folder, o *session.Outline) bool { return f.memory.isCached(o.Stat) }

// Cached returns o as it is cached.
func Cached(o *session.Outline) []byte {
	data := Encode(o)
	return append(data, encodeStat(o.Stat, data)...)
}
