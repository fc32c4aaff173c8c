package scan

import (
	"context"
	"errors"
	"io/fs"
	"strings"
)

// A stat is the metadata of a file that identifies what it holds.
type stat struct {
	size         int64
	mtime, ctime int64 // in nanoseconds since 1970; ctime is 0 where the system has none
	inode        uint64
	mode         uint32 // type and permission bits as in st_mode of Unix
}

// The types of st_mode.
const (
	typeMask    = 0o170000
	typeFile    = 0o100000
	typeDir     = 0o040000
	typeLink    = 0o120000
	typeSpecial = 0o140000 // and others
)

func (s stat) kind() uint32      { return s.mode & typeMask }
func (s stat) perm() fs.FileMode { return fs.FileMode(s.mode & 0o777) }

// before reports whether the file last changed before a time.
func (s stat) before(t int64) bool { return s.mtime < t && s.ctime < t }

// A listed is a name in a directory. kind is 0 if the system does not say.
type listed struct {
	name string
	kind uint32
}

// openPath opens a directory below root, whose path has slashes between names, without
// following a link. root is never closed.
func openPath(root *folder, path string) (*folder, error) {
	at := root
	if path == "" {
		return root.again()
	}
	for name := range strings.SplitSeq(path, "/") {
		next, err := at.open(name)
		if at != root {
			at.close()
		}
		if err != nil {
			return nil, err
		}
		at = next
	}
	return at, nil
}

// errTooDeep is the error for a directory that is nested too deeply.
var errTooDeep = errors.New("nested too deeply")

// reasonOf returns why a path with this error is omitted, and "" if it no longer exists. ok
// is false for an error that is not about the path.
func reasonOf(err error) (why Reason, ok bool) {
	_, sink := errors.AsType[sinkError](err)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", true
	case sink, isExhausted(err), errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return "", false
	case isLocked(err):
		return Locked, true
	case isOtherType(err):
		return Unsettled, true
	}
	return Unreadable, true
}
