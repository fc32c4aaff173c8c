package durable

import (
	"io/fs"
	"time"
)

// An Identity is what the file system says of a file or folder without its
// content: while it is the same, so is the content. Where the system tells no
// more than size and modification time, that is all it is.
type Identity struct {
	Size    int64
	ModTime int64 // in nanoseconds since 1970
	Changed int64 // when anything about the file changed last, the same way
	Inode   uint64
}

// Settled reports whether a change at a time that the file system tells, in
// nanoseconds since 1970, is so old that the next change has another time. The
// clock behind such times is taken to move on within 50 ms, or within three
// seconds where they seem to have whole seconds only.
func Settled(change int64, now time.Time) bool {
	tick := 50 * time.Millisecond
	if change%int64(time.Second) == 0 {
		tick = 3 * time.Second
	}
	return now.Sub(time.Unix(0, change)) > tick
}

// Identify returns the identity of the file that info was taken of, the zero
// Identity for nil.
func Identify(info fs.FileInfo) Identity {
	if info == nil {
		return Identity{}
	}
	id := Identity{Size: info.Size(), ModTime: info.ModTime().UnixNano()}
	id.system(info)
	return id
}
