// Package owner detects files that belong to another user.
package owner

import (
	"errors"
	"io/fs"
)

// Other reports whether the file at path, or the symbolic link there, belongs to another
// user than the one who runs this program. For root under sudo the user who called sudo
// is no other user. A file that does not exist belongs to nobody else. On Windows nothing is
// checked.
func Other(path string) (bool, error) {
	other, err := other(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return other, err
}
