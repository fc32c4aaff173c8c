//go:build unix && !linux && !darwin && !freebsd && !netbsd

package states

import (
	"io/fs"
	"os"
	"syscall"
)

// identifyOpen returns the identity of an open directory.
func identifyOpen(dir *os.File) (Identity, error) {
	info, err := dir.Stat()
	if err != nil {
		return Identity{}, err
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return Identity{}, &fs.PathError{Op: "identify", Path: dir.Name(), Err: fs.ErrInvalid}
	}
	return Identity{Device: uint64(st.Dev), File: uint64(st.Ino)}, nil
}
