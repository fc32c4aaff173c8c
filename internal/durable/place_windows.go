package durable

import (
	"errors"

	"golang.org/x/sys/windows"
)

// IsNotEmpty reports whether err is that of removing a directory that is not empty.
func IsNotEmpty(err error) bool { return errors.Is(err, windows.ERROR_DIR_NOT_EMPTY) }

// IsLocked reports whether err is that of a file that another program has open or locked.
func IsLocked(err error) bool {
	return errors.Is(err, windows.ERROR_SHARING_VIOLATION) || errors.Is(err, windows.ERROR_LOCK_VIOLATION)
}

// IsOtherDisk reports whether err is that of a rename to another file system.
func IsOtherDisk(err error) bool { return errors.Is(err, windows.ERROR_NOT_SAME_DEVICE) }
