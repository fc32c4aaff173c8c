//go:build unix

package main

import "syscall"

// settle waits until what was written is on disk, so that nobody's fsync pays
// for the writes of another.
func settle() { syscall.Sync() }
