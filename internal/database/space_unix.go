//go:build linux || darwin

package database

import "golang.org/x/sys/unix"

// freeSpace returns how many bytes can be written to a folder, and whether that is known.
func freeSpace(dir string) (n int64, known bool) {
	var s unix.Statfs_t
	if unix.Statfs(dir, &s) != nil {
		return 0, false
	}
	return int64(s.Bavail) * int64(s.Bsize), true
}
