package watch

import (
	"errors"
	"syscall"
)

// reason returns why the system refuses to watch, in words: its own text for a limit is that of
// a full disk or of open files.
func reason(err error) string {
	switch {
	case errors.Is(err, syscall.ENOSPC):
		return "the limit of watched folders is reached (on Linux, the setting fs.inotify.max_user_watches)"
	case errors.Is(err, syscall.EMFILE):
		return "the limit of watchers or of open files is reached (on Linux, the setting fs.inotify.max_user_instances)"
	}
	return err.Error()
}
