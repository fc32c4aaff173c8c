package page

import (
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/bough-dev/bough/convert"
	"github.com/bough-dev/bough/convert/transcript"
)

// A welcome is the page of an empty workspace.
type welcome struct{ Found []foundTool }

// A foundTool is a program whose conversations are on this machine.
type foundTool struct {
	Name  string // of its format
	About string
}

// maxFiles is how many files of a program are counted.
const maxFiles = 10_000

// imports returns the programs whose conversations were found in their folders.
func (c *request) imports() []foundTool {
	if c.opts.Machine == nil {
		return nil
	}
	return foundTools(*c.opts.Machine)
}

// foundTools returns the programs whose conversations are on a machine.
func foundTools(m transcript.Machine) (list []foundTool) {
	for _, f := range convert.Formats {
		n := 0
		for _, root := range f.Roots(m) {
			n += countFiles(f, root, maxFiles-n)
		}
		if n == 0 {
			continue
		}
		about := count(n, "file")
		if n >= maxFiles {
			about = "at least " + about
		}
		list = append(list, foundTool{f.Name, strings.ToUpper(f.About[:1]) + f.About[1:] + " · " + about})
	}
	return list
}

// countFiles returns how many files below a folder a program wrote, at most a limit.
// Folders that cannot be read are skipped.
func countFiles(f *convert.Format, root string, limit int) (n int) {
	filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			if d != nil && d.IsDir() {
				return fs.SkipDir
			}
			return nil
		case n >= limit:
			return fs.SkipAll
		case !d.Type().IsRegular():
			return nil
		}
		within, err := filepath.Rel(root, path)
		if err == nil && f.Holds(filepath.ToSlash(within)) {
			n++
		}
		return nil
	})
	return n
}
