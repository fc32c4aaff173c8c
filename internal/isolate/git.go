package isolate

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// An unsuitable error reports that a folder cannot have a worktree.
type unsuitable struct{ why string }

func (u *unsuitable) Error() string { return u.why }

// worktree creates a worktree of the repository that contains from. The error is an
// *unsuitable if a copy must be made instead, and then to is an empty folder. If
// ignored is set, the worktree also gets the files that git ignores.
func (s *Source) worktree(ctx context.Context, from, to string, ignored bool) (*Folder, error) {
	top, err := look(ctx, from)
	if err != nil {
		return nil, err
	}
	rel, err := filepath.Rel(top, from)
	if err != nil {
		return nil, err
	}
	err = s.add(ctx, top, to)
	if err == nil {
		_, err = git(ctx, to, "reset", "--hard", "--quiet")
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	} else if err != nil {
		if err := s.Remove(ctx, to); err != nil {
			return nil, err
		}
		return nil, errors.Join(&unsuitable{fmt.Sprintf("git cannot make a worktree: %v", err)}, os.Mkdir(to, 0o700))
	}
	c := s.copier(top, to)
	if err := c.carry(ctx, ignored); err != nil {
		return nil, err
	}
	dir := filepath.Join(to, rel)
	if err := os.MkdirAll(dir, 0o777); err != nil { // git does not store empty folders
		return nil, err
	}
	return &Folder{Dir: dir, Worktree: true, Left: c.left}, nil
}

// look returns the top folder of the repository that contains a folder.
func look(ctx context.Context, dir string) (top string, err error) {
	if _, err := exec.LookPath("git"); err != nil {
		return "", &unsuitable{"git is not installed"}
	}
	out, err := git(ctx, dir, "rev-parse", "--is-inside-work-tree")
	switch {
	case ctx.Err() != nil:
		return "", context.Cause(ctx)
	case err != nil && strings.Contains(err.Error(), "not a git repository (or any"):
		return "", &unsuitable{"not in a git repository"}
	case err != nil:
		return "", &unsuitable{fmt.Sprintf("git does not work in it: %v", err)}
	case strings.TrimSpace(string(out)) != "true":
		return "", &unsuitable{"a git repository without a working tree"}
	}
	if _, err := git(ctx, dir, "rev-parse", "--verify", "--quiet", "HEAD^{commit}"); err != nil {
		return "", &unsuitable{"the git repository has no commits yet"}
	}
	out, err = git(ctx, dir, "rev-parse", "--show-toplevel")
	if err != nil {
		return "", err
	}
	top, err = resolve(strings.TrimSuffix(string(out), "\n"))
	if err != nil {
		return "", err
	}
	if dir != top {
		if _, err := git(ctx, dir, "check-ignore", "--quiet", "."); err == nil {
			return "", &unsuitable{"ignored by git"}
		}
	}
	out, err = git(ctx, top, "ls-files", "--stage", "-z")
	if err != nil {
		return "", err
	}
	for entry := range bytes.SplitSeq(out, []byte{0}) {
		if bytes.HasPrefix(entry, []byte("160000 ")) {
			return "", &unsuitable{"the git repository has submodules"}
		}
	}
	return top, nil
}

// add adds a worktree without files to the list of a repository.
func (s *Source) add(ctx context.Context, top, to string) error {
	s.admin.Lock()
	defer s.admin.Unlock()
	return again(ctx, func() error {
		// Force twice, because a former worktree at this path may still be listed,
		// and locked.
		_, err := git(ctx, top, "worktree", "add", "--force", "--force", "--detach", "--no-checkout", "--", to, "HEAD")
		return err
	})
}

// forget removes the deleted worktree at to from git's list. Other missing
// worktrees stay listed, because their disk may be temporarily unavailable: 'git
// worktree prune' would remove them.
func (s *Source) forget(ctx context.Context, from, to string) error {
	for !exists(from) && filepath.Dir(from) != from {
		from = filepath.Dir(from)
	}
	common, err := git(ctx, from, "rev-parse", "--git-common-dir")
	if err != nil {
		return context.Cause(ctx) // not a repository, or git is missing
	}
	s.admin.Lock()
	defer s.admin.Unlock()
	err = again(ctx, func() error {
		// Force twice, because git locks a worktree while it creates it.
		_, err := git(ctx, from, "worktree", "remove", "--force", "--force", "--", to)
		if err != nil && strings.Contains(err.Error(), "is not a working tree") {
			return nil // a copy, or not created yet
		}
		return err
	})
	if err == nil || ctx.Err() != nil {
		return err
	}
	// A killed git may leave a damaged entry, after which git cannot list any
	// worktree.
	return erase(from, strings.TrimSuffix(string(common), "\n"), to)
}

// erase removes the worktree at to from the list in the folder common, as git does.
// common may be relative to from.
func erase(from, common, to string) error {
	if !filepath.IsAbs(common) {
		common = filepath.Join(from, common)
	}
	list := filepath.Join(common, "worktrees")
	entries, err := os.ReadDir(list)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		dir := filepath.Join(list, entry.Name())
		b, _ := os.ReadFile(filepath.Join(dir, "gitdir"))
		back := filepath.FromSlash(strings.TrimSpace(string(b)))
		if !filepath.IsAbs(back) {
			back = filepath.Join(dir, back)
		}
		if back == filepath.Join(to, ".git") {
			if err := os.RemoveAll(dir); err != nil {
				return err
			}
		}
	}
	os.Remove(list) // fails if it is not empty
	return nil
}

// again retries an operation on the list of worktrees a few times. git can fail if
// another program changes the list: when the last worktree is removed, git also
// removes the folder to which the next one is about to be written.
func again(ctx context.Context, f func() error) (err error) {
	for pause := 10 * time.Millisecond; ; pause *= 2 {
		if err = f(); err == nil || ctx.Err() != nil || pause > 80*time.Millisecond {
			break
		}
		time.Sleep(pause)
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return !errors.Is(err, fs.ErrNotExist)
}

// carry copies uncommitted changes to a worktree, and if ignored is set, ignored
// files.
func (c *copier) carry(ctx context.Context, ignored bool) error {
	// Not git diff, which refreshes the user's index.
	args := []string{"status", "--porcelain", "-z", "--no-renames", "--untracked-files=all", "--ignore-submodules=all"}
	if ignored {
		args = append(args, "--ignored=matching")
	}
	status, err := git(ctx, c.from, args...)
	if err != nil {
		return err
	}
	gone, there := parse(status)
	root, err := os.OpenRoot(c.to)
	if err != nil {
		return err
	}
	defer root.Close()
	// Deletions first: a folder may have replaced a file.
	for _, name := range gone {
		if err := root.RemoveAll(name); err != nil {
			return err
		}
		// Also remove folders that become empty. Remove fails for others.
		for dir := filepath.Dir(filepath.FromSlash(name)); dir != "." && !exists(filepath.Join(c.from, dir)); dir = filepath.Dir(dir) {
			if root.Remove(dir) != nil {
				break
			}
		}
	}
	for _, name := range there {
		// A folder is a nested repository. It may also be a worktree, such as one
		// that a concurrent Make is creating.
		if info, err := os.Lstat(filepath.Join(c.from, name, ".git")); strings.HasSuffix(name, "/") && err == nil && !info.IsDir() {
			c.left = append(c.left, name+": a worktree of its own")
			continue
		}
		if err := c.one(ctx, filepath.FromSlash(strings.TrimSuffix(name, "/"))); err != nil {
			return err
		}
	}
	return nil
}

// parse parses the output of git status: the committed files that were deleted, and
// the files that were added or changed. A file may be in both lists; then it counts
// as present if it exists. A folder ends in "/".
func parse(status []byte) (gone, there []string) {
	for entry := range strings.SplitSeq(string(status), "\x00") {
		if len(entry) < 4 {
			continue
		}
		staged, now, name := entry[0], entry[1], entry[3:]
		unmerged := staged == 'U' || now == 'U' || staged == now && (now == 'A' || now == 'D')
		deleted := now == 'D' || staged == 'D' && now == ' '
		if deleted || unmerged {
			gone = append(gone, name)
		}
		if !deleted || unmerged {
			there = append(there, name)
		}
	}
	return gone, there
}

// git runs git in a folder and returns its output. The error has the message after
// "fatal: ", or the last line of standard error.
func git(ctx context.Context, dir string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, "git", append([]string{"-c", "core.hooksPath=" + os.DevNull, "-c", "core.fsmonitor=false"}, args...)...)
	cmd.Dir, cmd.WaitDelay = dir, 10*time.Second // a filter that it started may still be running
	// git status must not refresh the user's index, and messages must not be
	// translated.
	cmd.Env = append(Environ(os.Environ()), "GIT_OPTIONAL_LOCKS=0", "GIT_TERMINAL_PROMPT=0", "LC_ALL=C")
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.Output()
	if text := strings.TrimSpace(said.String()); err != nil && text != "" {
		lines := strings.Split(text, "\n")
		for _, line := range lines {
			if why, ok := strings.CutPrefix(line, "fatal: "); ok {
				return nil, errors.New(why)
			}
		}
		return nil, errors.New(lines[len(lines)-1])
	}
	return out, err
}

// Environ returns env without the variables that bind git to a repository, such as
// GIT_DIR. git sets them for hooks and aliases. With them a program in an isolated
// folder would work in the user's repository.
func Environ(env []string) []string {
	return slices.DeleteFunc(slices.Clone(env), func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		return slices.Contains(local, name)
	})
}

// local is the output of 'git rev-parse --local-env-vars' without the configuration
// variables.
var local = []string{
	"GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_COMMON_DIR", "GIT_DIR", "GIT_GRAFT_FILE",
	"GIT_IMPLICIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_INTERNAL_SUPER_PREFIX",
	"GIT_NO_REPLACE_OBJECTS", "GIT_OBJECT_DIRECTORY", "GIT_PREFIX", "GIT_REPLACE_REF_BASE",
	"GIT_SHALLOW_FILE", "GIT_WORK_TREE",
}
