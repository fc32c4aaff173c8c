// Package gitconfig reads configuration files of git, with the files that they include. It
// never writes.
//
// The syntax is that of git-config(1) as git 2.45 reads it, which keeps white space inside of
// a value. A file with a zero byte is refused. A later value of a variable overrides an
// earlier one.
//
// Includes are read where they are. The conditions gitdir, gitdir/i, worktree, worktree/i,
// onbranch and hasconfig:remote.*.url are decided as git does; others are false. A path that
// begins with ~/ is below the user's home. Paths that begin with ~NAME/ or %(prefix)/ cannot
// be expanded, and are an error.
package gitconfig

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/bough-dev/bough/internal/wildmatch"
)

// maxDepth is the depth of includes at which git assumes a cycle.
const maxDepth = 10

// maxSize is the maximum size of a file in bytes.
const maxSize = 64 << 20

// A Config is a list of entries. A later one overrides an earlier one.
type Config []Entry

// Last returns the entry that decides on a variable. The section and the name of the key
// have small letters.
func (c Config) Last(key string) (e Entry, ok bool) {
	for _, e := range slices.Backward(c) {
		if e.Key == key {
			return e, true
		}
	}
	return Entry{}, false
}

// Bool returns the value of a variable that is true or false. ok is false if it is not set or
// has another value.
func (c Config) Bool(key string) (value, ok bool) {
	e, ok := c.Last(key)
	if !ok || e.Bare {
		return ok, ok
	}
	switch strings.ToLower(e.Value) {
	case "true", "yes", "on":
		return true, true
	case "false", "no", "off", "":
		return false, true
	}
	n, err := strconv.ParseInt(e.Value, 0, 32)
	return n != 0, err == nil
}

// A Place is what conditional includes depend on. The zero value is that outside of a
// repository.
type Place struct {
	Home     string // of the user, to expand ~/
	GitDir   string // the absolute path of the repository
	WorkTree string // the absolute path of its working tree
	Branch   string // that is checked out, without refs/heads/
}

// Read reads files, of which later ones override earlier ones. Files that do not exist are
// skipped. It returns the entries of all files that can be read, and an error for each other
// one.
func Read(place Place, files ...string) (Config, []error) {
	r := &reader{place: place}
	r.files(files)
	if r.asksRemotes {
		first := r.config
		r = &reader{place: place, asksRemotes: true}
		for _, e := range first {
			if strings.HasPrefix(e.Key, "remote.") && strings.HasSuffix(e.Key, ".url") && strings.Count(e.Key, ".") > 1 {
				r.remotes = append(r.remotes, e.Value)
			}
		}
		r.files(files)
	}
	return r.config, r.errs
}

// A reader reads files with their includes.
type reader struct {
	place       Place
	asksRemotes bool // an include depends on the URLs of remotes
	remotes     []string
	config      Config
	errs        []error
}

func (r *reader) files(names []string) {
	for _, name := range names {
		r.file(name, 0)
	}
}

// file adds the entries of a file.
func (r *reader) file(name string, depth int) {
	entries, err := parseFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return
	} else if err != nil {
		r.errs = append(r.errs, err)
		return
	}
	for _, e := range entries {
		r.config = append(r.config, e)
		if !r.includes(e) {
			continue
		}
		path, err := r.place.Expand(e)
		switch {
		case err != nil:
			r.errs = append(r.errs, err)
		case depth == maxDepth:
			r.errs = append(r.errs, fmt.Errorf("%s: line %d: more than %d files include each other", e.File, e.Line, maxDepth))
			return
		default:
			if !filepath.IsAbs(path) {
				path = filepath.Join(filepath.Dir(name), path)
			}
			r.file(path, depth+1)
		}
	}
}

// parseFile parses the file with the given name.
func parseFile(name string) ([]Entry, error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s: not a regular file", name)
	}
	if info.Size() > maxSize {
		return nil, fmt.Errorf("%s: more than %d bytes", name, maxSize)
	}
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	return Parse(name, data)
}

// Expand returns the value of an entry as a path, which is relative if the value is.
func (p Place) Expand(e Entry) (string, error) {
	path := strings.TrimPrefix(e.Value, ":(optional)")
	switch {
	case e.Bare:
		return "", fmt.Errorf("%s: line %d: %s has no value", e.File, e.Line, e.Key)
	case strings.HasPrefix(path, "~/") || path == "~":
		if p.Home == "" {
			return "", fmt.Errorf("%s: line %d: the home of the user is unknown", e.File, e.Line)
		}
		return filepath.Join(p.Home, path[1:]), nil
	case strings.HasPrefix(path, "~") || strings.HasPrefix(path, "%(prefix)/"):
		return "", fmt.Errorf("%s: line %d: cannot expand the path %q", e.File, e.Line, path)
	}
	return filepath.FromSlash(path), nil
}

// includes reports whether an entry includes a file.
func (r *reader) includes(e Entry) bool {
	if e.Key == "include.path" {
		return true
	}
	condition, ok := strings.CutPrefix(e.Key, "includeif.")
	if !ok {
		return false
	}
	if condition, ok = strings.CutSuffix(condition, ".path"); !ok {
		return false
	}
	kind, pattern, _ := strings.Cut(condition, ":")
	switch kind {
	case "gitdir", "gitdir/i":
		return r.inPath(e, r.place.GitDir, pattern, kind == "gitdir/i")
	case "worktree", "worktree/i":
		return r.inPath(e, r.place.WorkTree, pattern, kind == "worktree/i")
	case "onbranch":
		return r.place.Branch != "" && wildmatch.Compile(below(pattern), false).Match(r.place.Branch)
	case "hasconfig":
		if pattern, ok = strings.CutPrefix(pattern, "remote.*.url:"); !ok {
			return false
		}
		r.asksRemotes = true
		p := wildmatch.Compile(pattern, false)
		return slices.ContainsFunc(r.remotes, p.Match)
	}
	return false
}

// below returns the pattern for everything in a directory, if pattern ends with a slash.
func below(pattern string) string {
	if strings.HasSuffix(pattern, "/") {
		return pattern + "**"
	}
	return pattern
}

// inPath reports whether a path, as it is or without symbolic links, matches the pattern of
// an entry.
func (r *reader) inPath(e Entry, path, pattern string, fold bool) bool {
	if path == "" {
		return false
	}
	prefix := "" // that is no pattern
	switch {
	case strings.HasPrefix(pattern, "~/"):
		pattern = filepath.ToSlash(r.place.Home) + pattern[1:]
	case strings.HasPrefix(pattern, "./"):
		dir, err := filepath.Abs(filepath.Dir(e.File))
		if err != nil {
			return false
		}
		if real, err := filepath.EvalSymlinks(dir); err == nil {
			dir = real
		}
		prefix, pattern = filepath.ToSlash(dir)+"/", pattern[2:]
	case !filepath.IsAbs(pattern):
		pattern = "**/" + pattern
	}
	p := wildmatch.Compile(below(pattern), fold)
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		real = path
	}
	return slices.ContainsFunc([]string{real, path}, func(path string) bool {
		path = filepath.ToSlash(path)
		if len(path) < len(prefix) || path[:len(prefix)] != prefix && !(fold && strings.EqualFold(path[:len(prefix)], prefix)) {
			return false
		}
		return p.Match(path[len(prefix):])
	})
}
