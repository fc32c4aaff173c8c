package durable

import (
	"io/fs"
	"time"
)

// An Identity identifies one state of a file or folder by metadata of the file
// system: while it is equal, so is the content. On systems that report only size
// and modification time the other fields are zero.
type Identity struct {
	Size    int64
	ModTime int64 // in nanoseconds since 1970
	Changed int64 // time of the last change of the file or its attributes, in nanoseconds since 1970
	Inode   uint64
}

// Settled reports whether a time of change, in nanoseconds since 1970, is so old
// that the next change gets another time. It assumes that the file system's clock
// advances at least every 50 ms, or every three seconds if the time is a multiple
// of a second.
func Settled(change int64, now time.Time) bool {
	tick := 50 * time.Millisecond
	if change%int64(time.Second) == 0 {
		tick = 3 * time.Second
	}
	return now.Sub(time.Unix(0, change)) > tick
}

// Identify returns the identity of the file of info, the zero Identity for nil.
func Identify(info fs.FileInfo) Identity {
	if info == nil {
		return Identity{}
	}
	id := Identity{Size: info.Size(), ModTime: info.ModTime().UnixNano()}
	id.system(info)
	return id
}
