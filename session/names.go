package session

import (
	"time"

	"github.com/bough-dev/bough/internal/sessionid"
)

const (
	// Dir is the folder of the session files in a workspace.
	Dir = "conversations"
	// IndexFile is the name of the index file in Dir.
	IndexFile = sessionid.IndexStem + ".json"
	// IndexPath is the path of the index, relative to the workspace.
	IndexPath = Dir + "/" + IndexFile
	// CacheDir is the workspace folder of the caches of session files. All of it may be
	// deleted.
	CacheDir = ".bough/cache"
)

// FileName returns the path of a session's file, relative to the workspace.
func FileName(id string) string { return Dir + "/" + id + ".json" }

// A Stat identifies one state of a session file: a file with an equal Stat is
// unchanged. On systems that report only size and modification time the other
// fields are zero.
type Stat struct {
	ID      string // the file's stem, whether or not it is a valid id
	Size    int64
	ModTime time.Time
	Changed int64 // time of the last change of the file or its attributes, in nanoseconds since 1970
	Inode   uint64
}
