// Package owner detects files that belong to another user.
package owner

import (
	"errors"
	"io/fs"
)

// Other reports whether the file at path, or the symbolic link there, belongs to
// another user than that of this process. For root under sudo, the user who called
// sudo is not another user. Other returns false for a file that does not exist, and
// on Windows.
func Other(path string) (bool, error) {
	other, err := other(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return other, err
}
