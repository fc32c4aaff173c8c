//go:build unix

package main

import "syscall"

// settle waits until all earlier writes are on disk, so that no fsync waits for
// the writes of another candidate.
func settle() { syscall.Sync() }
