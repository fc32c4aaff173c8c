package testsize

import "golang.org/x/sys/unix"

// memory reports whether 2 GB are free in memory. In a container there are often 64 MB.
func memory() bool {
	var s unix.Statfs_t
	return unix.Statfs(shm, &s) == nil && s.Bavail*uint64(s.Bsize) >= 2<<30
}
