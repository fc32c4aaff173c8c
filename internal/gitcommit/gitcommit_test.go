package gitcommit_test

import (
	"errors"
	"io/fs"
	"iter"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/bough-dev/bough/internal/gitcommit"
)

// isolated isolates git from the settings of the user.
func isolated(t *testing.T, settings string) {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	config := filepath.Join(t.TempDir(), "config")
	if err := os.WriteFile(config, []byte(settings), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("GIT_CONFIG_GLOBAL", config)
	t.Setenv("GIT_CONFIG_NOSYSTEM", "1")
	t.Setenv("GIT_CEILING_DIRECTORIES", os.TempDir())
	for _, name := range []string{"GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "EMAIL"} {
		t.Setenv(name, "")
		os.Unsetenv(name)
	}
}

func git(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("git %q: %v", args, err)
	}
	return string(out)
}

var commit = gitcommit.Commit{Message: "Files of \"Trip\"\n\nBough-State: 1\n", Time: time.Unix(1e9, 0)}

func list(files []gitcommit.File, err error) iter.Seq2[gitcommit.File, error] {
	return func(yield func(gitcommit.File, error) bool) {
		for _, f := range files {
			if !yield(f, nil) {
				return
			}
		}
		if err != nil {
			yield(gitcommit.File{}, err)
		}
	}
}

// TestCreate: a commit has the names, modes and bytes of its files, whatever filters and
// settings say, and the same files make the same commit.
func TestCreate(t *testing.T) {
	isolated(t, "[core]\n\tautocrlf = true\n[filter \"x\"]\n\tclean = false\n\trequired = true\n[init]\n\tdefaultBranch = trunk\n")
	files := []gitcommit.File{
		{".gitattributes", gitcommit.Regular, []byte("* text=auto\n*.x filter=x\n")},
		{".gitignore", gitcommit.Regular, []byte("*\n")},
		{"a.x", gitcommit.Regular, []byte("version https://git-lfs")},
		{"big", gitcommit.Regular, []byte(strings.Repeat("0123456789", 1<<17))},
		{"crlf", gitcommit.Regular, []byte("a\r\nb\r\n")},
		{"empty", gitcommit.Regular, nil},
		{"link", gitcommit.Link, []byte("../elsewhere")},
		{"sub/a \"quoted\\\" name\nof two lines\t", gitcommit.Regular, []byte("data 5\n")},
		{"sub/run", gitcommit.Executable, []byte("#!/bin/sh")},
		{"sub/\xff", gitcommit.Regular, []byte{0, 1}},
	}
	dir := t.TempDir()
	id, err := gitcommit.Create(t.Context(), dir, commit, list(files, nil))
	if err != nil {
		t.Fatal(err)
	}
	entries := strings.Split(strings.TrimSuffix(git(t, dir, "ls-tree", "-r", "-z", "HEAD"), "\x00"), "\x00")
	if len(entries) != len(files) {
		t.Fatalf("the commit has %q", entries)
	}
	for i, f := range files {
		info, name, _ := strings.Cut(entries[i], "\t")
		if got := git(t, dir, "cat-file", "blob", strings.Fields(info)[2]); name != f.Path || got != string(f.Data) || !strings.HasPrefix(info, f.Mode+" ") {
			t.Errorf("file %d is %q with %q", i, entries[i], got)
		}
	}
	if got := git(t, dir, "log", "--format=%H|%an <%ae>|%cn|%at %ct|%D|%B"); got != id+"|bough <>|bough|1000000000 1000000000|HEAD -> trunk|"+commit.Message+"\n" {
		t.Errorf("the log is %q", got)
	}
	again := t.TempDir()
	if other, err := gitcommit.Create(t.Context(), again, commit, list(files, nil)); err != nil || other != id {
		t.Errorf("again it is %s, %v, not %s", other, err, id)
	}
	for _, f := range files[:1] { // one file is there, the others are not
		if err := os.WriteFile(filepath.Join(dir, f.Path), f.Data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := gitcommit.Refresh(t.Context(), dir); err != nil {
		t.Fatal(err)
	}
	if got := git(t, dir, "diff-files", "--name-status", "--", ".gitattributes", "crlf"); got != "D\tcrlf\n" {
		t.Errorf("git diff-files prints %q", got)
	}
}

// TestAuthor: the author is the user that the settings of git name.
func TestAuthor(t *testing.T) {
	isolated(t, "[user]\n\tname = Anna > Berg\n\temail = anna@example.com\n")
	dir := t.TempDir()
	if _, err := gitcommit.Create(t.Context(), dir, commit, list(nil, nil)); err != nil {
		t.Fatal(err)
	}
	if got := git(t, dir, "log", "--format=%an <%ae>"); got != "Anna  Berg <anna@example.com>\n" {
		t.Errorf("the author is %q", got)
	}
}

// TestFailed: after an error there is no repository.
func TestFailed(t *testing.T) {
	isolated(t, "")
	broken := errors.New("broken")
	big := gitcommit.File{Path: "a", Mode: gitcommit.Regular, Data: make([]byte, 1<<20)}
	for _, c := range []struct {
		files []gitcommit.File
		err   error
	}{
		{[]gitcommit.File{big}, broken},
		{[]gitcommit.File{{Path: ".git/config", Mode: gitcommit.Regular}, big, big}, nil},
	} {
		dir := t.TempDir()
		_, err := gitcommit.Create(t.Context(), dir, commit, list(c.files, c.err))
		if err == nil || c.err != nil && !errors.Is(err, c.err) {
			t.Errorf("the error is %v", err)
		}
		if _, err := os.Lstat(filepath.Join(dir, ".git")); !errors.Is(err, fs.ErrNotExist) {
			t.Error("a repository is left")
		}
	}
}

// TestCheck: a folder in a repository is refused, also where git does not accept that.
func TestCheck(t *testing.T) {
	isolated(t, "")
	in, bare, broken := t.TempDir(), t.TempDir(), t.TempDir()
	git(t, in, "init", "-q")
	git(t, bare, "init", "-q", "--bare")
	if err := os.WriteFile(filepath.Join(broken, ".git"), []byte("gitdir: nowhere\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{in, filepath.Join(in, "new", "er"), filepath.Join(in, ".git"), bare, filepath.Join(broken, "new")} {
		if _, ok := errors.AsType[*gitcommit.InsideError](gitcommit.Check(t.Context(), dir)); !ok {
			t.Errorf("%s is not refused", dir)
		}
	}
	if err := gitcommit.Check(t.Context(), filepath.Join(t.TempDir(), "new")); err != nil {
		t.Error(err)
	}
	t.Setenv("PATH", t.TempDir())
	if err := gitcommit.Check(t.Context(), in); !errors.Is(err, gitcommit.ErrNoGit) {
		t.Error(err)
	}
}
