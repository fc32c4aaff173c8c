package folders

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bough-dev/bough/internal/coverage"
	"github.com/bough-dev/bough/internal/ignore"
	"github.com/bough-dev/bough/internal/scan"
	"github.com/bough-dev/bough/workspace/files"
)

// includeName is the name of the file with the patterns of files that a copy of a folder gets
// although no state holds them. It has the syntax of .gitignore files.
const includeName = ".worktreeinclude"

// An inclusion finds the paths that the file includeName names.
type inclusion struct {
	ctx   context.Context
	dir   string
	left  map[string]bool // paths that the state does not hold although no rule ignores them
	found []string
}

// included returns the paths of a folder that the file includeName names, of those that are
// omitted or that no state holds now. The file is at the top of the repository, else in the
// folder.
func included(ctx context.Context, folder string, left []files.Left) ([]string, error) {
	cover := coverage.Look(folder, coverage.Options{Env: os.Getenv})
	top := folder
	if r := cover.Repository; r != nil {
		top = r.Top
	}
	data, err := os.ReadFile(filepath.Join(top, includeName))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	patterns := ignore.Root(false, ignore.Source{Name: includeName, Data: data})
	matched := false
	if rel, err := filepath.Rel(top, folder); err == nil && rel != "." {
		for name := range strings.SplitSeq(filepath.ToSlash(rel), "/") {
			matched = matched || patterns.Ignored(name, true)
			patterns = patterns.Enter(name)
		}
	}
	i := &inclusion{ctx: ctx, dir: folder, left: map[string]bool{}}
	for _, l := range left {
		i.left[l.Path] = true
	}
	err = i.walk(".", 0, cover.Rules(), patterns, matched)
	return i.found, err
}

// walk finds paths in a directory. outer are the rules of the directory above it, nil if no
// state holds anything in it. marks are those of the directory because of where it is. matched reports whether the patterns name the directory.
func (i *inclusion) walk(dir string, marks ignore.Marks, outer scan.Rules, patterns *ignore.Rules, matched bool) error {
	if err := i.ctx.Err(); err != nil {
		return err
	}
	list, err := os.ReadDir(filepath.Join(i.dir, filepath.FromSlash(dir)))
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, e := range list {
		marks |= ignore.Mark(e.Name(), e.IsDir())
	}
	var rules scan.Rules
	if outer != nil {
		rules = outer.Enter(path.Base(dir), i.sources(dir, list, outer.Sources()))
	}
	for _, e := range list {
		name := path.Join(dir, e.Name())
		matches := matched || patterns.Ignored(e.Name(), e.IsDir())
		held := rules != nil && rules.Judge(e.Name(), e.IsDir()) == scan.Hold && !i.left[name]
		switch {
		case marks.BuiltIn(e.Name(), e.IsDir()).Always():
		case e.IsDir():
			inner := rules
			if !held {
				inner = nil
			}
			err = i.walk(name, marks.Inside(e.Name()), inner, patterns.Enter(e.Name()), matches)
		case matches && !held:
			i.found = append(i.found, name)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// sources reads the files of a directory that have the names.
func (i *inclusion) sources(dir string, list []fs.DirEntry, names []string) (found []scan.Source) {
	for _, e := range list {
		if !slices.Contains(names, e.Name()) {
			continue
		}
		s := scan.Source{Name: e.Name(), IsDir: e.IsDir()}
		if info, err := e.Info(); err == nil && info.Mode().IsRegular() && info.Size() <= ignore.MaxSize {
			s.Data, _ = os.ReadFile(filepath.Join(i.dir, filepath.FromSlash(dir), e.Name()))
		}
		found = append(found, s)
	}
	return found
}
