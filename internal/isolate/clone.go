package isolate

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bough-dev/bough/internal/gitcmd"
)

// An Unsuitable error reports that a folder cannot have a clone.
type Unsuitable struct {
	Why string // for a person, such as "not in a git repository"
}

func (u *Unsuitable) Error() string { return u.Why }

// A Commit says what a clone has checked out. Empty members are those of the repository
// now.
type Commit struct {
	ID     string
	Branch string // the commit is its newest one in the clone; if empty, there is no branch
}

// A Clone is a clone of a repository, whose index has the files of the commit.
type Clone struct {
	Dir    string // the path of Source.Dir in the clone
	Commit string // what is checked out
	Other  string // the ID that was asked for, if the repository no longer has it; else ""

	top     string // of the clone
	tracked []string
}

// Clone makes a clone of the repository that contains the folder at to, which must not
// exist and must be outside of the source. The folder Clone.Dir has no files; those outside
// of it are as in the commit, which is the one of the repository now if at is nil. If there
// can be no clone, the error is an *Unsuitable. On an error nothing is left at to.
//
// The caller must store to before the call: [Source.Remove] needs it after a crash.
func (s *Source) Clone(ctx context.Context, to string, at *Commit) (c *Clone, err error) {
	_, err = s.make(ctx, to, func(from, to string) (*Folder, error) {
		if err := isFolder(from); err != nil {
			return nil, err
		}
		top, err := Repository(ctx, from)
		if err != nil {
			return nil, err
		}
		rel, err := filepath.Rel(top, from)
		if err != nil {
			return nil, err
		}
		c = &Clone{Dir: filepath.Join(to, rel), top: to}
		if err := c.fill(ctx, top, filepath.ToSlash(rel), at); err != nil {
			if _, ok := errors.AsType[*Unsuitable](err); ok || ctx.Err() != nil {
				return nil, err
			}
			return nil, &Unsuitable{fmt.Sprintf("git cannot make a clone: %v", err)}
		}
		return nil, os.MkdirAll(c.Dir, 0o777) // git does not store empty folders
	})
	if err != nil {
		return nil, err
	}
	return c, nil
}

// fill makes the clone of the repository at top.
func (c *Clone) fill(ctx context.Context, top, rel string, at *Commit) error {
	if _, err := gitcmd.Run(ctx, top, nil, "clone", "--quiet", "--local", "--no-checkout", "--origin", "origin", "--", top, c.top); err != nil {
		return err
	}
	if err := c.settings(ctx, top); err != nil {
		return err
	}
	if err := c.checkOut(ctx, at); err != nil {
		return err
	}
	if _, err := gitcmd.Run(ctx, c.top, nil, "read-tree", c.Commit); err != nil {
		return err
	}
	entries, err := gitcmd.Run(ctx, c.top, nil, "ls-files", "--stage", "-z")
	if err != nil {
		return err
	}
	var outside bytes.Buffer
	for entry := range strings.SplitSeq(string(entries), "\x00") {
		info, name, ok := strings.Cut(entry, "\t")
		below, in := strings.CutPrefix(name, rel+"/")
		switch {
		case !ok:
		case strings.HasPrefix(info, "160000 "):
			return &Unsuitable{"the git repository has submodules"}
		case rel == ".":
			c.tracked = append(c.tracked, name)
		case in:
			c.tracked = append(c.tracked, below)
		default:
			outside.WriteString(name + "\x00")
		}
	}
	slices.Sort(c.tracked)
	if outside.Len() == 0 {
		return nil
	}
	_, err = gitcmd.Run(ctx, c.top, &outside, "checkout-index", "--quiet", "--index", "-z", "--stdin")
	return err
}

// checkOut makes a commit the one that is checked out, as far as the clone has it.
func (c *Clone) checkOut(ctx context.Context, at *Commit) error {
	head, err := c.commit(ctx, "HEAD")
	if err != nil {
		return err
	}
	c.Commit = head
	if at == nil || at.ID == "" {
		return nil
	}
	if c.Commit, err = c.commit(ctx, at.ID); err != nil {
		if ctx.Err() != nil {
			return err
		}
		c.Commit, c.Other = head, at.ID
		return nil
	}
	ref := "refs/heads/" + at.Branch
	if at.Branch == "" {
		ref = "HEAD"
	} else if _, err := gitcmd.Run(ctx, c.top, nil, "symbolic-ref", "HEAD", ref); err != nil {
		return err
	}
	_, err = gitcmd.Run(ctx, c.top, nil, "update-ref", "--no-deref", ref, c.Commit)
	return err
}

func (c *Clone) commit(ctx context.Context, name string) (string, error) {
	out, err := gitcmd.Run(ctx, c.top, nil, "rev-parse", "--verify", "--quiet", name+"^{commit}")
	return strings.TrimSpace(string(out)), err
}

// Tracks reports whether git tracks a path below Dir, with slashes between its names.
func (c *Clone) Tracks(name string) bool {
	_, ok := slices.BinarySearch(c.tracked, name)
	return ok
}

// Refresh makes the index of the clone that of the files that are there now, so that git
// does not read unchanged files again.
func (c *Clone) Refresh(ctx context.Context) error {
	// git fails if a file differs from the commit.
	_, err := gitcmd.Run(ctx, c.top, nil, "update-index", "-q", "--refresh")
	if ctx.Err() != nil {
		return err
	}
	return nil
}

// Repository returns the top folder of the repository that contains a folder, without
// symbolic links. If it can have no clone, the error is an *Unsuitable.
func Repository(ctx context.Context, dir string) (top string, err error) {
	if dir, err = resolve(dir); err != nil {
		return "", err
	}
	if _, err := exec.LookPath("git"); err != nil {
		return "", &Unsuitable{"git is not installed"}
	}
	out, err := gitcmd.Run(ctx, dir, nil, "rev-parse", "--is-inside-work-tree")
	switch {
	case ctx.Err() != nil:
		return "", context.Cause(ctx)
	case err != nil && strings.Contains(err.Error(), "not a git repository (or any"):
		return "", &Unsuitable{"not in a git repository"}
	case err != nil:
		return "", &Unsuitable{fmt.Sprintf("git does not work in it: %v", err)}
	case strings.TrimSpace(string(out)) != "true":
		return "", &Unsuitable{"a git repository without a working tree"}
	}
	if _, err := gitcmd.Run(ctx, dir, nil, "rev-parse", "--verify", "--quiet", "HEAD^{commit}"); err != nil {
		return "", cmp.Or(context.Cause(ctx), error(&Unsuitable{"the git repository has no commits yet"}))
	}
	if sparse, _ := gitcmd.Run(ctx, dir, nil, "config", "--bool", "core.sparseCheckout"); strings.TrimSpace(string(sparse)) == "true" {
		return "", &Unsuitable{"the git repository is a sparse checkout"}
	}
	out, err = gitcmd.Run(ctx, dir, nil, "rev-parse", "--show-toplevel")
	if err != nil {
		return "", err
	}
	top, err = resolve(strings.TrimSuffix(string(out), "\n"))
	if err != nil {
		return "", err
	}
	if dir != top {
		if _, err := gitcmd.Run(ctx, dir, nil, "check-ignore", "--quiet", "."); err == nil {
			return "", &Unsuitable{"ignored by git"}
		}
	}
	return top, nil
}
