package coverage

import (
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bough-dev/bough/internal/ignore"
	"github.com/bough-dev/bough/internal/scan"
)

// nestedExclude is the name under which the patterns of a repository inside of the folder are
// recorded, in the directory of its .git. No entry of a directory has such a name.
const nestedExclude = ".git/info/exclude"

// deciding returns those of some files that decide, with no patterns, what a state holds of
// their directory, which has these marks and this cache tag.
func deciding(present []scan.Source, marks ignore.Marks, tag []byte) (list []scan.Source) {
	why := marks.Whole(tag)
	for _, p := range present {
		if p.Name != ignore.WorkspaceFolder && !why.Decides(p.Name) || p.Name == ignore.WorkspaceFolder && !p.IsDir {
			continue
		}
		s := scan.Source{Name: p.Name, IsDir: p.IsDir}
		if p.Name == ignore.CacheTag {
			s.Data = p.Data[:ignore.MaxTag]
		}
		list = append(list, s)
	}
	return list
}

// note records the files that decide about a directory.
func (c *Coverage) note(dir string, list []scan.Source) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(list) == 0 {
		delete(c.deciding, dir)
		return
	}
	if c.deciding == nil {
		c.deciding = map[string][]scan.Source{}
	}
	c.deciding[dir] = list
}

// Deciding returns the files in the folder that the rules depend on although a state does not
// hold them, in the directories that were entered so far: tags of caches, virtual environments
// and data of git, workspaces, and the patterns of repositories inside. Names are paths relative
// to the folder, with slashes. Of a tag, Data is what decides. They are sorted by name.
func (c *Coverage) Deciding() (list []scan.Source) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for dir, sources := range c.deciding {
		rel, err := filepath.Rel(c.root.path, dir)
		if err != nil {
			continue
		}
		for _, s := range sources {
			s.Name = path.Join(filepath.ToSlash(rel), s.Name)
			list = append(list, s)
		}
	}
	slices.SortFunc(list, func(a, b scan.Source) int { return strings.Compare(a.Name, b.Name) })
	return list
}

// DecidingIn returns those of [Coverage.Deciding] that decide about a directory, "." for the
// folder, as [Sources] does.
func DecidingIn(list []scan.Source, dir string) (in []scan.Source) {
	for _, s := range list {
		at, name := path.Split(s.Name)
		if above, ok := strings.CutSuffix(s.Name, nestedExclude); ok {
			at, name = above, nestedExclude
		}
		if path.Clean(at) == dir {
			s.Name = name
			in = append(in, s)
		}
	}
	return in
}
