package testsize

import "golang.org/x/sys/unix"

// memory reports whether 2 GB are free in memory, 8 for a full run. In a container there are often
// 64 MB.
func memory() bool {
	const giga = 1 << 30
	var s unix.Statfs_t
	if unix.Statfs(shm, &s) != nil {
		return false
	}
	free := s.Bavail * uint64(s.Bsize)
	return free >= 8*giga || free >= 2*giga && !Full()
}
