// Package isolate makes folders that begin as another one is, so that several can go on
// from it side by side and none sees what the others do.
//
// Of a folder in a git repository the new one is a worktree: detached at the commit that
// is checked out, with what is not committed on top of it, that is the changes of tracked
// files, staged or not, and the files that git neither tracks nor ignores. All of it is
// there as changes that are not staged. What git ignores is not there. Of the user's
// repository, index, commits, stash and files stay as they are; the worktree is listed
// by 'git worktree list' as long as it is there. Hooks are not run.
//
// Everywhere else it is a copy: regular files with their modes and times, symbolic links
// as links, wherever they lead, named pipes. So it is also
//
//   - without git, or where git refuses the repository,
//   - in a bare repository, one without a commit, one with submodules,
//   - of a folder that git ignores,
//   - if git cannot make the worktree.
//
// A copy says why it is one. Left out of it, with a note, are sockets and devices, and a
// ".git" that leads out of the folder: with it, git would work in the user's repository.
// Left out without one are, of a ".git" folder, locks and the list of worktrees.
//
// Neither keeps a program in: one that writes to ".." or to an absolute path, or follows
// a link out, is where it wants to be.
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

// A Source is a folder that others are made of. Its methods may be called by several at
// once. They need no folder that was made by the same Source: Remove tidies up after a
// crash too.
type Source struct {
	Dir string // the folder

	// What is copied at the most, for each folder: of a worktree what is not committed.
	MaxFiles int   // files, links and folders; 0 for 100,000
	MaxBytes int64 // 0 for 4 GiB

	admin sync.Mutex // held while git changes its list of worktrees
}

const (
	maxFiles = 100_000
	maxBytes = 4 << 30
)

// A Folder is what [Source.Make] made.
type Folder struct {
	Dir      string   // what Source.Dir is, in it: to is its root, and Dir may lie below
	Worktree bool     // not a copy
	Why      string   // it is a copy, for a person; "" for a worktree
	Left     []string // what was left out and why, such as "run/x.sock: a socket"
}

// A LimitError is that there is more to copy than is allowed. One of Files and Bytes is
// the limit, the other 0.
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

// Make makes a folder at to, which does not exist and lies outside of the source. Folders
// above it are made. On an error nothing is left at to.
//
// Note to before the call: that is what [Source.Remove] needs after a crash.
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
		return nil, fmt.Errorf("%s lies in %s: a folder cannot be copied into itself", to, s.Dir)
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

// Continue makes a folder at to that begins as another one is now, which Make or Continue
// made at root. dir is the Dir of that one, and lies in root. If root is a worktree, so
// is the new folder: at the same commit, with what git ignores in root. On an error
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
		return nil, fmt.Errorf("%s cannot go on from %s in %s", to, dir, root)
	}
	info, err := os.Stat(dir)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return nil, fmt.Errorf("%s is not a folder", dir)
	}
	return s.make(ctx, to, func() (*Folder, error) {
		// A repository above a copy is not the copy's.
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
		f := &Folder{Dir: filepath.Join(to, rel), Why: "it goes on from a copy"}
		f.Left, err = s.copier(root, to).all(ctx)
		return f, err
	})
}

// make makes the folder at to and fills it. On an error nothing is left at to.
func (s *Source) make(ctx context.Context, to string, fill func() (*Folder, error)) (*Folder, error) {
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		return nil, err
	}
	// Whoever makes the folder has it: nobody else's is removed below.
	if err := os.Mkdir(to, 0o700); err != nil {
		return nil, err
	}
	f, err := fill()
	if err != nil {
		return nil, errors.Join(err, s.Remove(context.WithoutCancel(ctx), to))
	}
	return f, nil
}

// Remove removes folders that Make made or began to make, with all that is in them. git
// forgets the worktrees that they were, and no others. What is not there is no error, and
// the source need not be there any more.
func (s *Source) Remove(ctx context.Context, to ...string) error {
	var errs []error
	for _, to := range to {
		from, to, err := s.resolve(to)
		switch {
		case err != nil:
		case inside(from, to):
			err = fmt.Errorf("%s is not removed: %s lies in it", to, s.Dir)
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

// resolve returns the source and a folder as absolute paths without links above them.
// The folder itself is taken as it is: what a link there leads to is not ours to remove.
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

// resolve returns a path as an absolute one without links, as far as it exists.
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

// inside reports whether a path is a folder or lies in it.
func inside(path, dir string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

// removeAll removes a folder, also if folders in it are not to be written to, as those of
// Go's module cache are.
func removeAll(dir string) error {
	err := os.RemoveAll(dir)
	if !errors.Is(err, fs.ErrPermission) {
		return err
	}
	filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			os.Chmod(path, 0o700) // before it is read; if it fails, so does what follows
		}
		return nil
	})
	return os.RemoveAll(dir)
}
