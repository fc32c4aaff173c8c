// Package coverage decides which files of a folder belong to its states: the rules that
// package scan applies, made of git's rules (package gitrepo) and of built-in ones
// (package ignore).
//
// In this order, for a name in a directory:
//
//   - The data of version control and what bough writes never belong to a state. If git
//     tracks it, it is named in the result of a scan.
//   - A directory with a virtual environment of Python, with a valid CACHEDIR.TAG, or with the
//     data of git under another name than .git, and node_modules and __pycache__ do not, except
//     for the files in them that git tracks.
//   - What a .boughignore file decides is so. A file that it ignores although git tracks it
//     is named, too.
//   - A file that git tracks belongs to a state although other rules ignore it or a directory
//     above it. So git's own rules apply to the other files only.
//   - A file with the name of a secret does not, tracked or not, and is named.
//
// A repository inside of the folder has its own index and its own info/exclude, in addition
// to the rules above it.
package coverage

import (
	"bytes"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/bough-dev/bough/internal/gitindex"
	"github.com/bough-dev/bough/internal/gitrepo"
	"github.com/bough-dev/bough/internal/ignore"
	"github.com/bough-dev/bough/internal/scan"
)

// maxSource is the number of bytes that a scan reads of a file that rules are made of. One
// pattern can be incomplete at its end.
const maxSource = 1 << 20

// Options say which folder it is and what the user asked for.
type Options struct {
	Env gitrepo.Environment
	// Secrets stores files with secrets too.
	Secrets bool
}

// Look reads what applies to a folder, an absolute path without symbolic links.
func Look(folder string, opts Options) *Coverage {
	f := gitrepo.Look(folder, opts.Env)
	c := &Coverage{opts: opts, problems: f.Problems, Repository: f.Repository}
	for _, s := range f.Outside {
		c.Outside = append(c.Outside, scan.Source{Name: s.Name, Data: s.Data})
	}
	c.root = &directory{coverage: c, path: folder, name: filepath.Base(folder), rules: f.Rules, tracked: f.Tracked}
	return c
}

// A Coverage is what applies to a folder during one scan.
type Coverage struct {
	// Repository is the one that the folder is in, or nil.
	Repository *gitrepo.Repository
	// Outside are the files with patterns that are not in the folder.
	Outside []scan.Source

	opts Options
	root *directory

	mu       sync.Mutex
	problems []error
	deciding map[string][]scan.Source // by directory
}

// Rules returns the rules for a scan of the folder.
func (c *Coverage) Rules() scan.Rules { return outside{c.root} }

// Problems returns what could not be read so far, such as an index that is damaged. The rest
// is in force.
func (c *Coverage) Problems() []error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.problems
}

func (c *Coverage) problem(errs ...error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.problems = append(c.problems, errs...)
}

// outside are the rules that lead to those of the folder itself.
type outside struct{ *directory }

// Enter returns the rules of the folder. It has read the pattern files in it already, and the
// folder belongs to its states whatever it contains.
func (o outside) Enter(_ string, present []scan.Source) scan.Rules {
	d := *o.directory
	var tag []byte
	d.marks, tag = marksOf(present)
	d.coverage.note(d.path, deciding(present, d.marks, tag))
	return &d
}

// A directory has the rules for its entries.
type directory struct {
	coverage *Coverage
	path     string
	name     string
	rules    *ignore.Rules
	tracked  gitindex.Paths
	marks    ignore.Marks
	only     bool // only tracked files belong to a state
}

// Sources returns the names of the files that Enter needs.
func (d *directory) Sources() []string {
	return []string{ignore.GitName, ignore.OwnName, ignore.CacheTag, ignore.EnvironmentFile, ignore.WorkspaceFolder, ".git", ignore.GitHead, ignore.GitObjects, ignore.GitRefs}
}

// IsSource reports whether the rules depend on files with a name.
func (c *Coverage) IsSource(name string) bool { return slices.Contains(c.root.Sources(), name) }

// Enter returns the rules of a subdirectory, nil if nothing in it belongs to a state.
func (d *directory) Enter(name string, present []scan.Source) scan.Rules {
	sub := &directory{
		coverage: d.coverage, path: filepath.Join(d.path, name), name: name,
		tracked: d.tracked.Enter(name), only: d.only || d.onlyTracked(name),
	}
	var tag []byte
	sub.marks, tag = marksOf(present)
	sub.marks |= d.marks.Inside(name)
	decide := deciding(present, sub.marks, tag)
	var sources []ignore.Source
	for _, p := range present {
		switch p.Name {
		case ".git":
			for _, s := range sub.nested() {
				sources = append(sources, s)
				decide = append(decide, scan.Source{Name: nestedExclude, Data: s.Data})
			}
		case nestedExclude:
			sources = append(sources, ignore.Source{Name: p.Name, Data: p.Data})
		}
	}
	d.coverage.note(sub.path, decide)
	for _, own := range []string{ignore.GitName, ignore.OwnName} { // the lower priority first
		for _, p := range present {
			if p.Name == own && len(p.Data) > 0 {
				if len(p.Data) >= maxSource {
					d.coverage.problem(fmt.Errorf("%s: patterns after the first %d bytes have no effect", filepath.Join(sub.path, own), maxSource))
					p.Data = p.Data[:bytes.LastIndexByte(p.Data, '\n')+1]
				}
				sources = append(sources, ignore.Source{Name: own, Data: p.Data})
			}
		}
	}
	sub.only = sub.only || sub.marks.Whole(tag) != ""
	if sub.only && sub.tracked.Len() == 0 {
		return nil
	}
	sub.rules = d.rules.Enter(name, sources...)
	return sub
}

// nested makes the repository whose .git is in the directory the one that says what is
// tracked, and returns its patterns.
func (d *directory) nested() []ignore.Source {
	r, problems := gitrepo.At(d.path, d.coverage.opts.Env)
	d.coverage.problem(problems...)
	if r == nil {
		return nil
	}
	var err error
	if d.tracked, err = r.Tracked(); err != nil {
		d.coverage.problem(err)
	}
	s, err := r.Excludes()
	if err != nil {
		d.coverage.problem(err)
	}
	if len(s.Data) == 0 {
		return nil
	}
	return []ignore.Source{s}
}

// marksOf returns what files say about their directory, and the content of its cache tag.
func marksOf(present []scan.Source) (marks ignore.Marks, tag []byte) {
	for _, p := range present {
		marks |= ignore.Mark(p.Name, p.IsDir)
		if p.Name == ignore.CacheTag {
			tag = p.Data
		}
	}
	return marks, tag
}

// onlyTracked reports whether only files that git tracks belong to a state in a subdirectory.
func (d *directory) onlyTracked(name string) bool {
	return d.marks.BuiltIn(name, true) != "" || d.rules.Ignored(name, true)
}

// Tracked reports whether git tracks a file in the directory or below it.
func (d *directory) Tracked() bool { return d.tracked.Len() > 0 }

// Hollow reports whether the directory is bough's unless the user has files in it.
func (d *directory) Hollow() bool { return d.marks.Shared() }

// Judge decides about a name in the directory.
func (d *directory) Judge(name string, isDir bool) scan.Verdict {
	builtIn := d.marks.BuiltIn(name, isDir)
	tracked := d.tracked.Has(name) || isDir && d.tracked.Enter(name).Len() > 0
	if tracked && builtIn.Always() {
		return scan.IgnoreTracked
	}
	if p := d.rules.Match(name, isDir); p != nil && !p.Include {
		if tracked && strings.HasSuffix(p.Source, ignore.OwnName) {
			return scan.IgnoreTracked
		}
		if !tracked {
			return scan.Ignore
		}
	}
	if !tracked && (builtIn != "" || d.only) {
		return scan.Ignore
	}
	if !isDir && !d.coverage.opts.Secrets && ignore.Secret(d.name, name) != "" {
		return scan.Secret
	}
	return scan.Hold
}
