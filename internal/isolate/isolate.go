// Package isolate creates isolated copies of a folder, so that several programs can
// work on it concurrently without seeing each other's changes. Nothing is written to
// the user's repository.
//
// [Source.Clone] makes a clone of the repository that contains the folder, without
// files: the caller writes them. It has the objects of the repository, as hard links
// where possible, the branches as those of the remote origin, and the settings that
// decide how files and commits look. Hooks are not run. A clone is impossible
//
//   - without git, or where git refuses the repository,
//   - in a bare repository, one without a commit, one with submodules, and a sparse
//     checkout,
//   - of a folder that git ignores,
//   - if git cannot make the clone.
//
// [Source.Copy] copies everything: regular files with their modes and times, symbolic
// links as links, wherever they point, and named pipes. Sockets, devices, and a ".git"
// that points out of the folder are skipped and reported: with such a ".git", git would
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
)

// A Source is a folder that can be copied. It is safe for concurrent
// use. Its methods also accept folders that another Source created, so that Remove
// can clean up after a crash.
type Source struct {
	Dir string // the folder

	// Limits of one copy. Files in .git/objects do not count.
	MaxFiles int   // files, links and folders; 0 for 100,000
	MaxBytes int64 // 0 for 4 GiB
}

const (
	maxFiles = 100_000
	maxBytes = 4 << 30
)

// A Folder is a copy.
type Folder struct {
	Dir  string   // the copy of Source.Dir: to or a folder in it
	Left []string // skipped files with the reason, such as "run/x.sock: a socket"
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

// An InsideError reports that a copy of a folder would be in the folder itself.
type InsideError struct{ To, Dir string }

func (e *InsideError) Error() string {
	return fmt.Sprintf("%s is in %s: a folder cannot be copied into itself", e.To, e.Dir)
}

// Empty makes an empty folder at to, as for Copy.
func (s *Source) Empty(ctx context.Context, to string) error {
	_, err := s.make(ctx, to, func(_, to string) (*Folder, error) { return &Folder{Dir: to}, nil })
	return err
}

// Copy copies the folder to to, which must not exist and must be outside of the source.
// Missing parents are created. On an error nothing is left at to.
//
// The caller must store to before the call: [Source.Remove] needs it after a crash.
func (s *Source) Copy(ctx context.Context, to string) (*Folder, error) {
	return s.make(ctx, to, func(from, to string) (*Folder, error) {
		if err := isFolder(from); err != nil {
			return nil, err
		}
		left, err := s.copier(from, to).all(ctx)
		return &Folder{to, left}, err
	})
}

// Continue creates a copy at to of the current state of another copy, which a Source
// created at root. dir is the Dir of that copy. Everything is copied, a clone with its
// commits and its index. On an error nothing is left at to.
func (s *Source) Continue(ctx context.Context, root, dir, to string) (*Folder, error) {
	root, err := resolve(root)
	if err != nil {
		return nil, err
	}
	if dir, err = resolve(dir); err != nil {
		return nil, err
	}
	rel, err := filepath.Rel(root, dir)
	if err != nil || !filepath.IsLocal(rel) {
		return nil, fmt.Errorf("%s cannot continue %s, which is not in %s", to, dir, root)
	}
	if err := isFolder(dir); err != nil {
		return nil, err
	}
	above := &Source{Dir: root, MaxFiles: s.MaxFiles, MaxBytes: s.MaxBytes}
	f, err := above.Copy(ctx, to)
	if err != nil {
		return nil, err
	}
	f.Dir = filepath.Join(f.Dir, rel)
	return f, nil
}

func isFolder(path string) error {
	info, err := os.Stat(path)
	if err == nil && !info.IsDir() {
		err = fmt.Errorf("%s is not a folder", path)
	}
	return err
}

// make creates the folder at to and fills it. On an error nothing is left at to.
func (s *Source) make(ctx context.Context, to string, fill func(from, to string) (*Folder, error)) (*Folder, error) {
	from, to, err := s.resolve(to)
	if err != nil {
		return nil, err
	}
	if inside(to, from) {
		return nil, &InsideError{to, s.Dir}
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		return nil, err
	}
	// Mkdir fails if the folder exists, so that only a folder of our own is removed
	// below.
	if err := os.Mkdir(to, 0o700); err != nil {
		return nil, err
	}
	f, err := fill(from, to)
	if err != nil {
		return nil, errors.Join(err, RemoveAll(to))
	}
	return f, nil
}

// Carry copies the paths names of the folder, which have slashes between their names, into
// the folder to. A folder is copied with its content. A path that no longer exists is not
// an error. It returns the skipped files with the reason.
func (s *Source) Carry(ctx context.Context, to string, names []string) (left []string, err error) {
	c := s.copier(s.Dir, to)
	for _, name := range names {
		if err := c.one(ctx, filepath.FromSlash(name)); err != nil {
			return nil, err
		}
	}
	return c.left, nil
}

// Remove removes folders that a Source created or began to create, with their content.
// A missing folder is not an error, and the source need not exist any more. Folders of
// older versions are worktrees, which Remove also takes from the list of the repository.
func (s *Source) Remove(to ...string) error {
	var errs []error
	for _, to := range to {
		from, to, err := s.resolve(to)
		switch {
		case err != nil:
		case inside(from, to):
			err = fmt.Errorf("%s is not removed: it contains %s", to, s.Dir)
		default:
			err = errors.Join(RemoveAll(to), unlist(from, to))
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

// RemoveAll removes a folder, even if it has read-only subfolders, as Go's module
// cache does.
func RemoveAll(dir string) error {
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
