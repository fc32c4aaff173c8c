//go:build darwin || freebsd || netbsd

package states

import (
	"io/fs"
	"os"
	"syscall"
)

// identify returns the identity of a directory.
func identify(dir string) (Identity, error) {
	info, err := os.Stat(dir)
	if err != nil {
		return Identity{}, err
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return Identity{}, &fs.PathError{Op: "identify", Path: dir, Err: fs.ErrInvalid}
	}
	return Identity{uint64(st.Dev), uint64(st.Ino), max(st.Birthtimespec.Nano(), 0)}, nil
}
