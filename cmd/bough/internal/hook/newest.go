package hook

import (
	"io/fs"
	"path/filepath"
	"strings"
	"time"

	"github.com/bough-dev/bough/convert"
	"github.com/bough-dev/bough/convert/transcript"
)

// newest returns the path of the newest transcript on a machine with the id of a session in its
// name, "" if there is none.
func newest(format *convert.Format, m transcript.Machine, id string) (path string) {
	if len(id) < 8 {
		return ""
	}
	var at time.Time
	for _, root := range format.Roots(m) {
		filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
			if err != nil || !d.Type().IsRegular() || !namesSession(d.Name(), id) {
				return nil
			}
			within, err := filepath.Rel(root, file)
			if err != nil || !format.Holds(filepath.ToSlash(within)) {
				return nil
			}
			if info, err := d.Info(); err == nil && info.ModTime().After(at) {
				path, at = file, info.ModTime()
			}
			return nil
		})
	}
	return path
}

// namesSession reports whether the name of a file has the id of a session, or ends with its first
// eight characters.
func namesSession(name, id string) bool {
	return strings.Contains(name, id) || strings.Contains(name, id[:8]+".")
}
