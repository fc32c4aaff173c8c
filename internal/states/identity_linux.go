package states

import (
	"io/fs"

	"golang.org/x/sys/unix"
)

// identify returns the identity of a directory.
func identify(dir string) (Identity, error) {
	var st unix.Statx_t
	if err := unix.Statx(unix.AT_FDCWD, dir, 0, unix.STATX_INO|unix.STATX_BTIME, &st); err != nil {
		return Identity{}, &fs.PathError{Op: "identify", Path: dir, Err: err}
	}
	id := Identity{Device: unix.Mkdev(st.Dev_major, st.Dev_minor), File: st.Ino}
	if st.Mask&unix.STATX_BTIME != 0 {
		id.Born = st.Btime.Sec*1e9 + int64(st.Btime.Nsec)
	}
	return id, nil
}
