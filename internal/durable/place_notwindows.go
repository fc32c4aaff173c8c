//go:build !windows

package durable

import (
	"errors"
	"syscall"
)

// IsNotEmpty reports whether err is that of removing a directory that is not empty.
func IsNotEmpty(err error) bool { return errors.Is(err, syscall.ENOTEMPTY) }

// IsLocked reports whether err is that of a file that another program has open or locked.
func IsLocked(error) bool { return false }

// IsOtherDisk reports whether err is that of a rename to another file system.
func IsOtherDisk(err error) bool { return errors.Is(err, syscall.EXDEV) }
