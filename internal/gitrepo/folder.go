package gitrepo

import (
	"path/filepath"
	"runtime"
	"strings"

	"github.com/bough-dev/bough/internal/gitconfig"
	"github.com/bough-dev/bough/internal/gitindex"
	"github.com/bough-dev/bough/internal/ignore"
)

// A Folder is what git says about the files of a folder.
type Folder struct {
	// Repository is the one that the folder is in, or nil.
	Repository *Repository
	// Rules are those in the folder itself, with the pattern files in it and above it up to
	// the top of the working tree. Outside of a repository they are those of the folder and of
	// the user.
	Rules *ignore.Rules
	// Tracked are the paths below the folder that git tracks. They belong to the folder also
	// if the rules ignore them or a directory above them.
	Tracked gitindex.Paths
	// Outside are the pattern files that are not in the folder, the lowest priority first.
	Outside []ignore.Source
	// Problems names what could not be read. The rest is in force.
	Problems []error
}

// Look reads what git says about a folder, an absolute path without symbolic links. That the
// rules ignore the folder itself or a directory above it has no effect.
func Look(folder string, env Environment) *Folder {
	f := new(Folder)
	f.Repository, f.Problems = Find(folder, env)
	top, fold := folder, runtime.GOOS == "windows" || runtime.GOOS == "darwin"
	var config gitconfig.Config
	if r := f.Repository; r != nil {
		top, config = r.Top, r.config
		fold, _ = config.Bool("core.ignorecase")
	} else {
		var problems []error
		config, problems = gitconfig.Read(gitconfig.Place{Home: home(env)}, userFiles(env)...)
		f.Problems = append(f.Problems, problems...)
	}
	var sources []ignore.Source
	f.add(&sources, func() (ignore.Source, error) { return userPatterns(config, top, env) })
	if f.Repository != nil {
		f.add(&sources, f.Repository.Excludes)
		var err error
		if f.Tracked, err = f.Repository.Tracked(); err != nil {
			f.Problems = append(f.Problems, err)
		}
	}
	f.Outside = append(f.Outside, sources...)
	f.read(&sources, top)
	f.Rules = ignore.Root(fold, sources...)
	if rel, err := filepath.Rel(top, folder); err == nil && rel != "." {
		dir, at := top, sources[len(f.Outside):]
		for name := range strings.SplitSeq(rel, string(filepath.Separator)) {
			dir = filepath.Join(dir, name)
			sources = nil
			f.Outside = append(f.Outside, at...)
			f.read(&sources, dir)
			at = sources
			f.Rules = f.Rules.Enter(name, sources...)
			f.Tracked = f.Tracked.Enter(name)
		}
	}
	return f
}

// add adds a source that has patterns.
func (f *Folder) add(sources *[]ignore.Source, read func() (ignore.Source, error)) {
	s, err := read()
	if err != nil {
		f.Problems = append(f.Problems, err)
	} else if len(s.Data) > 0 {
		*sources = append(*sources, s)
	}
}

// read adds the pattern files of a directory.
func (f *Folder) read(sources *[]ignore.Source, dir string) {
	list, problems := Patterns(dir)
	*sources = append(*sources, list...)
	f.Problems = append(f.Problems, problems...)
}

// Patterns reads the pattern files of a directory, the lowest priority first. As git does, it
// reads none through a symbolic link.
func Patterns(dir string) (sources []ignore.Source, problems []error) {
	for _, name := range []string{ignore.GitName, ignore.OwnName} {
		s, err := readPatterns(filepath.Join(dir, name))
		if err != nil {
			problems = append(problems, err)
		} else if len(s.Data) > 0 {
			sources = append(sources, s)
		}
	}
	return sources, problems
}

// userPatterns reads the file that core.excludesFile names, or the default one. A relative
// path is relative to the top of the working tree.
func userPatterns(config gitconfig.Config, top string, env Environment) (ignore.Source, error) {
	e, ok := config.Last("core.excludesfile")
	if !ok {
		dir := configHome(env)
		if dir == "" {
			return ignore.Source{}, nil
		}
		return readSource(filepath.Join(dir, "git", "ignore"))
	}
	path, err := gitconfig.Place{Home: home(env)}.Expand(e)
	if err != nil || path == "" {
		return ignore.Source{}, err
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(top, path)
	}
	return readSource(path)
}
