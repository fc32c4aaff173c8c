//go:build unix

package owner

import (
	"os"
	"strconv"
	"syscall"
)

func other(path string) (bool, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return false, err
	}
	return otherID(int(info.Sys().(*syscall.Stat_t).Uid), os.Geteuid(), os.Getenv("SUDO_UID")), nil
}

// otherID reports whether owner is neither user nor, if user is root, the user who
// called sudo.
func otherID(owner, user int, sudo string) bool {
	if owner == user {
		return false
	}
	caller, err := strconv.Atoi(sudo)
	return user != 0 || err != nil || owner != caller
}
