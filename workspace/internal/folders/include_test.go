package folders

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bough-dev/bough/workspace/files"
)

// TestIncluded: the file .worktreeinclude names the files that git says are ignored and match
// its patterns; and which omitted files it names.
func TestIncluded(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	t.Setenv("GIT_CONFIG_GLOBAL", os.DevNull)
	t.Setenv("GIT_CONFIG_NOSYSTEM", "1")
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	git := func(args ...string) []string {
		t.Helper()
		cmd := exec.Command("git", args...)
		cmd.Dir = dir
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("git %q: %v", args, err)
		}
		names := strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
		return slices.DeleteFunc(names, func(name string) bool { return name == "" })
	}
	write := func(name, text string) {
		t.Helper()
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	git("init", "-q")
	for _, name := range []string{
		"a.log", "a.txt", "out/b.log", "out/deep/c.txt", "out/tracked", "sub/.env", "sub/a.log", "sub/out/x", "sub/keep.log",
		"sub/deeper/y.log", "sub/deeper/local.json", "local.json", ".env", "node_modules/m/index.js", "sub/node_modules/n",
	} {
		write(name, name)
	}
	write(".gitignore", "*.log\n!keep.log\n/out/\n.env\nnode_modules/\n")
	write("sub/.gitignore", "out\nlocal.json\n")
	git("add", "-f", "out/tracked", "a.txt")
	for _, patterns := range []string{
		"", "*.log", ".env\nlocal.json\n", "/out/", "out", "out/*\n!out/deep/", "node_modules/", "sub/**\n!*.log", "**/deep*/\n", "*\n!*.js",
		"# none\n\n/sub/deeper/*.json\n",
	} {
		write(includeName, patterns)
		ignored := git("ls-files", "-z", "--others", "--ignored", "--exclude-standard")
		matching := git("ls-files", "-z", "--others", "--ignored", "--exclude-from="+includeName)
		want := slices.DeleteFunc(matching, func(name string) bool { return !slices.Contains(ignored, name) })
		got, err := included(t.Context(), dir, nil)
		slices.Sort(got)
		slices.Sort(want)
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%q: got %q, want %q, %v", patterns, got, want, err)
		}
		// Below the top, the patterns of the top apply.
		sub, err := included(t.Context(), filepath.Join(dir, "sub"), nil)
		slices.Sort(sub)
		var below []string
		for _, name := range want {
			if name, ok := strings.CutPrefix(name, "sub/"); ok {
				below = append(below, name)
			}
		}
		if err != nil || !slices.Equal(sub, below) {
			t.Errorf("%q: below, got %q, want %q, %v", patterns, sub, below, err)
		}
	}
	write(includeName, "local.json\na.txt\n")
	got, err := included(t.Context(), dir, []files.Left{{Path: "local.json", Why: "large"}})
	if want := []string{"local.json", "sub/deeper/local.json"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("got %q, want %q, %v", got, want, err)
	}
}
