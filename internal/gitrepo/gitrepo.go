// Package gitrepo reads what git says about the files of a folder: its ignore rules and the
// paths that it tracks. It reads the files of the repository and the user's configuration
// itself, so git need not be installed, and it never writes.
//
// The repository of a folder is found as git finds it: the nearest directory above or at the
// folder with a .git that is a repository, or a file that names one, as worktrees and
// submodules have it. The variables of the environment with which a user redirects git
// (GIT_DIR, GIT_WORK_TREE, GIT_INDEX_FILE, GIT_CONFIG_COUNT) have no effect, because they
// belong to one command and not to the folder; GIT_CONFIG_GLOBAL, GIT_CONFIG_SYSTEM and
// GIT_CONFIG_NOSYSTEM are respected. A bare repository has no files. In a sparse checkout,
// git reads a .gitignore file that is not on the disk from the index, and this package does
// not.
package gitrepo

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/bough-dev/bough/internal/gitconfig"
	"github.com/bough-dev/bough/internal/gitindex"
	"github.com/bough-dev/bough/internal/ignore"
)

// maxIndex is the maximum size of an index in bytes: millions of files.
const maxIndex = 1 << 30

// A Repository is one with a working tree.
type Repository struct {
	Top    string // the top directory of the working tree
	Dir    string // $GIT_DIR
	Common string // $GIT_COMMON_DIR, which the worktrees of a repository share; else Dir

	config gitconfig.Config
}

// Environment returns the value of a variable of the environment, as [os.Getenv] does.
type Environment func(name string) string

// Find returns the repository that a folder is in, or nil if there is none. The folder is an
// absolute path without symbolic links. Problems are those of configuration files.
func Find(folder string, env Environment) (r *Repository, problems []error) {
	for dir := folder; ; {
		if r, problems = At(dir, env); r != nil {
			if within(folder, r.Top) {
				return r, problems
			}
			return nil, problems
		} else if len(problems) > 0 {
			return nil, problems
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return nil, nil
		}
		dir = parent
	}
}

// At returns the repository whose .git is in a directory, or nil if there is none.
func At(dir string, env Environment) (r *Repository, problems []error) {
	name := filepath.Join(dir, ".git")
	info, err := os.Stat(name)
	if err != nil {
		return nil, nil
	}
	r = &Repository{Top: dir, Dir: name}
	if !info.IsDir() {
		if r.Dir, err = link(name, "gitdir: "); err != nil {
			return nil, []error{err}
		}
	}
	if r.Common, err = link(filepath.Join(r.Dir, "commondir"), ""); errors.Is(err, fs.ErrNotExist) {
		r.Common = r.Dir
	} else if err != nil {
		return nil, []error{err}
	}
	if !r.valid() {
		if !info.IsDir() {
			return nil, []error{fmt.Errorf("%s: %s is not a repository", name, r.Dir)}
		}
		return nil, nil
	}
	problems = r.configure(env)
	if bare, _ := r.own().Bool("core.bare"); bare {
		return nil, problems
	}
	return r, problems
}

// link returns the path that a file has after a prefix, relative to the file's directory.
func link(name, prefix string) (string, error) {
	data, err := readFile(name, 1<<20)
	if err != nil {
		return "", err
	}
	path, ok := strings.CutPrefix(strings.TrimRight(string(data), "\r\n"), prefix)
	if !ok || path == "" {
		return "", fmt.Errorf("%s: names no repository", name)
	}
	path = filepath.FromSlash(path)
	if !filepath.IsAbs(path) {
		path = filepath.Join(filepath.Dir(name), path)
	}
	return filepath.Clean(path), nil
}

// valid reports whether Dir is a repository by the rules of git.
func (r *Repository) valid() bool {
	for _, name := range []string{"objects", "refs"} {
		info, err := os.Stat(filepath.Join(r.Common, name))
		if err != nil || !info.IsDir() {
			return false
		}
	}
	_, err := os.Lstat(filepath.Join(r.Dir, "HEAD"))
	return err == nil
}

// configure reads the configuration of the user and the repository, and sets Top.
func (r *Repository) configure(env Environment) (problems []error) {
	files := append(userFiles(env), filepath.Join(r.Common, "config"))
	place := gitconfig.Place{Home: home(env), GitDir: r.Dir, WorkTree: r.Top, Branch: r.branch()}
	r.config, problems = gitconfig.Read(place, files...)
	if perWorktree, _ := r.config.Bool("extensions.worktreeconfig"); perWorktree {
		r.config, problems = gitconfig.Read(place, append(files, r.worktreeConfig())...)
	}
	if e, ok := r.own().Last("core.worktree"); ok && !e.Bare {
		top := filepath.FromSlash(e.Value)
		if !filepath.IsAbs(top) {
			top = filepath.Join(r.Dir, top)
		}
		if real, err := filepath.EvalSymlinks(top); err == nil {
			r.Top = real
		} else {
			problems = append(problems, err)
		}
	}
	return problems
}

func (r *Repository) worktreeConfig() string { return filepath.Join(r.Dir, "config.worktree") }

// own returns the entries that can say where the working tree is: those in the files of the
// repository, without includes. In a linked worktree, only its own file can.
func (r *Repository) own() (own gitconfig.Config) {
	for _, e := range r.config {
		if e.File == r.worktreeConfig() || r.Common == r.Dir && e.File == filepath.Join(r.Common, "config") {
			own = append(own, e)
		}
	}
	return own
}

// branch returns the branch that is checked out, or "".
func (r *Repository) branch() string {
	data, err := readFile(filepath.Join(r.Dir, "HEAD"), 1<<16)
	if err != nil {
		return ""
	}
	branch, ok := strings.CutPrefix(strings.TrimRight(string(data), "\r\n"), "ref: refs/heads/")
	if !ok || branch == ".invalid" { // the branch is in a reftable
		return ""
	}
	return branch
}

// Head returns the commit that is checked out, and its branch. Without a branch it is "", as it
// is in a repository with reftables, of which this package reads none; without a commit that
// is "".
func (r *Repository) Head() (commit, branch string, err error) {
	data, err := readFile(filepath.Join(r.Dir, "HEAD"), 1<<16)
	if err != nil {
		return "", "", err
	}
	ref, ok := strings.CutPrefix(strings.TrimRight(string(data), "\r\n"), "ref: ")
	if !ok {
		return hash(data), "", nil
	}
	branch = r.branch()
	for range 5 { // as git: a ref can name another one
		if !filepath.IsLocal(filepath.FromSlash(ref)) {
			break
		}
		data, err := readFile(filepath.Join(r.Common, filepath.FromSlash(ref)), 1<<16)
		if errors.Is(err, fs.ErrNotExist) {
			commit, err = r.packedRef(ref)
			return commit, branch, err
		} else if err != nil {
			return "", branch, err
		}
		if ref, ok = strings.CutPrefix(strings.TrimRight(string(data), "\r\n"), "ref: "); !ok {
			return hash(data), branch, nil
		}
	}
	return "", branch, fmt.Errorf("%s: names no commit", filepath.Join(r.Dir, "HEAD"))
}

// packedRef returns the commit that the file packed-refs has for a ref, or "".
func (r *Repository) packedRef(ref string) (commit string, err error) {
	data, err := readFile(filepath.Join(r.Common, "packed-refs"), maxIndex)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	} else if err != nil {
		return "", err
	}
	for line := range bytes.Lines(data) {
		if commit, name, ok := bytes.Cut(bytes.TrimRight(line, "\r\n"), []byte(" ")); ok && string(name) == ref {
			return hash(commit), nil
		}
	}
	return "", nil
}

// hash returns the hash at the beginning of data, or "".
func hash(data []byte) string {
	text := strings.TrimSpace(string(data))
	if raw, err := hex.DecodeString(text); err != nil || len(raw) != 20 && len(raw) != 32 {
		return ""
	}
	return text
}

// Tracked returns the paths that git tracks in the working tree.
func (r *Repository) Tracked() (gitindex.Paths, error) {
	name := filepath.Join(r.Dir, "index")
	data, err := readFile(name, maxIndex)
	if errors.Is(err, fs.ErrNotExist) {
		return gitindex.Paths{}, nil
	} else if err != nil {
		return gitindex.Paths{}, err
	}
	format := gitindex.SHA1
	if e, ok := r.config.Last("extensions.objectformat"); ok && strings.EqualFold(e.Value, "sha256") {
		format = gitindex.SHA256
	}
	paths, err := gitindex.Parse(data, format, func(shared string) ([]byte, error) {
		return readFile(filepath.Join(r.Dir, shared), maxIndex)
	})
	if err != nil {
		return gitindex.Paths{}, fmt.Errorf("%s: %w", name, err)
	}
	return paths, nil
}

// Excludes returns the patterns of info/exclude, with no data if there are none.
func (r *Repository) Excludes() (ignore.Source, error) {
	return readSource(filepath.Join(r.Common, "info", "exclude"))
}

// within reports whether a path is that of a directory or below it.
func within(path, dir string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

// readFile reads a regular file of at most limit bytes.
func readFile(name string, limit int64) ([]byte, error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s: not a regular file", name)
	}
	if info.Size() > limit {
		return nil, fmt.Errorf("%s: more than %d bytes", name, limit)
	}
	return os.ReadFile(name)
}

// readSource reads a file of patterns. One that does not exist has no data.
func readSource(name string) (ignore.Source, error) {
	data, err := readFile(name, ignore.MaxSize)
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return ignore.Source{Name: name, Data: data}, err
}

// readPatterns is readSource for a file that must not be a symbolic link.
func readPatterns(name string) (ignore.Source, error) {
	if info, err := os.Lstat(name); err == nil && info.Mode()&fs.ModeSymlink != 0 {
		return ignore.Source{}, fmt.Errorf("%s: git reads no patterns through a symbolic link", name)
	}
	return readSource(name)
}

// Config returns the entries that apply in the repository.
func (r *Repository) Config() gitconfig.Config { return r.config }

// User returns the entries of the configuration of the system and the user, outside of a repository.
func User(env Environment) (gitconfig.Config, []error) {
	return gitconfig.Read(gitconfig.Place{Home: home(env)}, userFiles(env)...)
}

// userFiles returns the configuration files of the system and the user, of which later ones
// override earlier ones. Where git has that of the system depends on how it was built; on
// Unix this is /etc/gitconfig.
func userFiles(env Environment) (files []string) {
	switch system := env("GIT_CONFIG_SYSTEM"); {
	case noSystem(env("GIT_CONFIG_NOSYSTEM")):
	case system != "":
		files = append(files, system)
	case runtime.GOOS == "windows":
		files = append(files, filepath.Join(env("ProgramFiles"), "Git", "etc", "gitconfig"))
	default:
		files = append(files, "/etc/gitconfig")
	}
	if global := env("GIT_CONFIG_GLOBAL"); global != "" {
		return append(files, global)
	}
	if dir := configHome(env); dir != "" {
		files = append(files, filepath.Join(dir, "git", "config"))
	}
	if home := home(env); home != "" {
		files = append(files, filepath.Join(home, ".gitconfig"))
	}
	return files
}

func noSystem(value string) bool {
	on, _ := gitconfig.Config{{Key: "x", Value: value}}.Bool("x")
	return on
}

// home returns the user's home, or "".
func home(env Environment) string {
	if dir := env("HOME"); dir != "" || runtime.GOOS != "windows" {
		return dir
	}
	return env("USERPROFILE")
}

// configHome returns the folder of configuration files, or "".
func configHome(env Environment) string {
	if dir := env("XDG_CONFIG_HOME"); dir != "" {
		return dir
	}
	if home := home(env); home != "" {
		return filepath.Join(home, ".config")
	}
	return ""
}
