package states

import (
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

// identifyOpen returns the identity of an open directory.
func identifyOpen(dir *os.File) (Identity, error) {
	var st unix.Statx_t
	if err := unix.Statx(int(dir.Fd()), "", unix.AT_EMPTY_PATH, unix.STATX_INO|unix.STATX_BTIME, &st); err != nil {
		return Identity{}, &fs.PathError{Op: "identify", Path: dir.Name(), Err: err}
	}
	id := Identity{Device: unix.Mkdev(st.Dev_major, st.Dev_minor), File: st.Ino}
	if st.Mask&unix.STATX_BTIME != 0 {
		id.Born = st.Btime.Sec*1e9 + int64(st.Btime.Nsec)
	}
	return id, nil
}
