// Package isolate creates isolated copies of a folder, so that several programs can
// work on it concurrently without seeing each other's changes.
//
// For a folder in a git repository the copy is a worktree: detached at the current
// commit, with all uncommitted changes, that is the changes of tracked files,
// staged or not, and untracked files that git does not ignore. All of them are
// unstaged in the worktree. Ignored files are not copied. The user's repository,
// index, commits, stash and files are not changed; 'git worktree list' shows the
// worktree as long as it exists. Hooks are not run.
//
// Otherwise it is a copy: regular files with their modes and times, symbolic links
// as links, wherever they point, and named pipes. This includes folders
//
//   - without git, or where git refuses the repository,
//   - in a bare repository, one without a commit, one with submodules,
//   - of a folder that git ignores,
//   - if git cannot make the worktree.
//
// A copy has a reason why it is not a worktree. Sockets, devices, and a ".git" that
// points out of the folder are skipped and reported: with such a ".git", git would
// work in the user's repository. Locks and the list of worktrees in a ".git" folder
// are skipped without a report.
//
// Neither form confines a program: a program that writes to ".." or to an absolute path,
// or follows a link out, can change any file.
package isolate

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
)

// A Source is a folder that can be copied. It is safe for concurrent
// use. Its methods also accept folders that another Source created, so that Remove
// can clean up after a crash.
type Source struct {
	Dir string // the folder

	// Limits of one copy; for a worktree of its uncommitted files.
	MaxFiles int   // files, links and folders; 0 for 100,000
	MaxBytes int64 // 0 for 4 GiB

	admin sync.Mutex // held while git changes its list of worktrees
}

const (
	maxFiles = 100_000
	maxBytes = 4 << 30
)

// A Folder is the result of [Source.Make].
type Folder struct {
	Dir      string   // the copy of Source.Dir: to or a folder in it
	Worktree bool     // false for a copy
	Why      string   // why it is a copy, for a person; "" for a worktree
	Left     []string // skipped files with the reason, such as "run/x.sock: a socket"
}

// A LimitError reports that there is more to copy than allowed. One of Files and
// Bytes is the limit, the other is 0.
type LimitError struct {
	Dir   string
	Files int
	Bytes int64
}

func (e *LimitError) Error() string {
	if e.Files > 0 {
		return fmt.Sprintf("%s is too large to copy: the limit is %d files", e.Dir, e.Files)
	}
	return fmt.Sprintf("%s is too large to copy: the limit is %d bytes", e.Dir, e.Bytes)
}

// Make creates an isolated copy at to, which must not exist and must be outside of
// the source. Missing parents are created. On an error nothing is left at to.
//
// The caller must store to before the call: [Source.Remove] needs it after a crash.
func (s *Source) Make(ctx context.Context, to string) (*Folder, error) {
	from, to, err := s.resolve(to)
	if err != nil {
		return nil, err
	}
	if info, err := os.Stat(from); err != nil {
		return nil, err
	} else if !info.IsDir() {
		return nil, fmt.Errorf("%s is not a folder", s.Dir)
	}
	if inside(to, from) {
		return nil, fmt.Errorf("%s is in %s: a folder cannot be copied into itself", to, s.Dir)
	}
	return s.make(ctx, to, func() (*Folder, error) {
		f, err := s.worktree(ctx, from, to, false)
		var no *unsuitable
		if errors.As(err, &no) {
			f = &Folder{Dir: to, Why: no.why}
			f.Left, err = s.copier(from, to).all(ctx)
		}
		return f, err
	})
}

// Continue creates a copy at to of the current state of another copy, which Make or
// Continue created at root. dir is the Dir of that copy. If root is a worktree, so
// is the new copy: at the same commit, with the ignored files of root. On an error
// nothing is left at to.
func (s *Source) Continue(ctx context.Context, root, dir, to string) (*Folder, error) {
	root, err := resolve(root)
	if err != nil {
		return nil, err
	}
	if dir, err = resolve(dir); err != nil {
		return nil, err
	}
	if to, err = filepath.Abs(to); err != nil {
		return nil, err
	}
	if !inside(dir, root) || inside(to, root) {
		return nil, fmt.Errorf("%s cannot continue %s in %s", to, dir, root)
	}
	info, err := os.Stat(dir)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return nil, fmt.Errorf("%s is not a folder", dir)
	}
	return s.make(ctx, to, func() (*Folder, error) {
		// A repository above a copy does not belong to the copy.
		mark, err := os.Lstat(filepath.Join(root, ".git"))
		if err == nil && mark.Mode().IsRegular() {
			var no *unsuitable
			if f, err := s.worktree(ctx, dir, to, true); !errors.As(err, &no) {
				return f, err
			}
		}
		rel, err := filepath.Rel(root, dir)
		if err != nil {
			return nil, err
		}
		f := &Folder{Dir: filepath.Join(to, rel), Why: "it continues a copy"}
		f.Left, err = s.copier(root, to).all(ctx)
		return f, err
	})
}

// make creates the folder at to and fills it. On an error nothing is left at to.
func (s *Source) make(ctx context.Context, to string, fill func() (*Folder, error)) (*Folder, error) {
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		return nil, err
	}
	// Mkdir fails if the folder exists, so that only a folder of our own is removed
	// below.
	if err := os.Mkdir(to, 0o700); err != nil {
		return nil, err
	}
	f, err := fill()
	if err != nil {
		return nil, errors.Join(err, s.Remove(context.WithoutCancel(ctx), to))
	}
	return f, nil
}

// Remove removes folders that Make created or began to create, with their content,
// and their worktrees from git's list. A missing folder is not an error, and the
// source need not exist any more.
func (s *Source) Remove(ctx context.Context, to ...string) error {
	var errs []error
	for _, to := range to {
		from, to, err := s.resolve(to)
		switch {
		case err != nil:
		case inside(from, to):
			err = fmt.Errorf("%s is not removed: it contains %s", to, s.Dir)
		default:
			err = removeAll(to)
		}
		if err == nil {
			err = s.forget(ctx, from, to)
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// resolve returns the source and a folder as absolute paths, with links in their
// parents resolved. The folder itself is not resolved: the target of a link must
// not be removed.
func (s *Source) resolve(to string) (from, _ string, err error) {
	if from, err = resolve(s.Dir); err != nil {
		return "", "", err
	}
	if to, err = filepath.Abs(to); err != nil {
		return "", "", err
	}
	parent, err := resolve(filepath.Dir(to))
	return from, filepath.Join(parent, filepath.Base(to)), err
}

// resolve returns an absolute path without links, as far as the path exists.
func resolve(path string) (string, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	real, err := filepath.EvalSymlinks(path)
	if parent := filepath.Dir(path); errors.Is(err, fs.ErrNotExist) && parent != path {
		real, err = resolve(parent)
		return filepath.Join(real, filepath.Base(path)), err
	}
	return real, err
}

// inside reports whether a path is a folder or inside it.
func inside(path, dir string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

// removeAll removes a folder, even if it has read-only subfolders, as Go's module
// cache does.
func removeAll(dir string) error {
	err := os.RemoveAll(dir)
	if !errors.Is(err, fs.ErrPermission) {
		return err
	}
	filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			os.Chmod(path, 0o700) // before it is read; if this fails, so does RemoveAll
		}
		return nil
	})
	return os.RemoveAll(dir)
}
