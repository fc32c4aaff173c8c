//go:build !arm

package durable

import (
	"os"
	"syscall"
)

// startWriteback starts writeback of n bytes of f from an offset, without waiting. It is a
// hint: data is durable only after an fsync.
func startWriteback(f *os.File, from, n int64) {
	const write = 2 // SYNC_FILE_RANGE_WRITE
	_ = syscall.SyncFileRange(int(f.Fd()), from, n, write)
}
