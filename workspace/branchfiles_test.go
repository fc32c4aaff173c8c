package workspace_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/fault"
	"github.com/bough-dev/bough/workspace/files"
)

// A filesBench is a workspace with a conversation of two messages, and a folder.
type filesBench struct {
	*testing.T
	*workspace.Workspace
	dir, out string
	last     string // the newest message
}

func newFilesBench(t *testing.T) *filesBench {
	t.Helper()
	parent, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	b := &filesBench{T: t, dir: filepath.Join(parent, "trip"), out: filepath.Join(parent, "out")}
	if b.Workspace, err = workspace.Open(t.Context(), t.TempDir(), nil); err != nil {
		t.Fatal(err)
	}
	if _, err := b.New(t.Context(), "Trip"); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		m, err := b.Append(t.Context(), workspace.Append{Text: "Where to?"})
		if err != nil {
			t.Fatal(err)
		}
		b.last = m.Message
	}
	return b
}

func (b *filesBench) write(name, text string) {
	b.Helper()
	path := filepath.Join(b.dir, filepath.FromSlash(name))
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
		b.Fatal(err)
	}
}

func (b *filesBench) git(dir string, args ...string) string {
	b.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		b.Skip("git is not installed")
	}
	cmd := exec.Command("git", append([]string{"-c", "user.name=a", "-c", "user.email=a@example.com"}, args...)...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1")
	out, err := cmd.Output()
	if err != nil {
		b.Fatalf("git %q: %v", args, err)
	}
	return string(out)
}

func (b *filesBench) branch(ctx context.Context, o workspace.SnapshotOptions) (*workspace.Snapshot, error) {
	o.Files, o.Dir, o.Into = true, b.dir, b.out
	return b.Branch(ctx, "HEAD", o)
}

// left returns the names beside the folder.
func (b *filesBench) left() []string {
	b.Helper()
	entries, err := os.ReadDir(filepath.Dir(b.dir))
	if err != nil {
		b.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return slices.DeleteFunc(names, func(name string) bool { return name == filepath.Base(b.dir) })
}

// TestBranchFilters: a folder of a branch has the bytes of the state, whatever filters and line
// ends the repository has; no filter runs on them.
func TestBranchFilters(t *testing.T) {
	t.Parallel()
	b := newFilesBench(t)
	content := map[string]string{
		".gitattributes": "*.txt text eol=lf\n", "crlf.txt": "a\r\nb\r\n", "lf.txt": "a\nb\n",
		"model.bin": "version https://git-lfs.github.com/spec/v1\n", "sub/$Id$": "$Id$",
	}
	for name, text := range content {
		b.write(name, text)
	}
	b.git(b.dir, "init", "-q")
	b.git(b.dir, "add", ".")
	b.git(b.dir, "commit", "-q", "-m", "one")
	b.write(".git/info/attributes", "*.bin filter=broken\nsub/* ident\n")
	for _, setting := range []string{"filter.broken.smudge", "filter.broken.clean"} {
		b.git(b.dir, "config", setting, "false")
	}
	b.git(b.dir, "config", "filter.broken.required", "true")
	b.git(b.dir, "config", "core.autocrlf", "true")
	s, err := b.branch(t.Context(), workspace.SnapshotOptions{})
	if err != nil || s.Folder.Git == nil || s.Folder.Dir != b.out || s.Files.Files != len(content) {
		t.Fatalf("%+v, %v", s, err)
	}
	for name, text := range content {
		if got, err := os.ReadFile(filepath.Join(b.out, filepath.FromSlash(name))); err != nil || string(got) != text {
			t.Errorf("%s is %q, %v", name, got, err)
		}
	}
	if got := b.git(b.out, "diff-index", "--cached", "HEAD"); got != "" {
		t.Errorf("the index differs: %s", got)
	}
	list, err := b.States(t.Context(), s.ID)
	if err != nil || len(list.States) != 1 || list.States[0].Dir != b.out || string(list.States[0].Message) != b.last {
		t.Errorf("the states of the branch are %+v, %v", list, err)
	}
}

// TestBranchFailed: if there is no branch there is no folder, also in place of an empty one.
func TestBranchFailed(t *testing.T) {
	t.Parallel()
	b := newFilesBench(t)
	b.write("a", "1")
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	sessions, err := b.List(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		ctx  context.Context
		o    workspace.SnapshotOptions
		want error
	}{
		{t.Context(), workspace.SnapshotOptions{ID: sessions.Sessions[0].ID}, fault.Refused},
		{t.Context(), workspace.SnapshotOptions{Name: "a\nb"}, fault.Usage},
		{ended, workspace.SnapshotOptions{}, context.Canceled},
	} {
		if s, err := b.branch(c.ctx, c.o); !errors.Is(err, c.want) {
			t.Errorf("%+v, %v; want %v", s, err, c.want)
		}
		if left := b.left(); len(left) > 0 {
			t.Errorf("left are %v", left)
		}
	}
	if after, err := b.List(t.Context(), ""); err != nil || len(after.Sessions) != 1 {
		t.Errorf("%+v, %v", after, err)
	}
}

// TestCheckout: a folder with a state names the files that it lacks, and whoever embeds the library
// can use it without a branch.
func TestCheckout(t *testing.T) {
	t.Parallel()
	b := newFilesBench(t)
	b.write("a", "1")
	b.write("secret.txt", "swordfish")
	b.write("key.pem", "key")
	b.write("ignored/one/deep", "2")
	b.write("ignored/two", "3")
	b.write("node_modules/x/y", "4")
	b.write(".gitignore", "ignored/\n")
	b.write(".worktreeinclude", "/ignored/*\n!/ignored/two\n/node_modules/\n/later\nlarge\n")
	b.write("large", "")
	if err := os.Truncate(filepath.Join(b.dir, "large"), 16<<20+1); err != nil { // it has no blocks
		t.Fatal(err)
	}
	st, err := b.Folder(b.dir).Snap(t.Context(), "", files.SnapOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.Folder(b.dir).Forget(t.Context(), "secret.txt", files.ForgetOptions{}); err != nil {
		t.Fatal(err)
	}
	b.write("a", "2")
	b.write("later", "1")
	c, err := b.Folder(b.dir).Checkout(t.Context(), st.ID, b.out)
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	err = filepath.WalkDir(b.out, func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() && d.Name() != "large" {
			rel, _ := filepath.Rel(b.out, path)
			data, _ := os.ReadFile(path)
			list = append(list, filepath.ToSlash(rel)+"="+strings.TrimSpace(string(data)))
		}
		return err
	})
	if got := strings.Join(list[2:], " "); err != nil || got != "a=1 ignored/one/deep=2 node_modules/x/y=4" {
		t.Errorf("it has %q, %v", list, err)
	}
	if info, err := os.Stat(filepath.Join(b.out, "large")); err != nil || info.Size() != 16<<20+1 {
		t.Errorf("%v, %v", info, err)
	}
	if !slices.Equal(c.Missing, []string{"secret.txt"}) || len(c.Left) != 1 || c.Left[0].Path != "key.pem" || c.Why != "not in a git repository" || c.Git != nil {
		t.Errorf("%+v", c)
	}
	if _, err := b.Folder(b.dir).Checkout(t.Context(), st.ID, b.out); !errors.Is(err, fault.Refused) {
		t.Error(err)
	}
	if _, err := b.Confined().Folder(b.dir).Checkout(t.Context(), st.ID, b.out+"2"); !errors.Is(err, fault.Refused) {
		t.Error(err)
	}
}
