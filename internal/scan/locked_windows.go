package scan

import (
	"errors"

	"golang.org/x/sys/windows"
)

// isLocked reports whether another program has the file locked.
func isLocked(err error) bool {
	return errors.Is(err, windows.ERROR_SHARING_VIOLATION) || errors.Is(err, windows.ERROR_LOCK_VIOLATION)
}
