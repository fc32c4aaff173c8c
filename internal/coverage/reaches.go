package coverage

import (
	"os"
	"path"
	"path/filepath"
	"slices"

	"github.com/bough-dev/bough/internal/scan"
)

// A Reach answers which directories can have files of a state, as they are now. It is not safe
// for concurrent use.
type Reach struct {
	c     *Coverage
	rules map[string]scan.Rules // by path; nil if there are none
}

// Reach returns the reach of c.
func (c *Coverage) Reach() *Reach { return &Reach{c, map[string]scan.Rules{}} }

// Has reports whether a directory, by its path in the folder with slashes, can have files of a
// state.
func (r *Reach) Has(dir string) bool { return r.at(dir) != nil }

func (r *Reach) at(dir string) scan.Rules {
	if dir == "." {
		dir = ""
	}
	known, ok := r.rules[dir]
	if !ok {
		if dir == "" {
			known = r.c.Rules().Enter(".", r.present(dir))
		} else if above := r.at(path.Dir(dir)); above != nil && above.Judge(path.Base(dir), true) == scan.Hold {
			known = above.Enter(path.Base(dir), r.present(dir))
		}
		r.rules[dir] = known
	}
	return known
}

// present returns the sources of rules in a directory.
func (r *Reach) present(dir string) (found []scan.Source) {
	full := filepath.Join(r.c.root.path, filepath.FromSlash(dir))
	for _, name := range r.c.root.Sources() {
		info, err := os.Lstat(filepath.Join(full, name))
		if err != nil {
			continue
		}
		s := scan.Source{Name: name, IsDir: info.IsDir()}
		if info.Mode().IsRegular() && info.Size() <= maxSource {
			s.Data, _ = os.ReadFile(filepath.Join(full, name))
		}
		found = append(found, s)
	}
	return found
}

// IsSource reports whether the rules depend on files with a name.
func (c *Coverage) IsSource(name string) bool { return slices.Contains(c.root.Sources(), name) }
