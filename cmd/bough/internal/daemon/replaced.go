package daemon

import (
	"os"

	"github.com/bough-dev/bough/internal/durable"
)

// A Binary is the file of a program, by which its replacement is noticed.
type Binary struct {
	Path string
	was  durable.Identity // when the process began
	seen durable.Identity // at the last look
}

// BinaryAt returns the file of this process, to which path leads. If that is a symbolic link,
// the file is also replaced when the link leads to another one.
func BinaryAt(path string) (Binary, error) {
	info, err := os.Stat(path)
	if err != nil {
		return Binary{}, err
	}
	id := programIdentity(info)
	return Binary{path, id, id}, nil
}

// Replaced reports whether the file is another one than at the beginning, complete:
// the same at two looks in a row, not empty, and executable. A file that is gone is
// not replaced.
func (b *Binary) Replaced() bool {
	info, err := os.Stat(b.Path)
	if err != nil || !info.Mode().IsRegular() || info.Size() == 0 || !executable(info) {
		return false
	}
	now := programIdentity(info)
	settled := now == b.seen
	b.seen = now
	return settled && now != b.was
}

// Keep makes the present file the one of the process, because it cannot be started.
func (b *Binary) Keep() { b.was = b.seen }

// programIdentity returns the identity of a program without the time of its last change
// of attributes: other links to the file and permissions do not matter.
func programIdentity(info os.FileInfo) durable.Identity {
	id := durable.Identify(info)
	id.Changed = 0
	return id
}
