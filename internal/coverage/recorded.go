package coverage

import (
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/bough-dev/bough/internal/gitrepo"
	"github.com/bough-dev/bough/internal/ignore"
	"github.com/bough-dev/bough/internal/scan"
)

// Recorded returns what applied to a folder when a state of it was taken. outside are the
// files with patterns that were not in the folder, as [Coverage.Outside], and own are the
// pattern files of the folder itself. The sources of a [Judge] of the result are the files in
// the state and those of [Coverage.Deciding]. What git tracked then is unknown, so nothing
// counts as tracked: a path in the state was held, whatever the rules say.
func Recorded(folder string, outside, own []scan.Source, opts Options) *Coverage {
	top := folder
	if r, _ := gitrepo.Find(folder, opts.Env); r != nil {
		top = r.Top
	}
	above := map[string][]ignore.Source{folder: patterns(own)}
	var global []ignore.Source
	for _, s := range outside {
		dir, name := filepath.Split(s.Name)
		dir = filepath.Clean(dir)
		if isPatterns(name) && contains(top, dir) && contains(dir, folder) {
			above[dir] = append(above[dir], ignore.Source{Name: s.Name, Data: s.Data})
		} else {
			global = append(global, ignore.Source{Name: s.Name, Data: s.Data})
		}
	}
	rules := ignore.Root(runtime.GOOS == "windows" || runtime.GOOS == "darwin", append(global, above[top]...)...)
	if rel, err := filepath.Rel(top, folder); err == nil && rel != "." {
		dir := top
		for name := range strings.SplitSeq(rel, string(filepath.Separator)) {
			dir = filepath.Join(dir, name)
			rules = rules.Enter(name, above[dir]...)
		}
	}
	c := &Coverage{opts: opts, Outside: outside}
	c.root = &directory{coverage: c, path: folder, name: filepath.Base(folder), rules: rules}
	return c
}

func isPatterns(name string) bool { return name == ignore.GitName || name == ignore.OwnName }

// contains reports whether a directory is dir or below it.
func contains(dir, name string) bool {
	rel, err := filepath.Rel(dir, name)
	return err == nil && filepath.IsLocal(rel)
}

// patterns returns those of sources that have patterns, the lowest priority first.
func patterns(sources []scan.Source) (list []ignore.Source) {
	for _, name := range []string{ignore.GitName, ignore.OwnName} {
		if i := slices.IndexFunc(sources, func(s scan.Source) bool { return s.Name == name }); i >= 0 {
			list = append(list, ignore.Source{Name: name, Data: sources[i].Data})
		}
	}
	return list
}

// A Judge decides about single paths of a folder.
type Judge struct {
	rules   map[string]scan.Rules // of directories
	sources Sources
}

// Sources returns those files of a directory that are among names, for [scan.Rules.Enter].
// dir is relative to the folder, "." for itself.
type Sources func(dir string, names []string) []scan.Source

// NewJudge returns a Judge with the rules of a folder.
func NewJudge(c *Coverage, sources Sources) *Judge {
	r := c.Rules()
	return &Judge{map[string]scan.Rules{".": r.Enter("", sources(".", r.Sources()))}, sources}
}

// Verdict returns what the rules decide about a path, whose names have slashes between them,
// or about the first directory above it that they do not hold.
func (j *Judge) Verdict(name string, isDir bool) scan.Verdict {
	rules, verdict := j.enter(path.Dir(name))
	if verdict == scan.Hold {
		verdict = rules.Judge(path.Base(name), isDir)
	}
	return verdict
}

// Enters reports whether a directory, "." for the folder itself, can have files of a state.
func (j *Judge) Enters(dir string) bool {
	_, verdict := j.enter(dir)
	return verdict == scan.Hold
}

// enter returns the rules of a directory.
func (j *Judge) enter(dir string) (scan.Rules, scan.Verdict) {
	if r, ok := j.rules[dir]; ok {
		return r, scan.Hold
	}
	above, verdict := j.enter(path.Dir(dir))
	if verdict == scan.Hold {
		verdict = above.Judge(path.Base(dir), true)
	}
	if verdict != scan.Hold {
		return nil, verdict
	}
	r := above.Enter(path.Base(dir), j.sources(dir, above.Sources()))
	if r == nil {
		return nil, scan.Ignore
	}
	j.rules[dir] = r
	return r, scan.Hold
}
