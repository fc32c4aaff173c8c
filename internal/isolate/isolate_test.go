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

// asSeen is the content of a copy of repository.
const asSeen = ".gitignore=*.log\nout/\n added=2 both=3 edited=2 file/now=folder folder=now file größe \t=2 link=now file same=1 staged=2 sub/deep/kept=1 sub/new=2 uncached=1 way>OTHER"

// state returns the state of a repository that must not change.
func state(t *testing.T, dir string) string {
	t.Helper()
	index, err := os.ReadFile(filepath.Join(dir, ".git", "index"))
	if err != nil {
		t.Fatal(err)
	}
	config, err := os.ReadFile(filepath.Join(dir, ".git", "config"))
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join([]string{show(t, dir), git(t, dir, "status", "--porcelain"), git(t, dir, "worktree", "list", "--porcelain"),
		git(t, dir, "for-each-ref"), string(config), fmt.Sprintf("%x", sha256.Sum256(index))}, "\n")
}

func make1(t *testing.T, s *isolate.Source, to string) *isolate.Folder {
	t.Helper()
	f, err := s.Make(t.Context(), to)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestWorktree(t *testing.T) {
	dir := repository(t)
	other, err := os.Readlink(filepath.Join(dir, "way"))
	if err != nil {
		t.Fatal(err)
	}
	hook := filepath.Join(dir, ".git", "hooks", "post-checkout")
	write(t, dir, ".git/hooks/post-checkout=#!/bin/sh\ntouch "+other+"/hooked\n")
	if err := os.Chmod(hook, 0o777); err != nil {
		t.Fatal(err)
	}
	before := state(t, dir)
	in := t.TempDir()
	t.Setenv("GIT_DIR", filepath.Join(in, "none")) // as in a hook
	s := &isolate.Source{Dir: dir}
	f := make1(t, s, filepath.Join(in, "new", "a"))
	sub := make1(t, &isolate.Source{Dir: filepath.Join(dir, "sub", "empty")}, filepath.Join(in, "b"))
	os.Unsetenv("GIT_DIR")

	if got, want := show(t, f.Dir), strings.ReplaceAll(asSeen, "OTHER", other); got != want || !f.Worktree || f.Why != "" || f.Left != nil {
		t.Errorf("%+v holds\n%q, want\n%q", f, got, want)
	}
	if show(t, other) != "x=not ours" {
		t.Errorf("the target of a link is now %q", show(t, other))
	}
	if got := git(t, f.Dir, "rev-parse", "--abbrev-ref", "HEAD"); got != "HEAD\n" {
		t.Errorf("the worktree is at %q", got)
	}
	if rel, _ := filepath.Rel(in, sub.Dir); !strings.HasSuffix(filepath.ToSlash(sub.Dir), "/b/sub/empty") || !sub.Worktree {
		t.Errorf("the copy of a folder in the repository is %q, %+v", rel, sub)
	}

	// Changes of a branch stay in its folder and are removed with it.
	write(t, f.Dir, "edited=4", "more=4")
	git(t, f.Dir, "add", ".")
	git(t, f.Dir, "commit", "-q", "-m", "of a branch")
	shut := filepath.Join(f.Dir, "out")
	write(t, shut, "x=4")
	os.Chmod(shut, 0o500)
	if err := s.Remove(t.Context(), f.Dir, filepath.Join(in, "b"), filepath.Join(in, "never")); err != nil {
		t.Error(err)
	}
	if after := state(t, dir); after != before {
		t.Errorf("the repository was\n%q, is\n%q", before, after)
	}
	if got := show(t, in); got != "new/" {
		t.Errorf("left are %q", got)
	}
}

// TestCrash: after a kill at any point, Remove cleans up, and removes nothing else.
func TestCrash(t *testing.T) {
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
	made := &isolate.Source{Dir: filepath.Join(dir, "sub")}
	torn := filepath.Join(in, "torn")
	for _, to := range []string{a, b, torn} {
		make1(t, made, to)
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
	if err := s.Remove(t.Context(), a, b, c, filepath.Join(in, "d"), torn); err != nil {
		t.Error(err)
	}
	if after := state(t, dir); after != before || !strings.Contains(after, users) {
		t.Errorf("the repository was\n%q, is\n%q", before, after)
	}
	if show(t, in) != "" || show(t, elsewhere) != "kept=1" {
		t.Errorf("left are %q and %q", show(t, in), show(t, elsewhere))
	}
}

// TestMany: concurrent copies; some are removed while others are
// created.
func TestMany(t *testing.T) {
	t.Parallel()
	dir := repository(t)
	before := state(t, dir)
	in := t.TempDir()
	sources := []*isolate.Source{{Dir: dir}, {Dir: dir}} // as of two programs
	var all sync.WaitGroup
	for i := range testsize.Of(3, 8, 12) {
		all.Go(func() {
			s, to := sources[i%2], filepath.Join(in, fmt.Sprint(i))
			for range 2 {
				f, err := s.Make(context.Background(), to)
				if err != nil || !f.Worktree || !strings.Contains(show(t, f.Dir), " both=3 ") {
					t.Errorf("%d: %+v, %v", i, f, err)
				}
				if err := s.Remove(context.Background(), to); err != nil {
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

// TestNoWorktree: if a worktree is impossible, a copy with a reason is made, and
// git in it does not work in the user's repository.
func TestNoWorktree(t *testing.T) {
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
		{why: "git cannot make a worktree: ", make: func(t *testing.T, dir string) string {
			git(t, dir, "init", "-q")
			write(t, dir, ".gitattributes=a filter=broken\n", "a=1")
			git(t, dir, "add", ".")
			git(t, dir, "commit", "-q", "-m", "first")
			git(t, dir, "config", "filter.broken.smudge", "false")
			git(t, dir, "config", "filter.broken.required", "true")
			return dir
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
			f := make1(t, s, to)
			if f.Worktree || !strings.HasPrefix(f.Why, c.why) || !slices.Equal(f.Left, c.left) {
				t.Errorf("%+v", f)
			}
			t.Log(f.Why)
			if got := show(t, f.Dir); got != before {
				t.Errorf("the copy holds %q, want %q", got, before)
			}
			if _, err := os.Lstat(filepath.Join(f.Dir, ".git", "index.lock")); err == nil {
				t.Error("the lock is copied")
			}
			if err := s.Remove(t.Context(), to); err != nil {
				t.Error(err)
			}
			if got := show(t, filepath.Dir(to)); got != "" {
				t.Errorf("left are %q", got)
			}
		})
	}
	t.Run("git is not installed", func(t *testing.T) {
		t.Setenv("PATH", t.TempDir())
		dir := t.TempDir()
		write(t, dir, "a=1")
		if f := make1(t, &isolate.Source{Dir: dir}, filepath.Join(t.TempDir(), "a")); f.Why != "git is not installed" || show(t, f.Dir) != "a=1" {
			t.Errorf("%+v", f)
		}
	})
}

// TestLocked: another program that works in the repository does not matter.
func TestLocked(t *testing.T) {
	t.Parallel()
	dir := repository(t)
	write(t, dir, ".git/index.lock=", ".git/HEAD.lock=")
	s := &isolate.Source{Dir: dir}
	to := filepath.Join(t.TempDir(), "a")
	if f := make1(t, s, to); !f.Worktree {
		t.Errorf("%+v", f)
	}
	if err := s.Remove(t.Context(), to); err != nil {
		t.Error(err)
	}
}

// TestNested: an untracked nested repository is copied; a worktree of another
// repository is not.
func TestNested(t *testing.T) {
	t.Parallel()
	dir := repository(t)
	write(t, dir, "nested/a=1")
	git(t, dir, "init", "-q", "nested")
	git(t, dir+"/nested", "commit", "-q", "--allow-empty", "-m", "first")
	git(t, dir, "worktree", "add", "-q", "--detach", dir+"/users")
	s := &isolate.Source{Dir: dir}
	to := filepath.Join(t.TempDir(), "a")
	f := make1(t, s, to)
	if got := git(t, f.Dir+"/nested", "log", "--format=%s"); got != "first\n" || !slices.Equal(f.Left, []string{"users/: a worktree of its own"}) {
		t.Errorf("%+v, %q", f, got)
	}
	if err := s.Remove(t.Context(), to); err != nil {
		t.Error(err)
	}
}

// TestContinue: a copy that continues another one has its commits, deletions and
// ignored files; a copy has no repository above it.
func TestContinue(t *testing.T) {
	t.Parallel()
	t.Run("worktree", func(t *testing.T) {
		dir := repository(t)
		before := state(t, dir)
		s := &isolate.Source{Dir: filepath.Join(dir, "sub")}
		root, to := filepath.Join(t.TempDir(), "first"), filepath.Join(t.TempDir(), "second")
		f := make1(t, s, root)
		write(t, root, "done=1", "noise.log=mine", "out/x=mine", "sub/later=1")
		git(t, root, "add", "done")
		git(t, root, "commit", "-q", "-m", "second")
		if err := os.Remove(filepath.Join(root, "same")); err != nil {
			t.Fatal(err)
		}
		left := show(t, root)
		g, err := s.Continue(t.Context(), root, f.Dir, to)
		if err != nil {
			t.Fatal(err)
		}
		if !g.Worktree || g.Dir != filepath.Join(to, "sub") {
			t.Errorf("got %+v", g)
		}
		if got := show(t, to); got != left {
			t.Errorf("it has %q, want %q", got, left)
		}
		if a, b := git(t, root, "rev-parse", "HEAD"), git(t, to, "rev-parse", "HEAD"); a != b {
			t.Errorf("it is at %s, want %s", b, a)
		}
		write(t, to, "done=2")
		if got := show(t, root); got != left {
			t.Errorf("the folder before it has %q, want %q", got, left)
		}
		if err := s.Remove(t.Context(), to, root); err != nil {
			t.Fatal(err)
		}
		if after := state(t, dir); after != before {
			t.Errorf("the repository is %s\nbefore %s", after, before)
		}
	})
	t.Run("copy in a repository", func(t *testing.T) {
		dir := repository(t)
		before := state(t, dir)
		plain, cache := t.TempDir(), filepath.Join(dir, "out")
		write(t, plain, "a=1")
		s := &isolate.Source{Dir: plain}
		root := filepath.Join(cache, "first")
		f := make1(t, s, root)
		write(t, root, "b=2")
		g, err := s.Continue(t.Context(), root, f.Dir, filepath.Join(cache, "second"))
		if err != nil {
			t.Fatal(err)
		}
		if got := show(t, g.Dir); g.Worktree || got != "a=1 b=2" {
			t.Errorf("got %+v with %q", g, got)
		}
		if err := s.Remove(t.Context(), g.Dir, f.Dir); err != nil {
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
	f := make1(t, s, to)
	if got := show(t, f.Dir); got != want || !slices.Equal(f.Left, left) {
		t.Errorf("%+v holds %q, want %q", f, got, want)
	}
	for _, name := range slices.Sorted(maps.Keys(modes)) {
		info, err := os.Stat(filepath.Join(f.Dir, name))
		if err != nil || info.Mode() != modes[name] || !info.ModTime().Equal(old) {
			t.Errorf("%s is %v of %v: %v", name, info.Mode(), info.ModTime(), err)
		}
	}
	if err := s.Remove(t.Context(), to); err != nil {
		t.Error(err)
	}
	os.Chmod(filepath.Join(dir, "shut"), 0o755) // for the end of the test
}

// TestRefused: a failed Make leaves nothing, and Remove removes only copies.
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
		f, err := c.s.Make(c.ctx, c.to)
		if f != nil || err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %+v, %v", c.want, f, err)
		}
		if show(t, dir) != "a=123 b/c=456" || show(t, in) != "taken/x=1" {
			t.Errorf("%s: left are %q and %q", c.want, show(t, dir), show(t, in))
		}
	}
	var limit *isolate.LimitError
	if _, err := (&isolate.Source{Dir: dir, MaxFiles: 2}).Make(ok, in+"/a"); !errors.As(err, &limit) || limit.Files != 2 || limit.Bytes != 0 {
		t.Errorf("the limit is %+v", limit)
	}
	f := make1(t, &isolate.Source{Dir: dir, MaxFiles: 3, MaxBytes: 6}, in+"/a") // at the limits
	s := &isolate.Source{Dir: filepath.Join(f.Dir, "b")}
	for _, to := range []string{f.Dir, s.Dir} {
		if err := s.Remove(ok, to); err == nil || !strings.Contains(err.Error(), "is not removed") {
			t.Errorf("the parent of a source is removed: %v", err)
		}
	}
}

func TestWorktreeLimit(t *testing.T) {
	t.Parallel()
	dir := repository(t)
	before := state(t, dir)
	in := t.TempDir()
	_, err := (&isolate.Source{Dir: dir, MaxFiles: 3}).Make(t.Context(), in+"/a")
	var limit *isolate.LimitError
	if !errors.As(err, &limit) || state(t, dir) != before || show(t, in) != "" {
		t.Errorf("%v, and left are %q", err, show(t, in))
	}
}

// TestConflict: an unfinished merge looks the same as in the user's folder.
func TestConflict(t *testing.T) {
	t.Parallel()
	needGit(t)
	dir := t.TempDir()
	git(t, dir, "init", "-q")
	write(t, dir, "both=1", "theirs=1", "ours=1")
	git(t, dir, "add", ".")
	git(t, dir, "commit", "-q", "-m", "first")
	git(t, dir, "checkout", "-q", "-b", "other")
	write(t, dir, "both=2", "ours=2", "new=2")
	git(t, dir, "rm", "-q", "theirs")
	git(t, dir, "add", ".")
	git(t, dir, "commit", "-q", "-m", "second")
	git(t, dir, "checkout", "-q", "-")
	write(t, dir, "both=3", "theirs=3", "new=3")
	git(t, dir, "rm", "-q", "ours")
	git(t, dir, "add", ".")
	git(t, dir, "commit", "-q", "-m", "third")
	merge := exec.Command("git", "merge", "-q", "other")
	merge.Dir = dir
	if err := merge.Run(); err == nil {
		t.Fatal("no conflict")
	}
	if err := os.Remove(filepath.Join(dir, "new")); err != nil {
		t.Fatal(err)
	}
	before := state(t, dir)
	s := &isolate.Source{Dir: dir}
	f := make1(t, s, filepath.Join(t.TempDir(), "a"))
	if got, want := show(t, f.Dir), show(t, dir); got != want || !f.Worktree || !strings.Contains(want, "<<<<") {
		t.Errorf("%+v holds %q, want %q", f, got, want)
	}
	if err := s.Remove(t.Context(), f.Dir); err != nil {
		t.Error(err)
	}
	if after := state(t, dir); after != before {
		t.Errorf("the repository was\n%q, is\n%q", before, after)
	}
}

func TestEnviron(t *testing.T) {
	env := []string{"GIT_DIR=x", "A=GIT_DIR=", "GIT_INDEX_FILE=y", "GIT_SSH=z"}
	if got := isolate.Environ(env); !slices.Equal(got, []string{"A=GIT_DIR=", "GIT_SSH=z"}) || len(env) != 4 || env[0] != "GIT_DIR=x" {
		t.Errorf("got %v of %v", got, env)
	}
}
