package isolate_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bough-dev/bough/internal/isolate"
	"github.com/bough-dev/bough/internal/testsize"
)

// write creates files "name=content", links "name>target", and folders "name/".
func write(t *testing.T, dir string, list ...string) {
	t.Helper()
	for _, s := range list {
		var err error
		name, content, file := strings.Cut(s, "=")
		link, target, isLink := strings.Cut(s, ">")
		switch {
		case file:
			path := filepath.Join(dir, name)
			os.MkdirAll(filepath.Dir(path), 0o777)
			err = os.WriteFile(path, []byte(content), 0o666)
		case isLink:
			err = os.Symlink(target, filepath.Join(dir, link))
		default:
			err = os.MkdirAll(filepath.Join(dir, s), 0o777)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// show returns the content of a folder in the format of write, without git's files.
func show(t *testing.T, dir string) string {
	t.Helper()
	var list []string
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(dir, path)
		rel = filepath.ToSlash(rel)
		switch {
		case d.Name() == ".git" && d.IsDir():
			return fs.SkipDir
		case d.Name() == ".git":
		case d.Type()&fs.ModeSymlink != 0:
			to, err := os.Readlink(path)
			list = append(list, rel+">"+to)
			return err
		case d.IsDir():
			if entries, err := os.ReadDir(path); err != nil || len(entries) == 0 && rel != "." {
				list = append(list, rel+"/")
			}
		default:
			b, err := os.ReadFile(path)
			list = append(list, rel+"="+string(b))
			return err
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(list, " ")
}

var isolateGit sync.Once

// needGit skips a test if git is missing, and isolates git from the user's
// configuration.
func needGit(t *testing.T) {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	isolateGit.Do(func() { // for all tests, so that they can run in parallel
		os.Setenv("GIT_CONFIG_GLOBAL", os.DevNull)
		os.Setenv("GIT_CONFIG_NOSYSTEM", "1")
		for _, who := range []string{"AUTHOR", "COMMITTER"} {
			os.Setenv("GIT_"+who+"_NAME", "anna")
			os.Setenv("GIT_"+who+"_EMAIL", "anna@example.com")
		}
		os.Setenv("GIT_CEILING_DIRECTORIES", os.TempDir())
		os.Setenv("GIT_CONFIG_COUNT", "1")
		os.Setenv("GIT_CONFIG_KEY_0", "maintenance.auto")
		os.Setenv("GIT_CONFIG_VALUE_0", "false")
	})
}

func git(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_OPTIONAL_LOCKS=0")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %v: %v: %s", args, err, out)
	}
	return string(out)
}

// repository creates a repository with a commit and all kinds of uncommitted
// changes.
func repository(t *testing.T) string {
	t.Helper()
	needGit(t)
	dir := t.TempDir()
	git(t, dir, "init", "-q")
	write(t, dir, ".gitignore=*.log\nout/\n", "same=1", "edited=1", "staged=1", "both=1", "deleted=1", "unstaged/deleted=1", "uncached=1",
		"file=1", "folder/a=1", "folder/b=1", "link>same", "way/x=1", "sub/deep/kept=1", "größe \t=1")
	git(t, dir, "add", ".")
	git(t, dir, "commit", "-q", "-m", "first")
	write(t, dir, "edited=2", "staged=2", "both=2", "größe \t=2", "added=2", "sub/new=2", "noise.log=2", "out/x=2", "sub/empty/")
	git(t, dir, "update-index", "--add", "staged", "both", "added", "--force-remove", "deleted", "uncached")
	write(t, dir, "both=3")
	for _, name := range []string{"deleted", "unstaged", "file", "folder", "way", "link"} {
		if err := os.RemoveAll(filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	other := t.TempDir()
	write(t, other, "x=not ours")
	// Git would record this in the index if it refreshed it.
	if err := os.Chtimes(filepath.Join(dir, "same"), time.Time{}, time.Unix(1e9, 0)); err != nil {
		t.Fatal(err)
	}
	write(t, dir, "file/now=folder", "folder=now file", "link=now file", "way>"+other)
	return dir
}

// state returns the state of a repository that must not change: the files, and each byte and
// mode in .git.
func state(t *testing.T, dir string) string {
	t.Helper()
	list := []string{show(t, dir)}
	err := filepath.WalkDir(filepath.Join(dir, ".git"), func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		var b []byte
		if info.Mode().IsRegular() {
			b, err = os.ReadFile(path)
		}
		list = append(list, fmt.Sprintf("%s %v %x", path, info.Mode(), sha256.Sum256(b)))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(list, "\n")
}

func makeClone(t *testing.T, s *isolate.Source, to string, at *isolate.Commit) *isolate.Clone {
	t.Helper()
	c, err := s.Clone(t.Context(), to, at)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func makeCopy(t *testing.T, s *isolate.Source, to string) *isolate.Folder {
	t.Helper()
	f, err := s.Copy(t.Context(), to)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// TestClone: a clone has the index of a commit and no files, and the settings that matter; the
// repository does not change by a byte, and no hook runs.
func TestClone(t *testing.T) {
	dir := repository(t)
	first := strings.TrimSpace(git(t, dir, "rev-parse", "HEAD"))
	branch := strings.TrimSpace(git(t, dir, "symbolic-ref", "--short", "HEAD"))
	tracked := git(t, dir, "ls-tree", "-r", "-z", "--name-only", "HEAD")
	settings := map[string]string{"user.name": `a "b" \ c`, "filter.x.y.clean": "cat\tx", "core.autocrlf": "input", "commit.gpgsign": "false"}
	for key, value := range settings {
		git(t, dir, "config", key, value)
	}
	git(t, dir, "config", "remote.upstream.url", "nowhere")
	other := t.TempDir()
	write(t, dir, ".git/info/exclude=*.mine\n", ".git/hooks/post-checkout=#!/bin/sh\ntouch "+filepath.ToSlash(other)+"/hooked\n")
	if err := os.Chmod(filepath.Join(dir, ".git", "hooks", "post-checkout"), 0o777); err != nil {
		t.Fatal(err)
	}
	before := state(t, dir)
	in := t.TempDir()
	t.Setenv("GIT_DIR", filepath.Join(in, "none")) // as in a hook
	s := &isolate.Source{Dir: dir}
	a := makeClone(t, s, filepath.Join(in, "new", "a"), nil)
	sub := makeClone(t, &isolate.Source{Dir: filepath.Join(dir, "sub")}, filepath.Join(in, "b"), nil)
	os.Unsetenv("GIT_DIR")

	if got := show(t, a.Dir); got != "" || a.Commit != first || a.Other != "" {
		t.Errorf("%+v holds %q", a, got)
	}
	if got := git(t, a.Dir, "ls-files", "-z"); got != tracked {
		t.Errorf("the index has %q, want %q", got, tracked)
	}
	if !a.Tracks("folder/b") || a.Tracks("folder") || a.Tracks("added") {
		t.Error("Tracks is wrong")
	}
	if got := git(t, a.Dir, "symbolic-ref", "--short", "HEAD"); strings.TrimSpace(got) != branch {
		t.Errorf("the branch is %s", got)
	}
	for key, want := range settings {
		if got := strings.TrimSuffix(git(t, a.Dir, "config", key), "\n"); got != want {
			t.Errorf("%s is %q, want %q", key, got, want)
		}
	}
	if got := git(t, a.Dir, "remote"); got != "origin\n" {
		t.Errorf("the remotes are %q", got)
	}
	write(t, a.Dir, "x.mine=1", "same=1")
	if err := a.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := git(t, a.Dir, "status", "--porcelain", "--", "same", "x.mine"); got != "" {
		t.Errorf("the status is %q", got)
	}
	if got, want := show(t, filepath.Join(in, "b")), ".gitignore=*.log\nout/\n both=1 deleted=1 edited=1 file=1 folder/a=1 folder/b=1 größe \t=1 link>same same=1 staged=1 sub/ uncached=1 unstaged/deleted=1 way/x=1"; got != want {
		t.Errorf("the clone for a folder in it holds\n%q, want\n%q", got, want)
	}
	if !sub.Tracks("deep/kept") || sub.Tracks("same") || filepath.Base(sub.Dir) != "sub" {
		t.Errorf("the clone for a folder in it is %+v", sub)
	}
	if got := git(t, sub.Dir, "status", "--porcelain"); got != " D sub/deep/kept\n" {
		t.Errorf("its status is %q", got)
	}

	// What happens in a clone stays there.
	git(t, a.Dir, "add", ".")
	git(t, a.Dir, "commit", "-q", "-m", "of a branch")
	git(t, a.Dir, "gc", "-q", "--prune=now")
	shut := filepath.Join(a.Dir, "out")
	write(t, shut, "x=4")
	os.Chmod(shut, 0o500)
	if err := s.Remove(filepath.Join(in, "new", "a"), filepath.Join(in, "b"), filepath.Join(in, "never")); err != nil {
		t.Error(err)
	}
	if after := state(t, dir); after != before {
		t.Errorf("the repository was\n%s\nis\n%s", before, after)
	}
	if got := show(t, in) + show(t, other); got != "new/" {
		t.Errorf("left are %q", got)
	}
}

// TestCommit: a clone has the commit and the branch that were asked for, also one that no
// branch has any more, and else those of the repository.
func TestCommit(t *testing.T) {
	t.Parallel()
	dir := repository(t)
	branch := strings.TrimSpace(git(t, dir, "symbolic-ref", "--short", "HEAD"))
	git(t, dir, "commit", "-q", "-m", "lost")
	lost := strings.TrimSpace(git(t, dir, "rev-parse", "HEAD"))
	git(t, dir, "reset", "-q", "--soft", "HEAD~")
	first := strings.TrimSpace(git(t, dir, "rev-parse", "HEAD"))
	git(t, dir, "worktree", "add", "-q", "-b", "linked", filepath.Join(dir, "out", "linked"))
	none := strings.Repeat("1", 40)
	for i, c := range []struct {
		dir                   string
		at                    isolate.Commit
		commit, branch, other string
	}{
		{".", isolate.Commit{}, first, branch, ""},
		{".", isolate.Commit{ID: lost, Branch: branch}, lost, branch, ""},
		{".", isolate.Commit{ID: lost, Branch: "feature/new"}, lost, "feature/new", ""},
		{".", isolate.Commit{ID: lost}, lost, "HEAD", ""},
		{".", isolate.Commit{ID: none, Branch: branch}, first, branch, none},
		{"out/linked", isolate.Commit{ID: first, Branch: "linked"}, first, "linked", ""},
	} {
		got := makeClone(t, &isolate.Source{Dir: filepath.Join(dir, c.dir)}, filepath.Join(t.TempDir(), "a"), &c.at)
		if got.Commit != c.commit || got.Other != c.other {
			t.Errorf("%d: got %+v", i, got)
		}
		if head := git(t, got.Dir, "rev-parse", "HEAD", "--abbrev-ref", "HEAD"); head != c.commit+"\n"+c.branch+"\n" {
			t.Errorf("%d: HEAD is %q", i, head)
		}
		if status := git(t, got.Dir, "status", "--porcelain", "--untracked-files=no"); strings.Contains(status, "A") || strings.Contains(status, "M") {
			t.Errorf("%d: the status is %q", i, status)
		}
	}
}

// TestOlderWorktrees: Remove takes the worktrees of older versions from the list of the
// repository, and no other ones.
func TestOlderWorktrees(t *testing.T) {
	t.Parallel()
	dir := repository(t)
	in, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	users := filepath.Join(in, "users")
	git(t, dir, "worktree", "add", "-q", "--detach", users)
	if err := os.RemoveAll(users); err != nil { // its disk is not available
		t.Fatal(err)
	}
	before := state(t, dir)
	a, b, c := filepath.Join(in, "a"), filepath.Join(in, "b"), filepath.Join(in, "c")
	torn := filepath.Join(in, "torn")
	for _, to := range []string{a, b, torn} {
		git(t, dir, "worktree", "add", "-q", "--detach", to)
	}
	// The state after git was killed: locked, and without the file that points
	// back.
	if err := os.Remove(filepath.Join(a, ".git")); err != nil {
		t.Fatal(err)
	}
	write(t, dir, ".git/worktrees/a/locked=initializing", ".git/worktrees/torn/commondir=")
	if err := os.RemoveAll(b); err != nil {
		t.Fatal(err)
	}
	write(t, c, "half=a copy")
	elsewhere := t.TempDir()
	write(t, elsewhere, "kept=1")
	write(t, in, "d>"+elsewhere)
	s := &isolate.Source{Dir: filepath.Join(dir, "sub", "gone", "too")}
	if err := s.Remove(a, b, c, filepath.Join(in, "d"), torn); err != nil {
		t.Error(err)
	}
	if after := state(t, dir); after != before || !strings.Contains(after, "/worktrees/users") {
		t.Errorf("the repository was\n%q, is\n%q", before, after)
	}
	if show(t, in) != "" || show(t, elsewhere) != "kept=1" {
		t.Errorf("left are %q and %q", show(t, in), show(t, elsewhere))
	}
	only := filepath.Join(in, "only")
	git(t, dir, "worktree", "remove", "--force", users)
	git(t, dir, "worktree", "add", "-q", "--detach", only)
	if err := s.Remove(only); err != nil {
		t.Error(err)
	}
	if _, err := os.Lstat(filepath.Join(dir, ".git", "worktrees")); err == nil {
		t.Error("the empty list is left")
	}
}

// TestMany: concurrent clones; some are removed while others are created.
func TestMany(t *testing.T) {
	t.Parallel()
	dir := repository(t)
	before := state(t, dir)
	in := t.TempDir()
	s := &isolate.Source{Dir: dir}
	var all sync.WaitGroup
	for i := range testsize.Of(2, 4, 12) {
		all.Go(func() {
			to := filepath.Join(in, fmt.Sprint(i))
			for range 2 {
				if c, err := s.Clone(context.Background(), to, nil); err != nil || !c.Tracks("sub/deep/kept") {
					t.Errorf("%d: %+v, %v", i, c, err)
				}
				if err := s.Remove(to); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	if after := state(t, dir); after != before {
		t.Errorf("the repository was\n%q, is\n%q", before, after)
	}
}

// TestUnsuitable: if a clone is impossible there is a reason, and git in a copy does not work
// in the user's repository.
func TestUnsuitable(t *testing.T) {
	for _, c := range []struct {
		why  string
		make func(t *testing.T, dir string) (in string)
		left []string
	}{
		{why: "not in a git repository", make: func(t *testing.T, dir string) string { write(t, dir, "a=1"); return dir }},
		{why: "the git repository has no commits yet", make: func(t *testing.T, dir string) string {
			git(t, dir, "init", "-q")
			write(t, dir, "a=1", ".git/index.lock=")
			return dir
		}},
		{why: "a git repository without a working tree", make: func(t *testing.T, dir string) string {
			git(t, dir, "init", "-q", "--bare")
			return dir
		}},
		{why: "ignored by git", make: func(t *testing.T, dir string) string {
			git(t, dir, "init", "-q")
			write(t, dir, ".gitignore=out\n", "out/a=1")
			git(t, dir, "add", ".")
			git(t, dir, "commit", "-q", "-m", "first")
			return filepath.Join(dir, "out")
		}},
		{why: "the git repository has submodules", left: []string{".git: it leads to a repository elsewhere"}, make: func(t *testing.T, dir string) string {
			git(t, dir, "init", "-q", "sub")
			git(t, dir+"/sub", "commit", "-q", "--allow-empty", "-m", "first")
			git(t, dir, "init", "-q", "top")
			git(t, dir+"/top", "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", dir+"/sub", "sub")
			git(t, dir+"/top", "commit", "-q", "-m", "first")
			git(t, dir+"/top", "worktree", "add", "-q", "--detach", dir+"/linked")
			return dir + "/linked"
		}},
		{why: "the git repository is a sparse checkout", make: func(t *testing.T, dir string) string {
			git(t, dir, "init", "-q")
			write(t, dir, "a=1")
			git(t, dir, "add", ".")
			git(t, dir, "commit", "-q", "-m", "first")
			git(t, dir, "config", "core.sparseCheckout", "true")
			return dir
		}},
		{why: "git cannot make a clone: ", make: func(t *testing.T, dir string) string {
			git(t, dir, "init", "-q")
			write(t, dir, ".gitattributes=a filter=broken\n", "a=1", "sub/b=1")
			git(t, dir, "add", ".")
			git(t, dir, "commit", "-q", "-m", "first")
			git(t, dir, "config", "filter.broken.smudge", "false")
			git(t, dir, "config", "filter.broken.required", "true")
			return filepath.Join(dir, "sub")
		}},
		{why: "git does not work in it: ", make: func(t *testing.T, dir string) string {
			write(t, dir, "a=1", ".git=gitdir: nowhere\n")
			return dir
		}},
	} {
		t.Run(c.why, func(t *testing.T) {
			needGit(t)
			dir := c.make(t, t.TempDir())
			before := show(t, dir)
			s := &isolate.Source{Dir: dir}
			to := filepath.Join(t.TempDir(), "a")
			_, err := s.Clone(t.Context(), to, nil)
			if no, ok := errors.AsType[*isolate.Unsuitable](err); !ok || !strings.HasPrefix(no.Why, c.why) {
				t.Errorf("%v", err)
			}
			if _, err := os.Lstat(to); err == nil {
				t.Fatal("a clone is left")
			}
			f := makeCopy(t, s, to)
			if got := show(t, f.Dir); got != before || !slices.Equal(f.Left, c.left) {
				t.Errorf("the copy holds %q, want %q: %+v", got, before, f)
			}
			if _, err := os.Lstat(filepath.Join(f.Dir, ".git", "index.lock")); err == nil {
				t.Error("the lock is copied")
			}
			if err := s.Remove(to); err != nil {
				t.Error(err)
			}
			if got := show(t, filepath.Dir(to)); got != "" {
				t.Errorf("left are %q", got)
			}
		})
	}
	t.Run("git is not installed", func(t *testing.T) {
		t.Setenv("PATH", t.TempDir())
		_, err := (&isolate.Source{Dir: t.TempDir()}).Clone(t.Context(), filepath.Join(t.TempDir(), "a"), nil)
		if no, ok := errors.AsType[*isolate.Unsuitable](err); !ok || no.Why != "git is not installed" {
			t.Errorf("%v", err)
		}
	})
}

// TestLocked: another program that works in the repository does not matter.
func TestLocked(t *testing.T) {
	t.Parallel()
	dir := repository(t)
	write(t, dir, ".git/index.lock=", ".git/HEAD.lock=")
	makeClone(t, &isolate.Source{Dir: dir}, filepath.Join(t.TempDir(), "a"), nil)
}

// TestContinue: a copy that continues a clone has its commits, index, deletions and ignored
// files, and shares no file with it that git or a program changes.
func TestContinue(t *testing.T) {
	t.Parallel()
	t.Run("clone", func(t *testing.T) {
		dir := repository(t)
		before := state(t, dir)
		s := &isolate.Source{Dir: filepath.Join(dir, "sub"), MaxFiles: 80} // without the objects
		root, to := filepath.Join(t.TempDir(), "first"), filepath.Join(t.TempDir(), "second")
		f := makeClone(t, s, root, nil)
		write(t, root, "done=1", "noise.log=mine", "out/x=mine", "sub/later=1", "staged=3")
		git(t, root, "add", "done")
		git(t, root, "commit", "-q", "-m", "second")
		git(t, root, "add", "staged")
		if err := os.Remove(filepath.Join(root, "same")); err != nil {
			t.Fatal(err)
		}
		left := state(t, root) + git(t, root, "status", "--porcelain")
		g, err := s.Continue(t.Context(), root, f.Dir, to)
		if err != nil {
			t.Fatal(err)
		}
		if g.Dir != filepath.Join(to, "sub") {
			t.Errorf("got %+v", g)
		}
		if got := state(t, to) + git(t, to, "status", "--porcelain"); strings.ReplaceAll(got, to, root) != left {
			t.Errorf("it has %q, want %q", got, left)
		}
		if a, b := git(t, root, "rev-parse", "HEAD"), git(t, to, "rev-parse", "HEAD"); a != b {
			t.Errorf("it is at %s, want %s", b, a)
		}
		write(t, to, "done=2")
		git(t, to, "commit", "-q", "-a", "-m", "third")
		git(t, to, "gc", "-q", "--prune=now")
		if got := state(t, root) + git(t, root, "status", "--porcelain"); got != left {
			t.Errorf("the folder before it has %q, want %q", got, left)
		}
		if err := s.Remove(to, root); err != nil {
			t.Fatal(err)
		}
		if after := state(t, dir); after != before {
			t.Errorf("the repository is %s\nbefore %s", after, before)
		}
	})
	t.Run("refused", func(t *testing.T) {
		s := &isolate.Source{Dir: t.TempDir()}
		root := filepath.Join(t.TempDir(), "first")
		write(t, root, "a=1")
		for _, c := range []struct{ dir, to string }{
			{filepath.Join(root, "gone"), filepath.Join(t.TempDir(), "to")},
			{filepath.Dir(root), filepath.Join(t.TempDir(), "to")},
			{root, filepath.Join(root, "to")},
			{filepath.Join(root, "a"), filepath.Join(t.TempDir(), "to")},
		} {
			if f, err := s.Continue(t.Context(), root, c.dir, c.to); err == nil {
				t.Errorf("from %s to %s is %+v", c.dir, c.to, f)
			}
			if _, err := os.Lstat(c.to); err == nil {
				t.Errorf("%s is left", c.to)
			}
		}
	})
}

// TestCarry: paths are copied into a folder, and none through a link that leads out of it.
func TestCarry(t *testing.T) {
	t.Parallel()
	dir, to, other := t.TempDir(), t.TempDir(), t.TempDir()
	write(t, dir, "a/b=1", "c/d=2", "c/e/f=3", "g>c")
	write(t, to, "a>"+other, "kept=1")
	s := &isolate.Source{Dir: dir}
	if _, err := s.Carry(t.Context(), to, []string{"a/b"}); err == nil {
		t.Error("a link was followed")
	}
	left, err := s.Carry(t.Context(), to, []string{"c", "g", "gone"})
	if got := show(t, to); err != nil || left != nil || got != "a>"+other+" c/d=2 c/e/f=3 g>c kept=1" || show(t, other) != "" {
		t.Errorf("%q, %v, %v", got, left, err)
	}
}

func TestCopy(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "a=1", "deep/er/b=2", "deep/link>../a", "dangling>none", "empty/", "tool=#!", "shut/c=3")
	old := time.Date(2001, 2, 3, 4, 5, 6, 0, time.UTC)
	modes := map[string]fs.FileMode{"a": 0o640, "tool": 0o755, "shut/c": 0o444, "shut": 0o555 | fs.ModeDir}
	if runtime.GOOS == "windows" {
		modes = map[string]fs.FileMode{"shut/c": 0o444}
	}
	for name, mode := range modes {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.Chmod(path, mode.Perm()), os.Chtimes(path, old, old)); err != nil {
			t.Fatal(err)
		}
	}
	want := show(t, dir)
	var left []string
	if l, err := net.Listen("unix", filepath.Join(dir, "s")); err == nil && runtime.GOOS != "windows" {
		defer l.Close()
		left = []string{"s: a socket"}
	}
	t.Setenv("PATH", "")
	s := &isolate.Source{Dir: dir}
	to := filepath.Join(t.TempDir(), "a")
	f := makeCopy(t, s, to)
	if got := show(t, f.Dir); got != want || !slices.Equal(f.Left, left) {
		t.Errorf("%+v holds %q, want %q", f, got, want)
	}
	for _, name := range slices.Sorted(maps.Keys(modes)) {
		info, err := os.Stat(filepath.Join(f.Dir, name))
		if err != nil || info.Mode() != modes[name] || !info.ModTime().Equal(old) {
			t.Errorf("%s is %v of %v: %v", name, info.Mode(), info.ModTime(), err)
		}
	}
	if err := s.Remove(to); err != nil {
		t.Error(err)
	}
	os.Chmod(filepath.Join(dir, "shut"), 0o755) // for the end of the test
}

// TestRefused: a failed Copy leaves nothing, and Remove removes only copies.
func TestRefused(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "a=123", "b/c=456")
	in := t.TempDir()
	write(t, in, "taken/x=1")
	ended, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("no longer needed"))
	ok := t.Context()
	for _, c := range []struct {
		ctx  context.Context
		s    *isolate.Source
		to   string
		want string
	}{
		{ok, &isolate.Source{Dir: dir, MaxFiles: 2}, in + "/a", "the limit is 2 files"},
		{ok, &isolate.Source{Dir: dir, MaxBytes: 5}, in + "/a", "the limit is 5 bytes"},
		{ended, &isolate.Source{Dir: dir}, in + "/a", "no longer needed"},
		{ok, &isolate.Source{Dir: dir}, in + "/taken", "exist"},
		{ok, &isolate.Source{Dir: dir}, dir + "/b/d", "cannot be copied into itself"},
		{ok, &isolate.Source{Dir: dir + "/none"}, in + "/a", "none"},
		{ok, &isolate.Source{Dir: dir + "/a"}, in + "/a", "is not a folder"},
	} {
		f, err := c.s.Copy(c.ctx, c.to)
		if f != nil || err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %+v, %v", c.want, f, err)
		}
		if show(t, dir) != "a=123 b/c=456" || show(t, in) != "taken/x=1" {
			t.Errorf("%s: left are %q and %q", c.want, show(t, dir), show(t, in))
		}
	}
	var limit *isolate.LimitError
	if _, err := (&isolate.Source{Dir: dir, MaxFiles: 2}).Copy(ok, in+"/a"); !errors.As(err, &limit) || limit.Files != 2 || limit.Bytes != 0 {
		t.Errorf("the limit is %+v", limit)
	}
	f := makeCopy(t, &isolate.Source{Dir: dir, MaxFiles: 3, MaxBytes: 6}, in+"/a") // at the limits
	s := &isolate.Source{Dir: filepath.Join(f.Dir, "b")}
	for _, to := range []string{f.Dir, s.Dir} {
		if err := s.Remove(to); err == nil || !strings.Contains(err.Error(), "is not removed") {
			t.Errorf("the parent of a source is removed: %v", err)
		}
	}
}
