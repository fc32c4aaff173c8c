package durable

import "io/fs"

// An Identity is what the file system says of a file or folder without its
// content: while it is the same, so is the content. Where the system tells no
// more than size and modification time, that is all it is.
type Identity struct {
	Size    int64
	ModTime int64 // in nanoseconds since 1970
	Changed int64 // when anything about the file changed last, the same way
	Inode   uint64
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
