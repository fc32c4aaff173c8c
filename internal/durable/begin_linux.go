//go:build !arm

package durable

import (
	"os"
	"syscall"
)

// begin asks the system to write n bytes of f to the disk, from an offset on,
// without waiting. It is a hint: what f holds is safe only after an fsync.
func begin(f *os.File, from, n int64) {
	const write = 2 // SYNC_FILE_RANGE_WRITE
	_ = syscall.SyncFileRange(int(f.Fd()), from, n, write)
}
