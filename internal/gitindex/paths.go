package gitindex

import (
	"sort"
	"strings"
)

// Paths are the tracked paths below one directory. They never change, and are safe for
// concurrent use. The zero value has none.
//
// Names are compared as bytes, also in a repository that ignores the case of letters.
type Paths struct {
	list []string // sorted, and all with the path of the directory before the rest
	skip int      // the length of that path, with the slash at its end
}

// Len returns the number of paths.
func (p Paths) Len() int { return len(p.list) }

// Enter returns the paths below a subdirectory. There are none if git tracks nothing in it,
// or if it is a submodule.
func (p Paths) Enter(dir string) Paths {
	begin := sort.Search(len(p.list), func(i int) bool { return p.compare(i, dir) >= 0 })
	n := sort.Search(len(p.list)-begin, func(i int) bool { return p.compare(begin+i, dir) > 0 })
	return Paths{p.list[begin : begin+n], p.skip + len(dir) + 1}
}

// compare compares a path with all those below dir: negative is before them, 0 among them,
// and positive after them.
func (p Paths) compare(i int, dir string) int {
	rest := p.list[i][p.skip:]
	if len(rest) > len(dir) {
		if c := strings.Compare(rest[:len(dir)], dir); c != 0 {
			return c
		}
		return int(rest[len(dir)]) - '/'
	}
	if c := strings.Compare(rest, dir); c != 0 {
		return c
	}
	return -1 // a file with the name of the directory sorts before what is below it
}

// Has reports whether git tracks the entry of the directory itself: a file, a symbolic link
// or a submodule.
func (p Paths) Has(name string) bool {
	i := sort.Search(len(p.list), func(i int) bool { return p.list[i][p.skip:] >= name })
	return i < len(p.list) && p.list[i][p.skip:] == name
}
